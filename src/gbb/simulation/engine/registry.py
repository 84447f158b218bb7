"""Which compiled loop plays which policy, the fastest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.policies import AnyPolicy, ExploreThenCommit, FixedAllocation, UniformRandom
from gbb.simulation._trace import Trace
from gbb.simulation.engine.couples import plays_couples, run_couples
from gbb.simulation.engine.index import plays_index, run_index
from gbb.simulation.engine.index_pairs import plays_index_pairs, run_index_pairs
from gbb.simulation.engine.noise import Blocks, Request
from gbb.simulation.engine.random_play import (
    run_explore_then_commit,
    run_fixed_allocation,
    run_uniform,
)

Run = Callable[[Environment, AnyPolicy, Request], Trace]
"""One run of a policy that a compiled loop plays."""


class EngineLoop(NamedTuple):
    """A compiled loop.

    Attributes
    ----------
    name
        How it is called.
    plays
        Whether it plays a policy exactly as the reference loop does.
    run
        Plays a run of it.
    """

    name: str
    plays: Callable[[AnyPolicy], bool]
    run: Run


LOOPS: list[EngineLoop] = [
    EngineLoop("couples", plays_couples, run_couples),
    EngineLoop("index by pairs", plays_index_pairs, run_index_pairs),
    EngineLoop("index", plays_index, run_index),
    EngineLoop("uniform", lambda p: p.compiled and isinstance(p, UniformRandom), run_uniform),
    EngineLoop(
        "fixed", lambda p: p.compiled and isinstance(p, FixedAllocation), run_fixed_allocation
    ),
    EngineLoop(
        "explore, then commit",
        lambda p: p.compiled and isinstance(p, ExploreThenCommit),
        run_explore_then_commit,
    ),
]
"""All compiled loops; the first that plays a policy is taken."""


def loop_for(policy: AnyPolicy) -> EngineLoop | None:
    """The loop that plays ``policy`` on its problem, if there is one."""
    return next((loop for loop in LOOPS if loop.plays(policy)), None)


def run_engine(
    env: Environment,
    policy: AnyPolicy,
    rounds: int,
    recorded: IntArray,
    seed: np.random.SeedSequence,
    *,
    keep_allocations: bool = False,
    edge_noise: bool = False,
    on_rounds: Callable[[int], None] | None = None,
) -> Trace:
    """One run of one policy that :func:`loop_for` has a loop for.

    Parameters
    ----------
    env, policy, rounds, recorded, seed, keep_allocations, on_rounds
        As in :func:`gbb.simulation.reference.run_reference`.
    edge_noise
        Draw every number's noise, in the reference's own order, instead of sums over edges: the same
        choices as the reference for the same seed, at a cost of O(m) a round.
    """
    loop = loop_for(policy)
    if loop is None:
        raise AssertionError(f"no compiled loop for {type(policy).__name__}")
    noise_rng, rng = map(np.random.default_rng, seed.spawn(2))
    blocks = Blocks(env, noise_rng, edge_noise=edge_noise, on_rounds=on_rounds)
    return loop.run(env, policy, Request(rounds, recorded, blocks, rng, keep_allocations))
