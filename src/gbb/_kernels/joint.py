"""One choice of an allocation policy: estimate, best tuple of arms over the parts, local search.

The pair (a, b) stands for the mean edge-arm ``q_s = (z_ab + z_ba) / 2``. The estimate is held whitened:
``f_s`` with ``q_s'A^-1 q_t = <f_s, f_t>`` and ``centre`` with ``q_s'theta = <f_s, centre>``, so that an
allocation whose edges play pair s ``c_s`` times, ``g = sum c_s f_s``, is worth
``<g, centre> + radius ||g||``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled
from gbb._kernels.factor import factor
from gbb._kernels.joint_orthogonal import ascend_orthogonal, best_tuple_orthogonal
from gbb._kernels.search import ascend_optimistic
from gbb._kernels.tuples import best_tuple


class Rule(NamedTuple):
    """Constants of an allocation policy.

    Attributes
    ----------
    indptr, indices
        The neighbours of every agent.
    parts, counts
        The part of every agent, and the directed edges from part to part (k x k).
    features, norm2, orthogonal
        The pairs q_s in orthonormal coordinates (rows), their squared norms, and whether different
        pairs are orthogonal.
    pair
        Number of each unordered pair of arms (K x K).
    lam
        The ridge regulariser.
    adaptive, sigma, spread, offset
        Whether the radius is ``sigma sqrt(log det(A_sym / lam) + spread) + offset``; otherwise it is
        given round by round.
    v
        The estimate is drawn from N(theta_hat, v^2 A^-1) when v > 0.
    explore
        The probability of a round in which every agent draws its arm uniformly.
    search
        Whether to improve the tuple's allocation by local search.
    """

    indptr: IntArray
    indices: IntArray
    parts: IntArray
    counts: IntArray
    features: FloatArray
    norm2: FloatArray
    orthogonal: bool
    pair: IntArray
    lam: float
    adaptive: bool
    sigma: float
    spread: float
    offset: float
    v: float
    explore: float
    search: bool


@compiled()
def choose(
    rule: Rule,
    N: FloatArray,
    Y: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the next allocation; ``given`` is the radius unless it is adaptive.

    Returns the number of the tuple of arms over the parts that it plays, -1 if it plays another
    allocation, and its optimistic value (NaN in an exploring round).
    """
    K = N.shape[0]
    if rule.explore > 0.0 and rng.random() < rule.explore:
        for i in range(arms.size):
            arms[i] = int(rng.random() * K)
        return -1, np.nan
    weight, total = np.zeros(rule.norm2.size), np.zeros(rule.norm2.size)
    for a in range(K):
        for b in range(K):
            weight[rule.pair[a, b]] += N[a, b]
            total[rule.pair[a, b]] += Y[a, b]
    if rule.orthogonal:
        p, value, found = choose_orthogonal(rule, weight, total, given, rng, arms)
    else:
        p, value, found = choose_general(rule, weight, total, given, rng, arms)
    if rule.search:
        if found > value:
            return -1, found
        allocate(rule.parts, rule.counts.shape[0], K, p, arms)
    return p, value


@compiled()
def choose_general(
    rule: Rule,
    weight: FloatArray,
    total: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float, float]:
    """Number and value of the best tuple and, if it is improved, the value reached."""
    R, centre, _, white = factor(rule.features, weight, total, rule.lam)
    logdet = 0.0
    for j in range(R.shape[1]):
        logdet += np.log(R[j, j] * R[j, j] / rule.lam)
    radius = radius_of(rule, logdet, given)
    if rule.v > 0.0:
        for i in range(centre.size):
            centre[i] += rule.v * rng.standard_normal()
    table = by_arm(white, rule.pair)
    p, value, g = best_tuple(table, centre, radius, rule.counts, rng)
    allocate(rule.parts, rule.counts.shape[0], table.shape[0], p, arms)
    found = value
    if rule.search:
        found = ascend_optimistic(rule.indptr, rule.indices, table, centre, radius, g, arms)
    return p, value, found


@compiled()
def choose_orthogonal(
    rule: Rule,
    weight: FloatArray,
    total: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float, float]:
    """The same for orthogonal pairs, whose ``mu`` and ``var`` stand for themselves."""
    K = rule.pair.shape[0]
    mu, var = np.empty((K, K)), np.empty((K, K))
    logdet = 0.0
    for a in range(K):
        for b in range(a, K):
            s = rule.pair[a, b]
            precision = rule.lam + rule.norm2[s] * weight[s]
            var[a, b] = var[b, a] = rule.norm2[s] / precision
            mean = var[a, b] * total[s]
            if rule.v > 0.0:
                mean += rule.v * np.sqrt(var[a, b]) * rng.standard_normal()
            mu[a, b] = mu[b, a] = mean
            logdet += np.log(precision / rule.lam)
    radius = radius_of(rule, logdet, given)
    p, value = best_tuple_orthogonal(mu, var, radius, rule.counts, rng)
    allocate(rule.parts, rule.counts.shape[0], K, p, arms)
    found = value
    if rule.search:
        found = ascend_orthogonal(rule.indptr, rule.indices, mu, var, radius, arms)
    return p, value, found


@compiled(inline="always")
def radius_of(rule: Rule, logdet: float, given: float) -> float:
    """The confidence radius of this round."""
    if rule.adaptive:
        return float(rule.sigma * np.sqrt(logdet + rule.spread) + rule.offset)
    return given


@compiled()
def by_arm(white: FloatArray, pair: IntArray) -> FloatArray:
    """``table[b, i, a]``: coordinate i of the pair (a, b)."""
    K, size = pair.shape[0], white.shape[1]
    table = np.empty((K, size, K))
    for b in range(K):
        for a in range(K):
            for i in range(size):
                table[b, i, a] = white[pair[a, b], i]
    return table


@compiled()
def allocate(parts: IntArray, k: int, K: int, code: int, arms: IntArray) -> None:
    """Every agent plays its part's arm of tuple number ``code``."""
    chosen = np.empty(k, dtype=np.int64)
    for part in range(k - 1, -1, -1):
        chosen[part] = code % K
        code //= K
    for i in range(arms.size):
        arms[i] = chosen[parts[i]]
