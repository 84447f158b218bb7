"""Which compiled loop plays which policy, the fastest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.policies import (
    AnyPolicy,
    ExploreThenCommit,
    FixedAllocation,
    IndexPolicy,
    UniformRandom,
)
from gbb.simulation._trace import Trace
from gbb.simulation.engine import random_play
from gbb.simulation.engine.contexts import plays_contexts, run_contexts
from gbb.simulation.engine.couples import plays_couples, run_couples
from gbb.simulation.engine.index import plays_index, run_index
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import Request


class EngineLoop(NamedTuple):
    """A compiled loop.

    Attributes
    ----------
    name
        How it is called.
    kind
        The class of the policies that it plays.
    run
        Plays a run of one of them.
    fits
        Which of those that may be compiled it plays exactly as the reference loop does.
    """

    name: str
    kind: type[AnyPolicy]
    run: Callable[[Environment, Any, Request], Trace]
    fits: Callable[[Any], bool] = lambda _: True


LOOPS: list[EngineLoop] = [
    EngineLoop("couples", IndexPolicy, run_couples, plays_couples),
    EngineLoop("index", IndexPolicy, run_index, plays_index),
    EngineLoop("contexts", IndexPolicy, run_contexts, plays_contexts),
    EngineLoop("uniform", UniformRandom, random_play.run_uniform),
    EngineLoop("fixed", FixedAllocation, random_play.run_fixed_allocation),
    EngineLoop("explore, then commit", ExploreThenCommit, random_play.run_explore_then_commit),
]
"""All compiled loops; the first that plays a policy is taken."""


def loop_for(policy: AnyPolicy) -> EngineLoop | None:
    """The loop that plays ``policy`` on its problem, if there is one."""
    if not policy.compiled:
        return None
    return next(
        (loop for loop in LOOPS if isinstance(policy, loop.kind) and loop.fits(policy)), None
    )


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
