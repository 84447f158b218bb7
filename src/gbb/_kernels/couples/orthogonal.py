"""Orthogonal arms: every pair has a mean and a variance of its own.

The estimate holds precision, sum of rewards, mean and variance of every pair, each in every run
(regimes x (pairs x 4 x lanes)). A single run keeps means and deviations of all couples beside it, as a
round changes those of two arms only; they are rounded as in a batch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gbb._kernels.couples.choose import choose_batch, choose_single
from gbb._kernels.couples.state import Chunk, Couples, Index, Runs, grow, record, set_radii
from gbb._kernels.jit import kernel
from gbb._kernels.simd import Doubles, broadcast, fma, load, sqrt, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray

SIZE = 4 * WIDTH
"""Numbers of a pair in a batch."""
MEAN = 2 * WIDTH
"""Where the means of a pair begin."""


@kernel(forceinline=True)
def value_orthogonal(
    couples: Couples, pairs: FloatArray, a: int, b: int, radius: Doubles
) -> Doubles:
    """Return optimistic values of the couple (a, b); pairs are uncorrelated, so variances add."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    first = couples.pair[a, a] * SIZE + MEAN
    if a == b:
        w = w + w1 + w2
        mean, variance = w * load(pairs, first), w * w * load(pairs, first + WIDTH)
    else:
        second, across = couples.pair[b, b] * SIZE + MEAN, couples.pair[a, b] * SIZE + MEAN
        mean = fma(w2, load(pairs, second), w1 * load(pairs, first))
        mean = fma(w, load(pairs, across), mean)
        variance = fma(w2 * w2, load(pairs, second + WIDTH), w1 * w1 * load(pairs, first + WIDTH))
        variance = fma(w * w, load(pairs, across + WIDTH), variance)
    return fma(radius, sqrt(variance), mean)


@kernel(forceinline=True)
def learn(
    couples: Couples, runs: Runs, pairs: FloatArray, lanes: int, lane: Index, chunk: Chunk, t: int
) -> None:
    """Play a run's best couple in round t of the chunk and learn from its rewards."""
    p, g, n = np.uint64(runs.best[lane]), chunk.regime[t], np.uint64(lanes)
    noise = np.uint64(3 * lanes * t) + lane
    grown = 1.0
    for j in range(np.uint64(3)):  # the three pairs may be one
        edges, i = couples.edges[j], couples.steps[p, j] * np.uint64(4 * lanes) + lane
        reward = couples.rewards[g, p, j] + chunk.scales[j] * chunk.noise[noise + j * n]
        precision, total = pairs[i] + edges, pairs[i + n] + reward
        grown *= 1.0 + edges * pairs[i + np.uint64(3) * n]
        # An arm of norm 0 has infinite precision: its variance stays 1 / inf = 0, and its mean 0.
        variance = 1.0 / precision
        pairs[i], pairs[i + n] = precision, total
        pairs[i + np.uint64(2) * n], pairs[i + np.uint64(3) * n] = total * variance, variance
    if couples.adaptive:
        grow(runs.log_det, runs.growth, lane, grown)


@kernel()
def play_orthogonal_batch(
    couples: Couples, runs: Runs, pairs: FloatArray, chunk: Chunk, begin: int, end: int
) -> int:
    """Play rounds of the chunk, from number ``begin`` up to ``end``; return how far it came.

    It stops before a round in which a run has no number left to break a tie with.
    """
    for t in range(begin, end):
        own = pairs[chunk.regime[t]]
        if not choose_batch(couples, runs, own, value_orthogonal, chunk.radii[t]):
            return t
        for lane in range(np.uint64(WIDTH)):
            learn(couples, runs, own, WIDTH, lane, chunk, t)
        record(couples, runs, chunk, t)
    return end


class Tables(NamedTuple):
    """Tables of a single run by arms (regimes x K x K, rows padded to whole vectors).

    Attributes
    ----------
    mean, variance
        Of the pairs.
    own_mean, own_variance
        Of the pairs of an arm with itself (regimes x K, padded).
    middle, deviation
        Mean and deviation of the couples.
    penalty
        Added to their means: minus infinity if there is no couple, or its mirror image stands for it.
    """

    mean: FloatArray
    variance: FloatArray
    own_mean: FloatArray
    own_variance: FloatArray
    middle: FloatArray
    deviation: FloatArray
    penalty: FloatArray


