"""One run of one policy in the engine."""

from __future__ import annotations

from gbb.simulation.engine import Task, run_batch


def run_engine(env, policy, rounds, recorded, seed, **settings):
    """Play one run of a policy that the engine has a loop for."""
    return run_batch(env, policy, Task(rounds, recorded, [seed], **settings))[0]
