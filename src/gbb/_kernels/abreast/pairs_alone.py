"""One run by the covariance of the pairs: pairs, and rows of H, in lanes.

Every number is made by the same operations as in a run beside others. A pair stands for two couples,
(a, b) and (b, a), whose values have what they read of H in common.
"""

from __future__ import annotations

from operator import mul as times
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.abreast.covariance import (
    RENEWED,
    Pairs,
    add_up,
    afresh,
    grow_both,
    pairs_in,
    renew,
)
from gbb._kernels.abreast.pairs import mix
from gbb._kernels.abreast.pick_alone import Board, pick_alone
from gbb._kernels.abreast.runs import Couples, Lane, Runs, Stretch, count, find_radii, keep
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    ALL,
    gather,
    load,
    store,
)
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    fma as times_plus,
)
from gbb._kernels.simd import (
    greater_mask as above,
)
from gbb._kernels.simd import (
    load_broadcast as spread,
)
from gbb._kernels.simd import (
    select_greater as where_above,
)
from gbb._kernels.simd import (
    sqrt as root,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Sheet(NamedTuple):
    """What one run has beside its pairs, which are padded to whole lanes here.

    Attributes
    ----------
    board
        The values of the couples (a, b) of all pairs, and then of (b, a) where these differ.
    bar
        What is added to their means: minus infinity where there is no couple, else 0.
    diagonal
        The variances of the pairs, in every regime.
    gains
        What multiplies the columns in every row of H (3 x pairs).
    weights
        What a pair, (a, a) and (b, b) count for the mean of (a, b), and what H_ss, H_aa, H_bb, H_sa,
        H_sb and H_ab do for its variance (9 x pairs). A pair of an arm with itself has one of each.
    own
        The pairs (a, a) and (b, b) of each (2 x pairs).
    cross
        The places in H of H_sa, H_sb and H_ab (3 x pairs).
    entry
        The place in H of every entry H_st (pairs x pairs, the second padded).
    """

    board: Board
    bar: FloatArray
    diagonal: FloatArray
    gains: FloatArray
    weights: FloatArray
    own: IntArray
    cross: IntArray
    entry: NDArray[np.int32]


@kernel(forceinline=True)
def take_diagonal(pairs: Pairs, sheet: Sheet, g: Lane) -> None:
    """The variances of one regime from H."""
    for s in range(pairs.entry.shape[0]):
        sheet.diagonal[g, s] = pairs.H[g, pairs.entry[s, s]]


@kernel(forceinline=True)
def fill_values(
    couples: Couples, pairs: Pairs, sheet: Sheet, diagonal: FloatArray, radius: float
) -> None:
    """The values of all couples."""
    mu, H, own, cross, weights = pairs.mu, pairs.H, sheet.own, sheet.cross, sheet.weights
    width, values, bar = diagonal.size, sheet.board.values, sheet.bar
    scale, zero, crossed = splat(radius), splat(0.0), couples.w1 != 0.0 or couples.w2 != 0.0
    for s in range(0, width, WIDTH):
        w, w1, w2 = load(weights, s), load(weights, width + s), load(weights, 2 * width + s)
        both, one, two = load(mu, s), gather(mu, own, s), gather(mu, own, width + s)
        mean = times_plus(w2, two, times_plus(w1, one, load(bar, s)))
        variance = times(load(weights, 3 * width + s), load(diagonal, s))
        if not crossed:
            mean = times_plus(w, both, mean)
            variance = where_above(variance, zero, variance, zero)
            store(values, s, times_plus(scale, root(variance), mean))
            continue
        w11, w22 = load(weights, 4 * width + s), load(weights, 5 * width + s)
        w01, w02 = load(weights, 6 * width + s), load(weights, 7 * width + s)
        aa, bb = gather(diagonal, own, s), gather(diagonal, own, width + s)
        sa, sb = gather(H, cross, s), gather(H, cross, width + s)
        w12, ab = load(weights, 8 * width + s), gather(H, cross, 2 * width + s)
        x = times_plus(w22, bb, times_plus(w11, aa, variance))
        x = times_plus(w12, ab, times_plus(w02, sb, times_plus(w01, sa, x)))
        x = where_above(x, zero, x, zero)
        store(values, s, times_plus(scale, root(x), times_plus(w, both, mean)))
        if not couples.mirrored:
            mean = times_plus(w2, one, times_plus(w1, two, load(bar, width + s)))
            x = times_plus(w22, aa, times_plus(w11, bb, variance))
            x = times_plus(w12, ab, times_plus(w02, sa, times_plus(w01, sb, x)))
            x = where_above(x, zero, x, zero)
            store(values, width + s, times_plus(scale, root(x), times_plus(w, both, mean)))


@kernel(forceinline=True)
def learn_alone(
    couples: Couples, runs: Runs, pairs: Pairs, sheet: Sheet, stretch: Stretch, t: int, p: Lane
) -> bool:
    """Play couple p, and take its three steps; returns whether H is worn."""
    g, mu, H, entry = stretch.regime[t], pairs.mu, pairs.H, pairs.entry
    diagonal, edges, row = sheet.diagonal[g], couples.edges, np.uint64(3 * t)
    s0, s1, s2 = couples.steps[p, 0], couples.steps[p, 1], couples.steps[p, 2]
    r0 = couples.pays[g, p, 0] + stretch.scales[0] * stretch.noise[row]
    r1 = couples.pays[g, p, 1] + stretch.scales[1] * stretch.noise[row + np.uint64(1)]
    r2 = couples.pays[g, p, 2] + stretch.scales[2] * stretch.noise[row + np.uint64(2)]
    pairs.paid[s0] += r0
    pairs.paid[s1] += r1
    pairs.paid[s2] += r2
    count(couples, runs, np.uint64(0), g, p, t)
    (x01, x02, x12), (x0, x1, x2), (y0, y1, y2), growth = mix(
        (edges[0], edges[1], edges[2]),
        (r0, r1, r2),
        (mu[s0], mu[s1], mu[s2]),
        (
            diagonal[s0],
            H[entry[s0, s1]],
            H[entry[s0, s2]],
            diagonal[s1],
            H[entry[s1, s2]],
            diagonal[s2],
        ),
        1.0,
    )
    if couples.adaptive:
        grow_both(runs, pairs, np.uint64(0), growth)
    f01, f02, f12, e0, e1, e2 = splat(x01), splat(x02), splat(x12), splat(x0), splat(x1), splat(x2)
    d0, d1, d2 = splat(y0), splat(y1), splat(y2)
    size, width, columns, gains = entry.shape[0], diagonal.size, pairs.columns, sheet.gains
    second, third, fit = width, 2 * width, ALL
    t0, t1, t2 = np.intp(s0) * width, np.intp(s1) * width, np.intp(s2) * width
    for i in range(0, width, WIDTH):
        u0, u1 = gather(H, sheet.entry, t0 + i), gather(H, sheet.entry, t1 + i)
        u2 = times_plus(f02, u0, gather(H, sheet.entry, t2 + i))
        u1 = times_plus(f01, u0, u1)
        u2 = times_plus(f12, u1, u2)
        store(columns, i, u0)
        store(columns, second + i, u1)
        store(columns, third + i, u2)
        x = times_plus(e1, u1, times_plus(e0, u0, load(mu, i)))
        store(mu, i, times_plus(e2, u2, x))
        g0, g1, g2 = times(d0, u0), times(d1, u1), times(d2, u2)
        store(gains, i, g0)
        store(gains, second + i, g1)
        store(gains, third + i, g2)
        x = times_plus(g1, u1, times_plus(g0, u0, load(diagonal, i)))
        x = times_plus(g2, u2, x)
        store(diagonal, i, x)
        fit &= ALL ^ above(load(pairs.base, i), x)
    # Two rows at a time read the columns once; the last may be a spare one.
    for i in range(0, size, 2):
        g0, g1 = spread(gains, i), spread(gains, second + i)
        l0, l1 = spread(gains, i + 1), spread(gains, second + i + 1)
        g2, l2 = spread(gains, third + i), spread(gains, third + i + 1)
        at = i * width
        for j in range(0, i + 1, WIDTH):
            u0, u1, u2 = load(columns, j), load(columns, second + j), load(columns, third + j)
            x = times_plus(g1, u1, times_plus(g0, u0, load(H, at + j)))
            store(H, at + j, times_plus(g2, u2, x))
            x = times_plus(l1, u1, times_plus(l0, u0, load(H, at + width + j)))
            store(H, at + width + j, times_plus(l2, u2, x))
    return fit != ALL


@kernel()
def play_pairs_alone(
    couples: Couples, runs: Runs, pairs: Pairs, sheet: Sheet, stretch: Stretch, begin: int
) -> int:
    """As ``play_pairs_abreast``, with one run; rows of H and columns are padded to whole lanes."""
    for t in range(begin, stretch.radii.size):
        if (stretch.first + t) % RENEWED == 1:
            renew(couples, runs, pairs)
            for r in range(pairs.mu.shape[0]):
                take_diagonal(pairs, sheet, r)
        g = stretch.regime[t]
        here = pairs_in(pairs, g)
        find_radii(couples, runs, stretch.radii[t])
        fill_values(couples, here, sheet, sheet.diagonal[g], runs.radius[0])
        p = pick_alone(couples, runs, sheet.board)
        if p < 0:
            return t
        runs.best[0] = p
        if learn_alone(couples, runs, here, sheet, stretch, t, np.uint64(p)):
            afresh(couples, runs, pairs, g, 0)
            add_up(runs, pairs, 0)
            take_diagonal(pairs, sheet, g)
        keep(runs, stretch.recorded, stretch.first + t)
    return int(stretch.radii.size)