@kernel(forceinline=True)
def regime_view(tables: Tables, g: Index) -> Tables:
    """Return the tables of one regime."""
    return Tables(
        tables.mean[g],
        tables.variance[g],
        tables.own_mean[g],
        tables.own_variance[g],
        tables.middle[g],
        tables.deviation[g],
        tables.penalty,
    )


@kernel(forceinline=True)
def update_row(couples: Couples, tables: Tables, a: int) -> None:
    """Compute mean and deviation of the couples (a, .)."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    width = tables.own_mean.size
    own, own_variance = tables.own_mean[a], tables.own_variance[a]
    for b in range(0, width, WIDTH):
        at = a * width + b
        mean = fma(w2, load(tables.own_mean, b), broadcast(w1 * own))
        mean = fma(w, load(tables.mean, at), mean)
        variance = fma(w2 * w2, load(tables.own_variance, b), broadcast(w1 * w1 * own_variance))
        variance = fma(w * w, load(tables.variance, at), variance)
        store(tables.middle, at, mean + load(tables.penalty, at))
        store(tables.deviation, at, sqrt(variance))
    w = w + w1 + w2
    tables.middle[a, a] = w * own
    tables.deviation[a, a] = math.sqrt(w * w * own_variance)


@kernel(forceinline=True)
def update_cell(couples: Couples, tables: Tables, a: int, b: int) -> None:
    """Compute mean and deviation of the couple (a, b) of two different arms, rounded as in a row."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    mean = fma(w2, tables.own_mean[b], w1 * tables.own_mean[a])
    variance = fma(w2 * w2, tables.own_variance[b], w1 * w1 * tables.own_variance[a])
    tables.middle[a, b] = fma(w, tables.mean[a, b], mean) + tables.penalty[a, b]
    tables.deviation[a, b] = math.sqrt(fma(w * w, tables.variance[a, b], variance))


@kernel()
def fill_tables(couples: Couples, tables: Tables, pairs: FloatArray) -> None:
    """Compute all tables of one regime from its pairs' means and variances."""
    K = couples.pair.shape[0]
    for a in range(K):
        for b in range(K):
            at = 4 * couples.pair[a, b] + 2
            tables.mean[a, b], tables.variance[a, b] = pairs[at], pairs[at + 1]
        tables.own_mean[a], tables.own_variance[a] = tables.mean[a, a], tables.variance[a, a]
    for a in range(K):
        update_row(couples, tables, a)


@kernel(forceinline=True)
def update_tables(couples: Couples, tables: Tables, pairs: FloatArray, a: int, b: int) -> None:
    """Update the tables after the couple (a, b) was played: rows a and b, and columns a and b."""
    K, crossed = couples.pair.shape[0], couples.w1 != 0.0 or couples.w2 != 0.0
    first, second = 4 * couples.pair[a, a] + 2, 4 * couples.pair[b, b] + 2
    across = 4 * couples.pair[a, b] + 2
    tables.mean[a, b] = tables.mean[b, a] = pairs[across]
    tables.variance[a, b] = tables.variance[b, a] = pairs[across + 1]
    tables.own_mean[a], tables.own_variance[a] = pairs[first], pairs[first + 1]
    tables.own_mean[b], tables.own_variance[b] = pairs[second], pairs[second + 1]
    for i in range(1 if a == b else 2):
        arm, other = (a, b) if i == 0 else (b, a)
        update_row(couples, tables, arm)
        for c in range(K if crossed else 0):  # own means count in no other row if w1 = w2 = 0
            if c != arm and c != other:  # noqa: PLR1714  (a tuple takes long to compile)
                update_cell(couples, tables, c, arm)


@kernel()
def play_orthogonal_single(
    couples: Couples,
    runs: Runs,
    pairs: FloatArray,
    tables: Tables,
    chunk: Chunk,
    begin: int,
    end: int,
) -> int:
    """Play a single run as :func:`play_orthogonal_batch` does."""
    for g in range(np.uint64(pairs.shape[0])):
        fill_tables(couples, regime_view(tables, g), pairs[g])
    for t in range(begin, end):
        g = chunk.regime[t]
        here, own = regime_view(tables, g), pairs[g]
        set_radii(couples, runs, chunk.radii[t])
        for at in range(0, runs.values.size, WIDTH):
            x = fma(runs.radius[0], load(here.deviation, at), load(here.middle, at))
            store(runs.values, at, x)
        if not choose_single(couples, runs):
            return t
        p = np.int64(runs.best[0])
        learn(couples, runs, own, 1, np.uint64(0), chunk, t)
        update_tables(couples, here, own, couples.arms[p, 0], couples.arms[p, 1])
        record(couples, runs, chunk, t)
    return end
