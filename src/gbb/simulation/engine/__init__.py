"""The engine: compiled loops that play the same policies and the same laws as the reference loop."""

from gbb.simulation.engine.registry import LOOPS, loop_for, run_batch, run_engine

__all__ = ["LOOPS", "loop_for", "run_batch", "run_engine"]
