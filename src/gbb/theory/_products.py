"""Product distributions over a cut (alpha_3): the best one, and an allocation that earns as much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.pairwise.quadratic import MAX_SUPPORTS, climb_shares, find_supports
from gbb.theory._alphas import check_covered

STARTS = 8
"""Points that local ascent starts from if the supports cannot be enumerated."""


class Product(NamedTuple):
    """Independent draws of the agents' arms: from p for those of V1, from q for those of V2.

    Attributes
    ----------
    p, q
        Distributions over the K arms.
    value
        The expected reward ``m12 p'Rq + m21 q'Rp + m1 p'Rp + m2 q'Rq``.
    proven
        Whether no other product distribution over the cut has a larger value.
    """

    p: FloatArray
    q: FloatArray
    value: float
    proven: bool


def best_product(env: Environment, cut: Cut) -> Product:
    """Return the product distribution over a cut with the largest expected reward.

    Couples are one-point distributions, so its value is at least that of the best couple.

    Notes
    -----
    The value is a quadratic form on two simplices. It is strictly concave on the support of a maximiser
    with the fewest arms, which is the only stationary point there: all such supports are enumerated, up
    to 20,000 (about eight to twelve arms). With more, local ascent from the best of them gives a value
    that is attained, a lower bound on the maximum.
    """
    check_covered(env, cut)
    R, K = env.reward_table, env.problem.K
    inside, across = (R + R.T) / 2.0, (cut.m12 * R + cut.m21 * R.T) / 2.0
    A = np.block([[cut.m1 * inside, across], [across.T, cut.m2 * inside]])
    couples = cut.couple_values(R)  # the points of A with one arm in p and one in q
    points, proven = _candidates(A, couples)
    # Solving for a stationary point leaves shares that sum to 1 up to rounding.
    points = [p / np.repeat(p.reshape(2, K).sum(axis=1), K) for p in points]
    values = [float(p @ A @ p) for p in points]
    best = int(np.argmax(values))
    if couples.max() >= values[best]:  # also if only by rounding: the value of a couple is exact
        a, b = divmod(int(np.argmax(couples)), K)
        return Product(np.eye(K)[a], np.eye(K)[b], float(couples[a, b]), proven)
    return Product(points[best][:K], points[best][K:], values[best], proven)


def _candidates(A: FloatArray, couples: FloatArray) -> tuple[list[FloatArray], bool]:
    """Return points (p, q) among which the best is taken, and whether the maximiser is among them."""
    if couples.size <= MAX_SUPPORTS:
        stationary, proven = find_supports(A, 2)
        if proven:
            return [stationary[0][1]], True
        starts = [shares for _, shares in stationary[:STARTS]]
    else:
        K = len(couples)
        best = np.argsort(couples, axis=None)[: -STARTS - 1 : -1]
        starts = [np.concatenate([np.eye(K)[c // K], np.eye(K)[c % K]]) for c in best]
    return [climb_shares(A, start, 2) for start in starts], False


def derandomise(env: Environment, cut: Cut, product: Product) -> IntArray:
    """Return an allocation whose expected reward is at least ``product.value``.

    Agent by agent takes the arm with the largest reward in expectation over the agents to come (the
    method of conditional expectations): the mean over its arms is the expectation before, so that no
    step loses.
    """
    check_covered(env, cut)
    graph, W = cut.graph, env.reward_table + env.reward_table.T
    shares = np.where(cut.sides[:, None] == 0, product.p, product.q)
    arms = np.empty(graph.n, dtype=np.int64)
    for i in range(graph.n):
        arms[i] = np.argmax(W @ shares[graph.neighbours(i)].sum(axis=0))
        # Agents to come still see a distribution, now all on the chosen arm.
        shares[i] = 0.0
        shares[i, arms[i]] = 1.0
    return arms
