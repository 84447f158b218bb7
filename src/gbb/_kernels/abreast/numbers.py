"""Eight runs on orthogonal arms with a vector c of context numbers: edges pay by ``sum_k c_k M_k``.

Different pairs of arms share no parameter. A pair that was seen N times has a block of C x C,
``A_s = prior_s I + sum N c c' = L D L'``, kept as L with a diagonal of ones and D, which take in a round
by C rotations without square roots (Gentleman, 1973). With ``f = L^-1 c`` mean and variance of the round
are ``<f, L'eta>`` and ``<f, D^-1 f>``; what is left is the choice without contexts.
"""

from __future__ import annotations

from operator import mul as times
from operator import sub as minus
from operator import truediv as over
from typing import NamedTuple

import numpy as np

from gbb._kernels.abreast.choose import decide
from gbb._kernels.abreast.orthogonal import MEAN, SIZE, value_orthogonal
from gbb._kernels.abreast.runs import Couples, Runs, Stretch, keep
from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import fma as times_plus
from gbb._kernels.simd import gather, load, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Factors(NamedTuple):
    """What is known of the pairs in every lane.

    Attributes
    ----------
    LD
        The factors (pairs x C x C + 2 x lanes): from place i on row i has ``D_ii``, the column of L
        below it, ``(L'eta)_i`` and ``1 / D_ii``.
    pairs
        Mean and variance of every pair in this round, where those without contexts are (pairs x 4 x
        lanes).
    active
        In how many lanes there are runs.
    own
        Where in LD the pair that is played begins, in every lane.
    solved, copy, row
        Scratch space (C x lanes, C x C + 2 x lanes, and C + 1 x lanes).
    """

    LD: FloatArray
    pairs: FloatArray
    active: int
    own: IntArray
    solved: FloatArray
    copy: FloatArray
    row: FloatArray


@kernel(forceinline=True)
def estimate(factors: Factors, now: FloatArray) -> None:
    """Mean and variance of every pair in a round with the numbers ``now``."""
    LD, solved, pairs = factors.LD, factors.solved, factors.pairs
    size, C, columns, _ = LD.shape
    for s in range(size):
        mean = variance = splat(0.0)
        for i in range(C):
            row, x = (s * C + i) * columns * WIDTH, splat(now[i])
            for j in range(i):
                below = load(LD, ((s * C + j) * columns + i) * WIDTH)
                x = minus(x, times(below, load(solved, j * WIDTH)))
            store(solved, i * WIDTH, x)
            mean = times_plus(x, load(LD, row + C * WIDTH), mean)
            variance = times_plus(times(x, x), load(LD, row + (C + 1) * WIDTH), variance)
        store(pairs, s * SIZE + MEAN, mean)
        store(pairs, s * SIZE + MEAN + WIDTH, variance)


@kernel(forceinline=True)
def rotate(factors: Factors, count: float) -> None:
    """Factors take in ``row``, numbers and mean reward of so many observations, into ``copy``."""
    C, columns, _ = factors.copy.shape
    LD, own, copy, row = factors.LD.reshape(-1), factors.own, factors.copy, factors.row
    weight = splat(count)
    for i in range(C):
        at = i * columns * WIDTH
        d, x = gather(LD[at + i * WIDTH :], own, 0), load(row, i * WIDTH)
        part = times(weight, x)
        grown = times_plus(part, x, d)
        inverse = over(splat(1.0), grown)
        part, weight = times(part, inverse), times(weight, times(d, inverse))
        store(copy, at + i * WIDTH, grown)
        store(copy, at + (C + 1) * WIDTH, inverse)
        for j in range((i + 1) * WIDTH, (C + 1) * WIDTH, WIDTH):
            known = gather(LD[at + j :], own, 0)
            left = minus(load(row, j), times(x, known))
            store(row, j, left)
            store(copy, at + j, times_plus(part, left, known))


@kernel(forceinline=True)
def learn_numbers(
    couples: Couples, runs: Runs, factors: Factors, now: FloatArray, stretch: Stretch, t: int
) -> None:
    """All runs play their best couples, and learn from what these pay with the round's numbers."""
    LD, copy, row = factors.LD.reshape(-1), factors.copy.reshape(-1), factors.row.reshape(-1)
    C, active, w = np.uint64(now.size), np.uint64(factors.active), np.uint64(WIDTH)
    size = np.uint64(copy.size)
    for j in range(np.uint64(3)):
        if couples.edges[j] == 0.0:
            continue
        for lane in range(active):
            p = np.uint64(runs.best[lane])
            reward = stretch.scales[j] * stretch.noise[(np.uint64(3 * t) + j) * w + lane]
            for i in range(C):
                reward += now[i] * couples.pays[i, p, j]
            row[C * w + lane] = reward / couples.edges[j]
            factors.own[lane] = couples.steps[p, j] * size + lane
        for i in range(now.size):
            store(row, i * WIDTH, splat(now[i]))
        rotate(factors, couples.edges[j])
        for lane in range(active):
            own = np.uint64(factors.own[lane])
            for at in range(np.uint64(0), size, w):
                LD[own + at] = copy[lane + at]
    for lane in range(active):
        p, total = np.uint64(runs.best[lane]), runs.total[lane]
        for i in range(C):
            total += now[i] * couples.pays[i, p, np.uint64(3)]
        runs.total[lane] = total
        if runs.every.shape[0] > 0:
            runs.every[t, lane] = p


@kernel()
def play_numbers_abreast(
    couples: Couples,
    runs: Runs,
    factors: Factors,
    numbers: FloatArray,
    stretch: Stretch,
    begin: int,
) -> int:
    """As ``play_orthogonal_abreast``, with the ``numbers`` of each round (rounds x C)."""
    for t in range(begin, stretch.radii.size):
        now = numbers[t]
        estimate(factors, now)
        those = (1 << factors.active) - 1
        if not decide(couples, runs, factors.pairs, value_orthogonal, stretch.radii[t], those):
            return t
        learn_numbers(couples, runs, factors, now, stretch, t)
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)
