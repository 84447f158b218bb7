"""Random and constant play in the engine."""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray, IntArray
from gbb._kernels.random_play import play_random
from gbb.environment import Environment
from gbb.estimator import Record
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
) -> Trace:
    """Rounds in which every agent draws its arm from ``weights``, in O(n + m) each.

    What the record needs of the noise is its sum over the edges played with each edge-arm, whose law
    depends on their number alone; it is drawn once, after the last round.
    """
    problem = env.problem
    graph, K, R = problem.graph, problem.K, env.reward_table
    N = np.zeros((K, K), dtype=np.int64)
    noise_sums = np.zeros((K, K))
    steps = np.cumsum(weights)
    rewards = np.empty(rounds)
    allocations = np.empty((len(recorded), problem.n), dtype=np.int64)
    done = 0
    for size in blocks.sizes(rounds, width=problem.n):
        noise = blocks.edges(size) if blocks.edge_noise else np.empty((0, 0))
        arms = np.empty((size, problem.n), dtype=np.int64)
        out = rewards[done : done + size]
        play_random(graph.indptr, graph.indices, R, steps, noise, N, noise_sums, out, arms, rng)
        first, last = np.searchsorted(recorded, [done + 1, done + size + 1])
        allocations[first:last] = arms[recorded[first:last] - done - 1]
        done += size
    if not blocks.edge_noise:
        noise_sums = blocks.sums(N.ravel(), 1).reshape(K, K)
    cumulative = np.cumsum(rewards)
    return Trace(
        reward=rewards[recorded - 1],
        cumulative=cumulative[recorded - 1],
        couple=np.full((len(recorded), 2), -1, dtype=np.int64),
        allocation=allocations,
        record=Record(N, N * R + problem.sigma * noise_sums),
    )


def run_constant(
    env: Environment,
    allocation: IntArray,
    recorded: IntArray,
    *,
    couple: tuple[int, int] | None = None,
) -> Trace:
    """The same allocation in every round; nothing is learnt, so no noise is needed."""
    size = len(recorded)
    reward = env.expected_reward(allocation)
    return Trace(
        reward=np.full(size, reward),
        cumulative=reward * recorded.astype(np.float64),
        couple=np.tile(np.array(couple or (-1, -1), dtype=np.int64), (size, 1)),
        allocation=np.tile(allocation, (size, 1)),
        record=None,
    )
