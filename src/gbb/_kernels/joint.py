"""One choice of an allocation policy: estimate, best tuples of arms over the parts, local search.

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
from gbb._kernels.choose import pick
from gbb._kernels.factor import factor
from gbb._kernels.joint_orthogonal import ascend_orthogonal, tuple_values_orthogonal
from gbb._kernels.search import ascend_optimistic
from gbb._kernels.tuples import digits, next_start, tuple_values, tuple_vector


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
    shrinking
        Whether the adaptive radius's offset shrinks with the smallest eigenvalue of A_sym, by
        ``sqrt(lam / smallest)``.
    v
        The estimate is drawn from N(theta_hat, v^2 A^-1) when v > 0.
    explore
        The probability of a round in which every agent draws its arm uniformly.
    starts
        From how many tuples, the best with different sets of arms, to search; 0 for no search.
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
    shrinking: bool
    v: float
    explore: float
    starts: int


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
        return choose_orthogonal(rule, weight, total, given, rng, arms)
    return choose_general(rule, weight, total, given, rng, arms)


@compiled()
def choose_general(
    rule: Rule,
    weight: FloatArray,
    total: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Best tuple and searches for any arms."""
    R, centre, _, white = factor(rule.features, weight, total, rule.lam)
    logdet = 0.0
    for j in range(R.shape[1]):
        logdet += np.log(R[j, j] * R[j, j] / rule.lam)
    smallest = rule.lam
    if rule.shrinking:
        smallest = max(rule.lam, np.linalg.svd(R)[1][-1] ** 2)
    radius = radius_of(rule, logdet, smallest, given)
    if rule.v > 0.0:
        for i in range(centre.size):
            centre[i] += rule.v * rng.standard_normal()
    table = by_arm(white, rule.pair)
    values = tuple_values(table, centre, radius, rule.counts)
    start = best = pick(values, rng)
    value = values[best]
    allocate(rule, start, arms)
    trial = np.empty_like(arms)
    for _ in range(rule.starts):
        allocate(rule, start, trial)
        g = tuple_vector(table, rule.counts, start)
        found = ascend_optimistic(rule.indptr, rule.indices, table, centre, radius, g, trial)
        if found > value:
            best, value = -1, found
            arms[:] = trial
        start = next_start(values, start, table.shape[0], rule.counts.shape[0])
        if start < 0:
            break
    return best, value


@compiled()
def choose_orthogonal(
    rule: Rule,
    weight: FloatArray,
    total: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """The same for orthogonal pairs, whose ``mu`` and ``var`` stand for themselves."""
    K = rule.pair.shape[0]
    mu, var = np.empty((K, K)), np.empty((K, K))
    logdet, smallest = 0.0, np.inf
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
            if rule.norm2[s] > 0.0:
                smallest = min(smallest, precision)
    radius = radius_of(rule, logdet, smallest, given)
    values = tuple_values_orthogonal(mu, var, radius, rule.counts)
    start = best = pick(values, rng)
    value = values[best]
    allocate(rule, start, arms)
    trial = np.empty_like(arms)
    for _ in range(rule.starts):
        allocate(rule, start, trial)
        found = ascend_orthogonal(rule.indptr, rule.indices, mu, var, radius, trial)
        if found > value:
            best, value = -1, found
            arms[:] = trial
        start = next_start(values, start, K, rule.counts.shape[0])
        if start < 0:
            break
    return best, value


@compiled(inline="always")
def radius_of(rule: Rule, logdet: float, smallest: float, given: float) -> float:
    """The confidence radius of this round."""
    if not rule.adaptive:
        return given
    share = np.sqrt(rule.lam / smallest) if rule.shrinking else 1.0
    return float(rule.sigma * np.sqrt(logdet + rule.spread) + share * rule.offset)


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
def allocate(rule: Rule, code: int, arms: IntArray) -> None:
    """Every agent plays its part's arm of tuple number ``code``."""
    chosen = digits(code, rule.pair.shape[0], rule.counts.shape[0])
    for i in range(arms.size):
        arms[i] = chosen[rule.parts[i]]
