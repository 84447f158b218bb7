"""Index policies on the paper's problem with orthogonal arms: the policy's own compiled choice."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from gbb._kernels.rounds.index_pairs import Run, play_index_pairs
from gbb.environment import Environment
from gbb.learning.record import Record
from gbb.policies import AnyPolicy, IndexPolicy
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.engine.noise import Request


def plays_index_pairs(policy: AnyPolicy) -> TypeGuard[IndexPolicy]:
    """Whether this loop plays ``policy``."""
    return policy.compiled and isinstance(policy, IndexPolicy) and policy.pair_rule is not None


def run_index_pairs(
    env: Environment,
    policy: AnyPolicy,
    asked: Request,
) -> Trace:
    """All rounds of an index policy.

    Gaussian noise is drawn once per edge-arm and round, other noise edge by edge: the search over
    allocations costs O(m) a round anyhow.
    """
    assert isinstance(policy, IndexPolicy)
    rounds, recorded, blocks, rng, keep_allocations = asked
    rule = policy.pair_rule
    assert rule is not None
    problem, K, size = env.problem, env.problem.K, len(recorded)
    by_edge = blocks.edge_noise or not blocks.gaussian
    run = Run(
        R=np.array(env.reward_table),
        sigma=problem.sigma,
        N=np.zeros((K, K)),
        Y=np.zeros((K, K)),
        total=np.zeros(1),
        kept=np.zeros(1, dtype=np.int64),
        reward=np.zeros(size),
        cumulative=np.zeros(size),
        tuples=np.zeros(size, dtype=np.int64),
        allocations=np.zeros((size if keep_allocations else 0, problem.n), dtype=np.int64),
    )
    done = 0
    one_each = np.ones(K * K, dtype=np.int64)
    for length in blocks.sizes(rounds, width=max(problem.m, K * K)):
        noise = blocks.report(length) if by_edge else blocks.sums(one_each, length)
        radii = policy.radii(np.arange(done, done + length, dtype=np.float64))
        play_index_pairs(rule, run, done + 1, noise, by_edge, radii, recorded, rng)
        done += length
    return Trace(
        reward=run.reward,
        cumulative=run.cumulative,
        couple=couples_of(run.tuples, K, policy.parts.k),
        allocation=run.allocations if keep_allocations else None,
        record=Record(run.N.astype(np.int64), run.Y),
    )
