"""The engine: compiled loops that play the same policies and the same laws as the reference loop."""

from gbb.simulation.engine.loops import LOOPS, Loop, Task, loop_for, run_batch

__all__ = ["LOOPS", "Loop", "Task", "loop_for", "run_batch"]
