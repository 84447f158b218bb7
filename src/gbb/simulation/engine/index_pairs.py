"""Index policies on the paper's problem with orthogonal arms: the policy's own compiled choice."""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.index_pairs import Run, play_index_pairs
from gbb.environment import Environment
from gbb.learning.record import Record
from gbb.policies import IndexPolicy
from gbb.simulation._trace import Trace
from gbb.simulation.engine.request import Request


def run_index_pairs(env: Environment, policy: IndexPolicy, asked: Request) -> Trace:
    """All rounds of an index policy.

    Gaussian noise is drawn once per edge-arm and round, other noise edge by edge: the search over
    allocations costs O(m) a round anyhow.
    """
    rule, blocks = policy.pair_rule, asked.blocks
    assert rule is not None
    problem, K = env.problem, env.problem.K
    by_edge = blocks.edge_noise or not blocks.gaussian
    run = Run(
        R=np.array(env.reward_table),
        sigma=problem.sigma,
        N=np.zeros((K, K)),
        Y=np.zeros((K, K)),
        **asked.book(problem.n),
    )
    one_each = np.ones(K * K, dtype=np.int64)
    asked.play(
        policy,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        lambda first, noise, *rest: play_index_pairs(rule, run, first, noise, by_edge, *rest),
        width=max(problem.m, K * K),
    )
    return asked.trace(policy, run, Record(run.N.astype(np.int64), run.Y))
