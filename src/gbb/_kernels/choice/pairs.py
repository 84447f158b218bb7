"""The fast case of the paper's problem with orthogonal arms: estimates by unordered pair of arms.

The pair (a, b) stands for the mean edge-arm ``q_s = (z_ab + z_ba) / 2``. Different pairs are orthogonal,
so each has a mean and a variance of its own, whatever other pairs did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.links import maybe_explore
from gbb._kernels.choice.pairs_climb import climb_pairs
from gbb._kernels.choice.pairs_search import DEVIATION, MEAN, SHARE, VAR
from gbb._kernels.lanes import padded
from gbb._support.checks import FloatArray, IntArray

HUGE = 1e100


class PairRule(NamedTuple):
    """Constants of an index policy on the paper's problem with orthogonal arms.

    Attributes
    ----------
    indptr, indices
        The neighbours of every agent.
    parts, counts
        The part of every agent, and the directed edges from part to part (k x k).
    bundle_start, bundle_part, bundle_count
        How many neighbours each agent has in each part.
    norm2
        The squared norms of the q_s (K x K).
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
    bundle_start: IntArray
    bundle_part: IntArray
    bundle_count: FloatArray
    norm2: FloatArray
    lam: float
    adaptive: bool
    sigma: float
    spread: float
    offset: float
    shrinking: bool
    v: float
    explore: float
    starts: int


class PairWork(NamedTuple):
    """Preallocated workspace for choosing allocations.

    Kernels inside a round take these arrays one by one: unpacking a tuple of arrays counts references,
    which costs more than a small search does.

    Attributes
    ----------
    pairs
        K x K tables, symmetric: the estimate (MEAN), its variance (VAR), the root of that (DEVIATION),
        the precision over lam (SHARE), and how many directed edges play the pair (COUNT).
    pay
        What a pair pays without optimism (1 x K x K), rows padded to whole lanes.
    values
        Of the tuples of arms over the parts.
    around
        By agent and arm (n x K): twice the neighbours that play it.
    pays
        By agent and arm, as padded: what it pays.
    scratch
        By arm (2 x K): the arms around an agent, and the last agent that had no reason to move.
    chosen
        The arms of a tuple (k).
    ends
        The ends of the searches (starts x n).
    """

    pairs: FloatArray
    pay: FloatArray
    values: FloatArray
    around: FloatArray
    pays: FloatArray
    scratch: IntArray
    chosen: IntArray
    ends: IntArray


@compiled()
def make_workspace(rule: PairRule, N: FloatArray, Y: FloatArray) -> PairWork:
    """A workspace that holds the estimates from the record."""
    K, k = N.shape[0], rule.counts.shape[0]
    size = rule.parts.size if rule.starts > 0 else 0
    pairs = np.zeros((5, K, K))
    for a in range(K):
        for b in range(a, K):
            refresh_pair(pairs, N, Y, a, b, rule.norm2[a, b], rule.lam)
    return PairWork(
        pairs,
        np.zeros((1, K, padded(K))),
        np.empty(K**k),
        np.zeros((size, K)),
        np.zeros((size, padded(K))),
        np.zeros((2, K), dtype=np.int64),
        np.zeros(k, dtype=np.int64),
        np.zeros((rule.starts, size), dtype=np.int64),
    )


@compiled()
def refresh_pair(
    pairs: FloatArray, N: FloatArray, Y: FloatArray, a: int, b: int, norm2: float, lam: float
) -> None:
    """Estimate and variance of a pair from the record.

    For ``q = (z_ab + z_ba) / 2``: ``var = |q|^2 / (lam + |q|^2 N_q)`` and ``mean = var Y_q``.
    """
    weight, total = N[a, b], Y[a, b]
    if a != b:
        weight += N[b, a]
        total += Y[b, a]
    precision = lam + norm2 * weight
    var = norm2 / precision
    pairs[VAR, a, b] = pairs[VAR, b, a] = var
    pairs[MEAN, a, b] = pairs[MEAN, b, a] = var * total
    pairs[DEVIATION, a, b] = pairs[DEVIATION, b, a] = np.sqrt(var)
    pairs[SHARE, a, b] = pairs[SHARE, b, a] = precision / lam


@compiled()
def choose_by_pairs(
    rule: PairRule,
    N: FloatArray,
    Y: FloatArray,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the next allocation; ``given`` is the radius unless it is adaptive.

    Returns the number of the tuple of arms over the parts that it plays, -1 if it plays another
    allocation, and its value (NaN in an exploring round).
    """
    if maybe_explore(rule.explore, None, N.shape[0], rng, arms):
        return -1, np.nan
    work = make_workspace(rule, N, Y)
    radius = index_pairs(radius_rule(rule), work.pairs, work.pay, given, rng)
    return climb_pairs(
        rule.indptr,
        rule.indices,
        rule.parts,
        rule.counts,
        rule.bundle_start,
        rule.bundle_part,
        rule.bundle_count,
        work.pairs,
        work.pay,
        radius,
        work.values,
        work.around,
        work.pays,
        work.scratch,
        work.chosen,
        work.ends,
        rng,
        arms,
    )


class RadiusRule(NamedTuple):
    """The numbers among a rule's constants that make an index of an estimate."""

    adaptive: bool
    sigma: float
    spread: float
    offset: float
    shrinking: bool
    v: float


@compiled(inline="always")
def radius_rule(rule: PairRule) -> RadiusRule:
    """The rule's part about the radius and the draw."""
    return RadiusRule(rule.adaptive, rule.sigma, rule.spread, rule.offset, rule.shrinking, rule.v)


@compiled()
def index_pairs(
    rule: RadiusRule, pairs: FloatArray, pay: FloatArray, given: float, rng: np.random.Generator
) -> float:
    """Draw what pairs pay, or take the estimate; returns the radius."""
    K = pairs.shape[1]
    if rule.adaptive:
        smallest = smallest_share(pairs) if rule.shrinking else 1.0
        return adaptive_radius(rule, log_det(pairs), smallest)
    if given > 0.0:
        return given
    for a in range(K):
        for b in range(a, K):
            mean = pairs[MEAN, a, b]
            if rule.v > 0.0:
                mean += rule.v * pairs[DEVIATION, a, b] * rng.standard_normal()
            pay[0, a, b] = pay[0, b, a] = mean
    return 0.0


@compiled(inline="always")
def adaptive_radius(rule: RadiusRule, logdet: float, smallest: float) -> float:
    """``sigma sqrt(logdet + spread) + offset``; ``smallest`` is that eigenvalue of ``A / lam``."""
    share = 1.0 / np.sqrt(smallest) if rule.shrinking else 1.0
    return float(rule.sigma * np.sqrt(logdet + rule.spread) + share * rule.offset)


@compiled()
def log_det(pairs: FloatArray) -> float:
    """``log det(A_sym / lam)`` over the pairs: few logarithms, of products."""
    result, product = 0.0, 1.0
    for a in range(pairs.shape[1]):
        for b in range(a, pairs.shape[1]):
            share = pairs[SHARE, a, b]
            if share > HUGE:
                result += np.log(share)
                continue
            product *= share
            if product > HUGE:
                result += np.log(product)
                product = 1.0
    return float(result + np.log(product))


@compiled()
def smallest_share(pairs: FloatArray) -> float:
    """The smallest eigenvalue of ``A_sym / lam`` on the span of the pairs."""
    smallest = np.inf
    for a in range(pairs.shape[1]):
        for b in range(a, pairs.shape[1]):
            if pairs[VAR, a, b] > 0.0:
                smallest = min(smallest, pairs[SHARE, a, b])
    return float(smallest)
