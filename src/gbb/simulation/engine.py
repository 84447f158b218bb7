"""The compiled loop: the same policies and the same laws, with no edge touched that need not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict, Unpack

import numpy as np

from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.policies import (
    AllocationPolicy,
    AnyPolicy,
    CouplePolicy,
    ExploreThenCommit,
    FixedAllocation,
    Learned,
    UniformRandom,
)
from gbb.policies.explore_then_commit import Committed
from gbb.simulation._couples import run_couples
from gbb.simulation._joint import run_joint
from gbb.simulation._noise import Blocks
from gbb.simulation._random_play import run_constant, run_random
from gbb.simulation._trace import Trace

PROTOCOL = ("init", "select", "update")


def supports(policy: AnyPolicy) -> bool:
    """Whether the engine has a compiled loop for this policy on its problem."""
    if not policy.problem.is_paper_problem or getattr(policy, "radius", None) == "complete":
        return False
    if isinstance(policy, CouplePolicy):
        w12, w21, _, _ = policy.weights
        # Unequal weights make decisions depend on more than the symmetric block.
        return _plain(policy, CouplePolicy) and w12 == w21
    if isinstance(policy, AllocationPolicy):
        return _plain(policy, AllocationPolicy)
    return type(policy) in (ExploreThenCommit, FixedAllocation, UniformRandom)


def _plain(policy: AnyPolicy, family: type) -> bool:
    """Whether ``policy`` chooses and learns as its family does: it overrides none of the protocol."""
    kind = type(policy)
    return all(getattr(kind, name) is getattr(family, name) for name in PROTOCOL)


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
    """One run of one policy that :func:`supports` accepts.

    Parameters
    ----------
    env, policy, rounds, recorded, seed, keep_allocations, on_rounds
        As in :func:`gbb.simulation.reference.run_reference`.
    edge_noise
        Draw the noise of every edge, in the reference's own order, instead of its sums: the same
        choices as the reference for the same seed, at a cost of O(m) a round.
    """
    noise_rng, rng = map(np.random.default_rng, seed.spawn(2))
    blocks = Blocks(env, noise_rng, edge_noise=edge_noise, on_rounds=on_rounds)
    rest: _Rest = {
        "recorded": recorded,
        "blocks": blocks,
        "rng": rng,
        "keep_allocations": keep_allocations,
    }
    match policy:
        case CouplePolicy():
            return run_couples(env, policy, rounds, **rest)
        case AllocationPolicy():
            return run_joint(env, policy, rounds, **rest)
        case ExploreThenCommit():
            return _explore_then_commit(env, policy, rounds, **rest)
        case UniformRandom():
            return run_random(env, np.ones(env.problem.K), rounds, learn=False, **rest)
        case FixedAllocation():
            blocks.skip(rounds)
            return run_constant(env, policy.allocation, recorded, keep_allocations=keep_allocations)
        case _:
            raise AssertionError(f"no compiled loop for {type(policy).__name__}")


class _Rest(TypedDict):
    """What every loop of the engine is handed beside the environment, the policy and the rounds."""

    recorded: IntArray
    blocks: Blocks
    rng: np.random.Generator
    keep_allocations: bool


def _explore_then_commit(
    env: Environment, policy: ExploreThenCommit, rounds: int, **rest: Unpack[_Rest]
) -> Trace:
    """Random play, then the policy's own commit step, then the same couple for ever."""
    recorded, keep_allocations = rest["recorded"], rest["keep_allocations"]
    explored = min(policy.exploration, rounds)
    early = np.append(recorded[recorded < explored], explored)
    rest["recorded"] = early
    trace = run_random(env, policy.design.weights, explored, **rest)
    so_far = float(trace.cumulative[-1])
    if explored not in recorded:
        trace = trace.shorten(len(early) - 1)
    if explored == rounds:
        return trace
    assert trace.record is not None
    choice = policy.select(Committed(Learned(explored, trace.record), None), rest["rng"])
    late = recorded[recorded > explored] - explored
    after = run_constant(
        env, choice.allocation, late, couple=choice.couple, keep_allocations=keep_allocations
    )
    rest["blocks"].skip(rounds - explored)
    return trace.followed_by(after, so_far)
