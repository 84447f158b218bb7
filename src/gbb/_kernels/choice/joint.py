"""One choice of an allocation policy: estimate, best tuples of arms over the parts, local search.

The pair (a, b) stands for the mean edge-arm ``q_s = (z_ab + z_ba) / 2``. The estimate is held whitened:
``f_s`` with ``q_s'A^-1 q_t = <f_s, f_t>`` and ``centre`` with ``q_s'theta = <f_s, centre>``, so that an
allocation whose edges play pair s ``c_s`` times, ``g = sum c_s f_s``, is worth
``<g, centre> + radius ||g||``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import pick
from gbb._kernels.choice.climb import climb
from gbb._kernels.choice.search import ascend_optimistic
from gbb._kernels.choice.tuples import digits, next_start, tuple_values, tuple_vector
from gbb._kernels.choice.work import (
    DEVIATION,
    MEAN,
    MU,
    Work,
    log_det,
    make_work,
    refresh_pair,
    smallest_share,
)
from gbb._kernels.learning.factor import factor
from gbb._support.checks import FloatArray, IntArray


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
    if wander(rule.explore, N.shape[0], rng, arms):
        return -1, np.nan
    work = room(rule, N, Y)
    if not rule.orthogonal:
        return choose_general(rule, work, N, Y, given, rng, arms)
    return choose_orthogonal(
        index_of(rule),
        rule.indptr,
        rule.indices,
        rule.parts,
        rule.counts,
        work.pairs,
        work.values,
        work.degrees,
        work.around,
        work.spare,
        work.chosen,
        work.ends,
        given,
        rng,
        arms,
    )


@compiled()
def wander(explore: float, K: int, rng: np.random.Generator, arms: IntArray) -> bool:
    """Draw every agent's arm uniformly, with probability ``explore``; says whether it did."""
    if explore <= 0.0 or rng.random() >= explore:
        return False
    for i in range(arms.size):
        arms[i] = int(rng.random() * K)
    return True


@compiled()
def room(rule: Rule, N: FloatArray, Y: FloatArray) -> Work:
    """Room for choices, with the estimates of orthogonal pairs."""
    K = N.shape[0]
    work = make_work(rule.indptr, rule.indices, rule.parts, rule.counts.shape[0], K, rule.starts)
    if rule.orthogonal:
        for a in range(K):
            for b in range(a, K):
                refresh_pair(work.pairs, N, Y, a, b, rule.norm2[rule.pair[a, b]], rule.lam)
    return work


@compiled()
def choose_general(
    rule: Rule,
    work: Work,
    N: FloatArray,
    Y: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Best tuple and searches for any arms."""
    weight, total = np.zeros(rule.norm2.size), np.zeros(rule.norm2.size)
    for a in range(N.shape[0]):
        for b in range(N.shape[0]):
            weight[rule.pair[a, b]] += N[a, b]
            total[rule.pair[a, b]] += Y[a, b]
    R, centre, _, white = factor(rule.features, weight, total, rule.lam)
    logdet = 0.0
    for j in range(R.shape[1]):
        logdet += np.log(R[j, j] * R[j, j] / rule.lam)
    smallest = rule.lam
    if rule.shrinking:
        smallest = max(rule.lam, np.linalg.svd(R)[1][-1] ** 2)
    radius = radius_of(index_of(rule), logdet, smallest / rule.lam, given)
    if rule.v > 0.0:
        for i in range(centre.size):
            centre[i] += rule.v * rng.standard_normal()
    if radius == 0.0:  # what a pair pays is all that matters
        for a in range(N.shape[0]):
            for b in range(a + 1):
                paid = np.dot(white[rule.pair[a, b]], centre)
                work.pairs[MU, a, b] = work.pairs[MU, b, a] = paid
        return climb(
            rule.indptr,
            rule.indices,
            rule.parts,
            rule.counts,
            work.pairs,
            MU,
            0.0,
            work.values,
            work.degrees,
            work.around,
            work.spare,
            work.chosen,
            work.ends,
            rng,
            arms,
        )
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


class Index(NamedTuple):
    """The numbers among a rule's constants that make an index of an estimate."""

    lam: float
    adaptive: bool
    sigma: float
    spread: float
    offset: float
    shrinking: bool
    v: float


@compiled(inline="always")
def index_of(rule: Rule) -> Index:
    """The rule's index."""
    return Index(
        rule.lam,
        rule.adaptive,
        rule.sigma,
        rule.spread,
        rule.offset,
        rule.shrinking,
        rule.v,
    )


@compiled()
def choose_orthogonal(
    index: Index,
    indptr: IntArray,
    indices: IntArray,
    parts: IntArray,
    counts: IntArray,
    pairs: FloatArray,
    values: FloatArray,
    degrees: FloatArray,
    around: FloatArray,
    spare: IntArray,
    chosen: IntArray,
    ends: IntArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """The same for orthogonal pairs, whose mean and variance stand for themselves.

    The arguments are those of the rule and of its room, one by one (see
    :class:`gbb._kernels.choice.work.Work`).
    """
    layer = MEAN
    if index.v > 0.0:
        layer = MU
        for a in range(pairs.shape[1]):
            for b in range(a, pairs.shape[1]):
                draw = index.v * pairs[DEVIATION, a, b] * rng.standard_normal()
                pairs[MU, a, b] = pairs[MU, b, a] = pairs[MEAN, a, b] + draw
    radius = given
    if index.adaptive:
        smallest = smallest_share(pairs) if index.shrinking else 1.0
        radius = radius_of(index, log_det(pairs), smallest, given)
    return climb(
        indptr,
        indices,
        parts,
        counts,
        pairs,
        layer,
        radius,
        values,
        degrees,
        around,
        spare,
        chosen,
        ends,
        rng,
        arms,
    )


@compiled(inline="always")
def radius_of(index: Index, logdet: float, smallest: float, given: float) -> float:
    """The confidence radius; ``smallest`` is the smallest eigenvalue of ``A_sym / lam``."""
    if not index.adaptive:
        return given
    share = 1.0 / np.sqrt(smallest) if index.shrinking else 1.0
    return float(index.sigma * np.sqrt(logdet + index.spread) + share * index.offset)


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
