"""Which compiled loop plays which policy, the fastest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._support.arrays import WIDTH
from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.policies import AnyPolicy, ExploreThenCommit, FixedAllocation, UniformRandom
from gbb.policies._compiled import CompiledPolicy, compile_policy
from gbb.simulation._trace import Trace
from gbb.simulation.engine import random_play
from gbb.simulation.engine.abreast import plays_abreast, run_abreast
from gbb.simulation.engine.batch import Batch, one_by_one
from gbb.simulation.engine.couples import plays_couples, run_couples
from gbb.simulation.engine.index import plays_index, run_index


class EngineLoop(NamedTuple):
    """A compiled loop.

    Attributes
    ----------
    name
        How it is called.
    kind
        The class of the policies that it plays, subclasses excepted; CompiledPolicy for index policies.
    run
        Plays a batch of runs of one of them.
    fits
        Which of those that may be compiled it plays exactly as the reference loop does.
    batch
        How many runs it plays at once.
    """

    name: str
    kind: type[Any]
    run: Callable[[Any, Batch], list[Trace]]
    fits: Callable[[Any], bool] = lambda _: True
    batch: int = 1


LOOPS: list[EngineLoop] = [
    EngineLoop("couples abreast", CompiledPolicy, run_abreast, plays_abreast, WIDTH),
    EngineLoop("couples", CompiledPolicy, one_by_one(run_couples), plays_couples),
    EngineLoop("index", CompiledPolicy, one_by_one(run_index), plays_index),
    EngineLoop("uniform", UniformRandom, one_by_one(random_play.run_uniform)),
    EngineLoop("fixed", FixedAllocation, one_by_one(random_play.run_fixed_allocation)),
    EngineLoop(
        "explore, then commit",
        ExploreThenCommit,
        one_by_one(random_play.run_explore_then_commit),
    ),
]
"""All compiled loops; the first that plays a policy is taken."""


def loop_for(policy: AnyPolicy) -> EngineLoop | None:
    """The loop that plays ``policy`` on its problem, if there is one."""
    played = compile_policy(policy) or policy
    return next((each for each in LOOPS if type(played) is each.kind and each.fits(played)), None)


def run_engine(
    env: Environment,
    policy: AnyPolicy,
    rounds: int,
    recorded: IntArray,
    seed: np.random.SeedSequence,
    **settings: Any,
) -> Trace:
    """One run of one policy that :func:`loop_for` has a loop for, as :func:`run_batch` plays it."""
    return run_batch(env, policy, rounds, recorded, [seed], **settings)[0]


def run_batch(
    env: Environment,
    policy: AnyPolicy,
    rounds: int,
    recorded: IntArray,
    seeds: Sequence[np.random.SeedSequence],
    **settings: Any,
) -> list[Trace]:
    """A run of one policy that :func:`loop_for` has a loop for with each seed, in one thread.

    Parameters
    ----------
    env, policy, rounds, recorded
        As in :func:`gbb.simulation.reference.run_reference`.
    seeds
        At most as many as the loop's ``batch``.
    settings
        Further ones of :class:`gbb.simulation.engine.batch.Batch`. With ``edge_noise`` every number's
        noise is drawn in the reference's own order: the same choices as the reference for the same seed.
    """
    loop = loop_for(policy)
    if loop is None:
        raise AssertionError(f"no compiled loop for {type(policy).__name__}")
    return loop.run(
        compile_policy(policy) or policy, Batch(env, rounds, recorded, seeds, **settings)
    )
