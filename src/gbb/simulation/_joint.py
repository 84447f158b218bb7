"""Allocation policies in the engine: the policy's own compiled choice, round after round."""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.joint_rounds import Run, play_joint
from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.learning.estimator import Record
from gbb.policies import AllocationPolicy
from gbb.simulation._noise import Blocks
from gbb.simulation._trace import Trace


def run_joint(
    env: Environment,
    policy: AllocationPolicy,
    rounds: int,
    *,
    recorded: IntArray,
    blocks: Blocks,
    rng: np.random.Generator,
    keep_allocations: bool = False,
) -> Trace:
    """All rounds of an allocation policy.

    Gaussian noise is drawn once per edge-arm and round, other noise edge by edge: the search over
    allocations costs O(m) a round anyhow.
    """
    problem, K, size = env.problem, env.problem.K, len(recorded)
    by_edge = blocks.edge_noise or env.noise not in ("gaussian", "none")
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
        noise = blocks.edges(length) if by_edge else blocks.sums(one_each, length)
        radii = policy.radii(np.arange(done, done + length, dtype=np.float64))
        play_joint(policy.rule, run, done + 1, noise, by_edge, radii, recorded, rng)
        done += length
    couple = np.full((size, 2), -1, dtype=np.int64)
    if policy.parts.k == 2:
        kept = run.tuples >= 0
        couple[kept] = np.stack(np.divmod(run.tuples[kept], K), axis=1)
    return Trace(
        reward=run.reward,
        cumulative=run.cumulative,
        couple=couple,
        allocation=run.allocations if keep_allocations else None,
        record=Record(run.N.astype(np.int64), run.Y),
    )
