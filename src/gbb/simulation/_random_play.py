"""Random and constant play in the engine."""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.random_play import play_random
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.learning.estimator import Record
from gbb.simulation._noise import Blocks
from gbb.simulation._trace import Trace


def run_random(
    env: Environment,
    weights: FloatArray,
    rounds: int,
    *,
    recorded: IntArray,
    blocks: Blocks,
    rng: np.random.Generator,
    keep_allocations: bool = False,
    learn: bool = True,
) -> Trace:
    """Rounds in which every agent draws its arm from ``weights``, in O(n + m) each.

    What the record needs of the noise is its sum over the edges played with each edge-arm, whose law
    depends on their number alone; it is drawn once, after the last round, if ``learn``.
    """
    problem = env.problem
    graph, K, R = problem.graph, problem.K, env.reward_table
    N = np.zeros((K, K), dtype=np.int64)
    noise_sums = np.zeros((K, K))
    steps = np.cumsum(weights)
    size = len(recorded)
    reward, cumulative = np.empty(size), np.empty(size)
    allocation = np.empty((size, problem.n), dtype=np.int64) if keep_allocations else None
    done, total = 0, 0.0
    for length in blocks.sizes(rounds, width=problem.n if keep_allocations else 1):
        noise = blocks.edges(length) if blocks.edge_noise else np.empty((0, 0))
        arms = np.empty((length if keep_allocations else 0, problem.n), dtype=np.int64)
        earned = np.empty(length)
        play_random(graph.indptr, graph.indices, R, steps, noise, N, noise_sums, earned, arms, rng)
        first, last = np.searchsorted(recorded, [done + 1, done + length + 1])
        here = recorded[first:last] - done - 1
        reward[first:last] = earned[here]
        cumulative[first:last] = (total + np.cumsum(earned))[here]
        if allocation is not None:
            allocation[first:last] = arms[here]
        total += float(earned.sum())
        done += length
    if learn and not blocks.edge_noise:
        noise_sums = blocks.sums(N.ravel(), 1).reshape(K, K)
    return Trace(
        reward=reward,
        cumulative=cumulative,
        couple=np.full((size, 2), -1, dtype=np.int64),
        allocation=allocation,
        record=Record(N, N * R + problem.sigma * noise_sums) if learn else None,
    )


def run_constant(
    env: Environment,
    allocation: IntArray,
    recorded: IntArray,
    *,
    couple: tuple[int, int] | None = None,
    keep_allocations: bool = False,
) -> Trace:
    """The same allocation in every round; nothing is learnt, so no noise is needed."""
    size = len(recorded)
    reward = env.expected_reward(allocation)
    return Trace(
        reward=np.full(size, reward),
        cumulative=reward * recorded.astype(np.float64),
        couple=np.tile(np.array(couple or (-1, -1), dtype=np.int64), (size, 1)),
        allocation=np.tile(allocation, (size, 1)) if keep_allocations else None,
        record=None,
    )
