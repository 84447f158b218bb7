"""Which compiled loop plays which policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._kernels.lanes import WIDTH
from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore
from gbb.environment import Environment
from gbb.policies import AnyPolicy, ExploreThenCommit, FixedAllocation, UniformRandom
from gbb.simulation._lowering import LoweredPolicy, lower
from gbb.simulation.engine import random_play
from gbb.simulation.engine.abreast import plays_abreast, run_abreast
from gbb.simulation.engine.abreast_numbers import plays_numbers_abreast, run_numbers_abreast
from gbb.simulation.engine.batch import in_batches, run_by_run
from gbb.simulation.engine.contexts import plays_contexts, run_contexts
from gbb.simulation.engine.couples import plays_couples, run_couples
from gbb.simulation.engine.index import plays_index, run_index
from gbb.simulation.engine.vector_couples import plays_vector_couples, run_vector_couples
from gbb.simulation.trace import Trace


class Task(NamedTuple):
    """Runs of one policy that are played in one thread.

    Attributes
    ----------
    rounds
        How many to play.
    recorded
        Which of them to keep, counted from 1.
    seeds
        One of each run: its first child draws the noise, the second the policy's own randomness.
    keep_allocations
        Whether to keep the allocations as well.
    edge_noise
        Whether to draw every number's noise in the reference's own order: the same choices as the
        reference for the same seed.
    on_rounds
        Called with the number of rounds done since the last call; may raise to stop the runs.
    """

    rounds: int
    recorded: IntArray
    seeds: Sequence[np.random.SeedSequence]
    keep_allocations: bool = False
    edge_noise: bool = False
    on_rounds: Advance = ignore


class Loop(NamedTuple):
    """A compiled loop.

    Attributes
    ----------
    kind
        The class of the policies that it plays, subclasses excepted; LoweredPolicy for index policies.
    run
        Plays the runs of a task.
    plays
        Which policies of that class it plays exactly as the reference loop does.
    batch
        How many runs it plays at once.
    """

    kind: type[Any]
    run: Callable[[Environment, Any, Task], list[Trace]]
    plays: Callable[[Any], bool] = lambda _: True
    batch: int = 1


LOOPS = [
    Loop(LoweredPolicy, in_batches(run_abreast), plays_abreast, WIDTH),
    Loop(LoweredPolicy, run_by_run(run_couples), plays_couples),
    Loop(LoweredPolicy, in_batches(run_numbers_abreast), plays_numbers_abreast, WIDTH),
    Loop(LoweredPolicy, run_by_run(run_vector_couples), plays_vector_couples),
    Loop(LoweredPolicy, run_by_run(run_index), plays_index),
    Loop(LoweredPolicy, run_by_run(run_contexts), plays_contexts),
    Loop(UniformRandom, random_play.run_uniform),
    Loop(FixedAllocation, random_play.run_fixed_allocation),
    Loop(ExploreThenCommit, random_play.run_explore_then_commit),
]
"""All compiled loops, the fastest first; the first that plays a policy is taken."""


def loop_for(policy: AnyPolicy) -> Loop | None:
    """Return the loop that plays ``policy`` on its problem, if there is one."""
    played = lower(policy) or policy
    return next((loop for loop in LOOPS if type(played) is loop.kind and loop.plays(played)), None)


def run_batch(env: Environment, policy: AnyPolicy, task: Task) -> list[Trace]:
    """Play the runs of a task; ``policy`` is one that :func:`loop_for` has a loop for."""
    loop = loop_for(policy)
    if loop is None:
        raise AssertionError(f"no compiled loop for {type(policy).__name__}")
    return loop.run(env, lower(policy) or policy, task)
