"""One run by the covariance of the pairs: couples, and rows of H, in lanes.

Every number is made by the same operations as in a run beside others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.abreast.pairs import (
    RENEWED,
    Pairs,
    add_up,
    afresh,
    grow_both,
    mix,
    pairs_in,
    renew,
    respond,
)
from gbb._kernels.abreast.pick_alone import pick_alone
from gbb._kernels.abreast.runs import Couples, Runs, Stretch, find_radii, keep
from gbb._kernels.lanes import (
    WIDTH,
    gather,
    load,
    padded,
    plus,
    root,
    splat,
    spread,
    store,
    times,
    times_plus,
    times_plus_one,
    where_above,
)
from gbb._support.checks import FloatArray, IntArray


class Board(NamedTuple):
    """All couples, padded to whole lanes.

    Attributes
    ----------
    values
        What they are worth in this round.
    bar
        What is added to that: minus infinity where there is no couple, or its mirror image is looked at
        instead.
    numbers
        That of each.
    steps
        The pairs that each plays: across, inside V1 and inside V2 (3 x couples).
    """

    values: FloatArray
    bar: FloatArray
    numbers: IntArray
    steps: IntArray


@compiled(forceinline=True)
def fill_board(couples: Couples, pairs: Pairs, board: Board, radius: float) -> None:
    """The values of all couples."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    size, spots, steps, mu, H = board.values.size, pairs.spots, board.steps, pairs.mu, pairs.H
    for p in range(0, size, WIDTH):
        mean = times(splat(w1), gather(mu, steps, size + p))
        mean = times_plus(splat(w2), gather(mu, steps, 2 * size + p), mean)
        mean = times_plus(splat(w), gather(mu, steps, p), mean)
        variance = times(splat(w * w), gather(H, spots, p))
        if w1 != 0.0 or w2 != 0.0:
            variance = times_plus(splat(w1 * w1), gather(H, spots, size + p), variance)
            variance = times_plus(splat(w2 * w2), gather(H, spots, 2 * size + p), variance)
            variance = times_plus(splat(2.0 * w * w1), gather(H, spots, 3 * size + p), variance)
            variance = times_plus(splat(2.0 * w * w2), gather(H, spots, 4 * size + p), variance)
            variance = times_plus(splat(2.0 * w1 * w2), gather(H, spots, 5 * size + p), variance)
        variance = where_above(variance, splat(0.0), variance, splat(0.0))
        x = times_plus(splat(radius), root(variance), mean)
        store(board.values, p, plus(x, load(board.bar, p)))
    w, K = w + w1 + w2, couples.pair.shape[0]
    for p in range(0, K * K, K + 1):
        deviation = np.sqrt(max(w * w * H[spots[0, p]], 0.0))
        board.values[p] = times_plus_one(radius, deviation, w * mu[steps[0, p]])


@compiled(forceinline=True)
def learn_alone(pairs: Pairs) -> bool:
    """Take the steps that ``mix`` made; returns whether H is worn."""
    size, mu, H, small = pairs.entry.shape[0], pairs.mu, pairs.H, pairs.small
    columns, width = pairs.columns, padded(size)
    second, third = width, 2 * width
    f01, f02, f12 = spread(small, 0), spread(small, WIDTH), spread(small, 2 * WIDTH)
    e0, e1, e2 = spread(small, 3 * WIDTH), spread(small, 4 * WIDTH), spread(small, 5 * WIDTH)
    d0, d1, d2 = small[6 * WIDTH], small[7 * WIDTH], small[8 * WIDTH]
    for i in range(0, width, WIDTH):
        u0 = load(columns, i)
        u1 = times_plus(f01, u0, load(columns, second + i))
        u2 = times_plus(f12, u1, times_plus(f02, u0, load(columns, third + i)))
        store(columns, second + i, u1)
        store(columns, third + i, u2)
        x = times_plus(e0, u0, load(mu, i))
        store(mu, i, times_plus(e2, u2, times_plus(e1, u1, x)))
    fit = True
    for i in range(size):
        g0, g1 = splat(d0 * columns[0, i]), splat(d1 * columns[1, i])
        g2, at = splat(d2 * columns[2, i]), i * width
        for j in range(0, i + 1, WIDTH):
            x = times_plus(g0, load(columns, j), load(H, at + j))
            x = times_plus(g1, load(columns, second + j), x)
            store(H, at + j, times_plus(g2, load(columns, third + j), x))
        fit &= H[at + i] >= pairs.base[i]
    return not fit


@compiled()
def play_pairs_alone(
    couples: Couples, runs: Runs, pairs: Pairs, board: Board, stretch: Stretch, begin: int
) -> int:
    """As ``play_pairs_abreast``, with one run; rows of H and columns are padded to whole lanes."""
    K = couples.pair.shape[0]
    for t in range(begin, stretch.radii.size):
        if (stretch.first + t) % RENEWED == 1:
            renew(couples, runs, pairs)
        g = stretch.regime[t]
        here = pairs_in(pairs, g)
        find_radii(couples, runs, stretch.radii[t])
        fill_board(couples, here, board, runs.radius[0])
        p = pick_alone(couples, runs, board.values, board.numbers, K)
        if p < 0:
            return t
        runs.best[0] = p
        respond(couples, runs, here, 1, np.uint64(0), stretch, t)
        mix(couples, here.small)
        worn = learn_alone(here)
        if couples.adaptive:
            grow_both(runs, here, 0, here.small[9 * WIDTH])
        if worn:
            afresh(couples, runs, pairs, g, 0)
            add_up(runs, pairs, 0)
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)
