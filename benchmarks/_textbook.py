"""The textbook implementation the engine is measured against: numpy, d^2 dimensions, no tricks."""

from __future__ import annotations

import numpy as np

from gbb.cuts import Cut
from gbb.environment import Environment


def textbook(
    env: Environment,
    cut: Cut,
    weights: tuple[float, float, float, float],
    rounds: int,
    seed: int,
    *,
    lam: float = 1.0,
    delta: float = 1e-3,
) -> np.ndarray:
    """Improved or plain OFUL: full ridge regression, a solve a round, all K^2 widths as a product.

    Vectorised over couples and edges as a careful numpy user would; returns the couples played.
    """
    problem = env.problem
    rng = np.random.default_rng(seed)
    K, d2 = problem.K, problem.d**2
    Z = np.array([np.outer(x, y).ravel(order="F") for x in problem.arms for y in problem.arms])
    table = Z.reshape(K, K, d2)
    own = table[np.arange(K), np.arange(K)]
    w12, w21, w1, w2 = weights
    V = w12 * table + w21 * table.transpose(1, 0, 2) + w1 * own[:, None] + w2 * own[None]
    V = V.reshape(K * K, d2)
    source, target = problem.graph.edges.T
    A, b = lam * np.eye(d2), np.zeros(d2)
    played = np.empty(rounds, dtype=np.int64)
    for t in range(rounds):
        inverse = np.linalg.solve(A, np.eye(d2))
        theta = inverse @ b
        growth = np.log((1 + t * problem.m * problem.L**2 / lam) / delta)
        radius = problem.sigma * np.sqrt(d2 * growth) + np.sqrt(lam) * problem.S
        width = np.sqrt(np.einsum("pi,pi->p", V @ inverse, V))
        values = V @ theta + radius * width
        couple = rng.choice(np.flatnonzero(values == values.max()))
        arms = np.where(cut.sides == 0, couple // K, couple % K)
        codes = arms[source] * K + arms[target]
        z = Z[codes]
        y = env.reward_table.ravel()[codes] + problem.sigma * rng.standard_normal(problem.m)
        A += z.T @ z
        b += z.T @ y
        played[t] = couple
    return played
