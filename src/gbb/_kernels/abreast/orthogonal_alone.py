"""One run on orthogonal arms: rows of couples in lanes, with the numbers that it has beside others.

Means and deviations of the couples are kept, as a round changes those of two arms only.
"""

from __future__ import annotations

from operator import add as plus
from operator import mul as times
from typing import NamedTuple

import numpy as np

from gbb._kernels.abreast.orthogonal import learn_couple
from gbb._kernels.abreast.pick_alone import Board, pick_alone
from gbb._kernels.abreast.runs import Couples, Lane, Runs, Stretch, find_radii, keep
from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import fma as times_plus
from gbb._kernels.simd import load, store
from gbb._kernels.simd import sqrt as root
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray


class Tables(NamedTuple):
    """By arms (K x K, rows padded to whole lanes).

    Attributes
    ----------
    mean, variance
        Of the pairs, in every regime.
    own_mean, own_variance
        Of the pairs of an arm with itself (padded to whole lanes), in every regime.
    middle, deviation
        Mean and deviation of the couples, in every regime.
    bar
        What is added to their means: minus infinity where there is no couple, or its mirror image is
        looked at instead.
    board
        The values of the couples, where their means and deviations are.
    """

    mean: FloatArray
    variance: FloatArray
    own_mean: FloatArray
    own_variance: FloatArray
    middle: FloatArray
    deviation: FloatArray
    bar: FloatArray
    board: Board


@kernel(forceinline=True)
def tables_in(tables: Tables, g: Lane) -> Tables:
    """Those of one regime."""
    return Tables(
        tables.mean[g],
        tables.variance[g],
        tables.own_mean[g],
        tables.own_variance[g],
        tables.middle[g],
        tables.deviation[g],
        tables.bar,
        tables.board,
    )


@kernel(forceinline=True)
def fill_row(couples: Couples, tables: Tables, a: int) -> None:
    """Mean and deviation of the couples (a, .)."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    width = tables.own_mean.size
    own, own_variance = tables.own_mean[a], tables.own_variance[a]
    for b in range(0, width, WIDTH):
        at = a * width + b
        mean = times(splat(w1), splat(own))
        mean = times_plus(splat(w2), load(tables.own_mean, b), mean)
        mean = times_plus(splat(w), load(tables.mean, at), mean)
        variance = times(splat(w1 * w1), splat(own_variance))
        variance = times_plus(splat(w2 * w2), load(tables.own_variance, b), variance)
        variance = times_plus(splat(w * w), load(tables.variance, at), variance)
        store(tables.middle, at, plus(mean, load(tables.bar, at)))
        store(tables.deviation, at, root(variance))
    w = w + w1 + w2
    tables.middle[a, a] = w * own
    tables.deviation[a, a] = np.sqrt(w * w * own_variance)


@kernel(forceinline=True)
def fill_cell(couples: Couples, tables: Tables, a: int, b: int) -> None:
    """Mean and deviation of the couple (a, b) of two different arms, rounded as in a row."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    mean = times_plus(w2, tables.own_mean[b], w1 * tables.own_mean[a])
    variance = times_plus(w2 * w2, tables.own_variance[b], w1 * w1 * tables.own_variance[a])
    tables.middle[a, b] = times_plus(w, tables.mean[a, b], mean) + tables.bar[a, b]
    tables.deviation[a, b] = np.sqrt(times_plus(w * w, tables.variance[a, b], variance))


@kernel(forceinline=True)
def fill_values(tables: Tables, radius: float) -> None:
    """The values of all couples."""
    scale, values = splat(radius), tables.board.values
    for at in range(0, values.size, WIDTH):
        x = times_plus(scale, load(tables.deviation, at), load(tables.middle, at))
        store(values, at, x)


@kernel()
def take_up(couples: Couples, tables: Tables, pairs: FloatArray) -> None:
    """All tables from the pairs' means and variances."""
    K = couples.pair.shape[0]
    for g in range(pairs.shape[0]):
        here = tables_in(tables, g)
        for a in range(K):
            for b in range(K):
                at = 4 * couples.pair[a, b] + 2
                here.mean[a, b], here.variance[a, b] = pairs[g, at], pairs[g, at + 1]
            here.own_mean[a], here.own_variance[a] = here.mean[a, a], here.variance[a, a]
        for a in range(K):
            fill_row(couples, here, a)


@kernel(forceinline=True)
def bring_up(couples: Couples, tables: Tables, pairs: FloatArray, a: int, b: int) -> None:
    """The tables after the couple (a, b) was played."""
    K, crossed = couples.pair.shape[0], couples.w1 != 0.0 or couples.w2 != 0.0
    own, other = 4 * couples.pair[a, a] + 2, 4 * couples.pair[b, b] + 2
    both = 4 * couples.pair[a, b] + 2
    tables.mean[a, b] = tables.mean[b, a] = pairs[both]
    tables.variance[a, b] = tables.variance[b, a] = pairs[both + 1]
    tables.own_mean[a], tables.own_variance[a] = pairs[own], pairs[own + 1]
    tables.own_mean[b], tables.own_variance[b] = pairs[other], pairs[other + 1]
    fill_row(couples, tables, a)
    if a != b:
        fill_row(couples, tables, b)
    for c in range(K if crossed else 0):
        if c not in (a, b):
            fill_cell(couples, tables, c, a)
            if a != b:
                fill_cell(couples, tables, c, b)


@kernel()
def play_orthogonal_alone(
    couples: Couples, runs: Runs, pairs: FloatArray, tables: Tables, stretch: Stretch, begin: int
) -> int:
    """As ``play_orthogonal_abreast``, with one run."""
    take_up(couples, tables, pairs)
    for t in range(begin, stretch.radii.size):
        here, known = tables_in(tables, stretch.regime[t]), pairs[stretch.regime[t]]
        find_radii(couples, runs, stretch.radii[t])
        fill_values(here, runs.radius[0])
        p = pick_alone(couples, runs, here.board)
        if p < 0:
            return t
        runs.best[0] = p
        learn_couple(couples, runs, known, 1, np.uint64(0), stretch, t)
        bring_up(couples, here, known, couples.arms[p, 0], couples.arms[p, 1])
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)
