"""Which compiled loop plays which policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._support.arrays import WIDTH
from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore
from gbb.environment import Environment
from gbb.policies import AnyPolicy, ExploreThenCommit, FixedAllocation, UniformRandom
from gbb.policies._compiled import CompiledPolicy, compile_policy
from gbb.simulation.engine.couples import plays_couples, run_couples
from gbb.simulation.engine.index import plays_index, run_index
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.random_play import (
    run_explore_then_commit,
    run_fixed_allocation,
    run_uniform,
)
from gbb.simulation.trace import Trace


class Run(NamedTuple):
    """One run of one policy.

    Attributes
    ----------
    rounds
        How many to play.
    recorded
        Which of them to keep, counted from 1.
    blocks
        The rounds in blocks, with their noise.
    rng
        Where the policy's own randomness comes from.
    keep_allocations
        Whether to keep the allocations as well.
    """

    rounds: int
    recorded: IntArray
    blocks: Blocks
    rng: np.random.Generator
    keep_allocations: bool = False


class Task(NamedTuple):
    """Runs of one policy that are played in one thread.

    Attributes
    ----------
    rounds, recorded, keep_allocations
        As of each :class:`Run`.
    seeds
        One of each run: its first child draws the noise, the second the policy's own randomness.
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

    def runs(self, env: Environment) -> Iterator[Run]:
        """Yield the runs, one after the other."""
        for seed in self.seeds:
            noise, own = map(np.random.default_rng, seed.spawn(2))
            blocks = Blocks(env, noise, edge_noise=self.edge_noise, on_rounds=self.on_rounds)
            yield Run(self.rounds, self.recorded, blocks, own, self.keep_allocations)


PlayTask = Callable[[Environment, Any, Task], list[Trace]]


class Loop(NamedTuple):
    """A compiled loop.

    Attributes
    ----------
    kind
        The class of the policies that it plays, subclasses excepted; CompiledPolicy for index policies.
    run
        Plays the runs of a task.
    plays
        Which policies of that class it plays exactly as the reference loop does.
    batch
        How many runs it plays at once.
    """

    kind: type[Any]
    run: PlayTask
    plays: Callable[[Any], bool] = lambda _: True
    batch: int = 1


def run_by_run(play: Callable[[Environment, Any, Run], Trace]) -> PlayTask:
    """Return what plays a task from what plays one run."""
    return lambda env, policy, task: [play(env, policy, run) for run in task.runs(env)]


LOOPS = [
    Loop(CompiledPolicy, run_couples, plays_couples, WIDTH),
    Loop(CompiledPolicy, run_by_run(run_index), plays_index),
    Loop(UniformRandom, run_by_run(run_uniform)),
    Loop(FixedAllocation, run_by_run(run_fixed_allocation)),
    Loop(ExploreThenCommit, run_by_run(run_explore_then_commit)),
]
"""All compiled loops, the fastest first; the first that plays a policy is taken."""


def loop_for(policy: AnyPolicy) -> Loop | None:
    """Return the loop that plays ``policy`` on its problem, if there is one."""
    played = compile_policy(policy) or policy
    return next((loop for loop in LOOPS if type(played) is loop.kind and loop.plays(played)), None)


def run_batch(env: Environment, policy: AnyPolicy, task: Task) -> list[Trace]:
    """Play the runs of a task; ``policy`` is one that :func:`loop_for` has a loop for."""
    loop = loop_for(policy)
    if loop is None:
        raise AssertionError(f"no compiled loop for {type(policy).__name__}")
    return loop.run(env, compile_policy(policy) or policy, task)
