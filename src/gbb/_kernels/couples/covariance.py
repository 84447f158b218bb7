"""Few pairs of any shape: the mean and the covariance of all pairs, in a batch and in a single run.

Kept are ``mu_s = <q_s, theta_hat>`` and the lower half of ``H_st = q_s' A^-1 q_t``. A round is three
rank-one steps, on the pairs across, inside V1 and inside V2, taken in one pass over H. They need not
differ: a couple (a, a) takes its three steps on one pair. Before 16 digits have lost 5, the estimate is
factorised anew from what was played: the kernels return, and the caller does it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.couples.choose import choose_batch, choose_single
from gbb._kernels.couples.state import Chunk, Couples, Index, Runs, grow, record, set_radii
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    ALL,
    Doubles,
    broadcast,
    fma,
    gather,
    greater_mask,
    load,
    load_broadcast,
    select_greater,
    sqrt,
    store,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

Three = tuple[Any, Any, Any]


class Covariance(NamedTuple):
    """The estimates of all runs in every regime.

    Attributes
    ----------
    mu
        The mean of every pair (regimes x (pairs x lanes); of a single run padded).
    weight, total
        Edges played with every pair, and the sum of their rewards (regimes x (pairs x lanes)).
    H
        The covariance of the pairs (regimes x (entries x lanes)).
    base
        Variances, as ``mu``, below which the estimate is worn.
    log_det, growth
        As of ``Runs``, of each regime's block of A (regimes x lanes).
    worn
        Which estimates are to be factorised anew (regimes x lanes).
    entry
        The number of the entry ``H_st`` (pairs x pairs).
    spots
        Flat positions in H of what a couple's variance is made of: of its pairs s, a and b, the entries
        ss, aa, bb, sa, sb and ab (6 x couples).
    columns, small
        Scratch: the columns of H of the three pairs played (3 x (pairs x lanes)); their rewards, means
        and entries of H (12 x lanes, flat).
    """

    mu: FloatArray
    weight: FloatArray
    total: FloatArray
    H: FloatArray
    base: FloatArray
    log_det: FloatArray
    growth: FloatArray
    worn: NDArray[np.bool_]
    entry: NDArray[np.uint64]
    spots: IntArray
    columns: FloatArray
    small: FloatArray


@kernel(forceinline=True)
def regime_view(pairs: Covariance, g: Index) -> Covariance:
    """Return the estimates of one regime."""
    return Covariance(
        pairs.mu[g],
        pairs.weight[g],
        pairs.total[g],
        pairs.H[g],
        pairs.base[g],
        pairs.log_det[g],
        pairs.growth[g],
        pairs.worn[g],
        pairs.entry,
        pairs.spots,
        pairs.columns,
        pairs.small,
    )


@kernel(forceinline=True)
def grow_both(runs: Runs, pairs: Any, lane: Index, factor: float) -> None:
    """Multiply the determinant of A, and that of a regime's block."""
    grow(runs.log_det, runs.growth, lane, factor)
    grow(pairs.log_det, pairs.growth, lane, factor)


@kernel(forceinline=True)
def rank_three_coefficients(
    k: Three, r: Three, m: Three, h: tuple[Any, Any, Any, Any, Any, Any], one: Any
) -> tuple[Three, Three, Three, Any]:
    """Return what multiplies the columns of H when three rank-one steps are taken as one.

    With k more observations of pair p, ``h_st -= d h_sp h_pt`` and ``mu_s += e h_sp``, where
    ``d = k / (1 + k h_pp)`` and ``e = (r - k m_p) / (1 + k h_pp)``. Later columns are those after the
    steps before.

    Parameters
    ----------
    k, r, m
        Numbers of edges, rewards and means of the pairs 0, 1 and 2 that are played.
    h
        The entries 00, 01, 02, 11, 12 and 22 of H.
    one
        1, as a vector or as a number: a single run's numbers are rounded as those of a batch.

    Returns
    -------
    tuple
        f01, f02 and f12, which turn the columns into the later ones; the three e; the three -d; and the
        growth of the determinant.
    """
    k0, k1, k2 = k
    m0, m1, m2 = m
    h00, h01, h02, h11, h12, h22 = h
    zero = one - one
    growth = grown = fma(k0, h00, one)
    d0, e0 = zero - k0 / grown, (r[0] - k0 * m0) / grown
    f01, f02 = d0 * h01, d0 * h02
    h11, h12, h22 = fma(f01, h01, h11), fma(f01, h02, h12), fma(f02, h02, h22)
    m1, m2 = fma(e0, h01, m1), fma(e0, h02, m2)
    grown = fma(k1, h11, one)
    growth = growth * grown
    d1, e1 = zero - k1 / grown, (r[1] - k1 * m1) / grown
    f12 = d1 * h12
    h22, m2 = fma(f12, h12, h22), fma(e1, h12, m2)
    grown = fma(k2, h22, one)
    growth = growth * grown
    d2, e2 = zero - k2 / grown, (r[2] - k2 * m2) / grown
    return (f01, f02, f12), (e0, e1, e2), (d0, d1, d2), growth


@kernel(forceinline=True)
def value_pairs(couples: Couples, pairs: Covariance, a: int, b: int, radius: Doubles) -> Doubles:
    """Return optimistic values of the couple (a, b) in a batch."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    mu, H, spots = pairs.mu, pairs.H, pairs.spots
    p, first = a * couples.pair.shape[0] + b, couples.pair[a, a] * WIDTH
    if a == b:
        w = w + w1 + w2
        mean, variance = w * load(mu, first), w * w * load(H, spots[0, p])
    else:
        second, across = couples.pair[b, b] * WIDTH, couples.pair[a, b] * WIDTH
        mean = fma(w, load(mu, across), fma(w2, load(mu, second), w1 * load(mu, first)))
        variance = w * w * load(H, spots[0, p])
        if w1 != 0.0 or w2 != 0.0:
            variance = fma(w1 * w1, load(H, spots[1, p]), variance)
            variance = fma(w2 * w2, load(H, spots[2, p]), variance)
            variance = fma(2.0 * w * w1, load(H, spots[3, p]), variance)
            variance = fma(2.0 * w * w2, load(H, spots[4, p]), variance)
            variance = fma(2.0 * w1 * w2, load(H, spots[5, p]), variance)
    zero = broadcast(0.0)
    return fma(radius, sqrt(select_greater(variance, zero, variance, zero)), mean)


@kernel(forceinline=True)
def gather_step(
    couples: Couples, runs: Runs, pairs: Covariance, lane: Index, chunk: Chunk, t: int
) -> None:
    """Play a run's best couple: lay rewards, columns of H and means of its three pairs side by side."""
    w, size, three = np.uint64(WIDTH), np.uint64(pairs.entry.shape[0]), np.uint64(3)
    p, noise = np.uint64(runs.best[lane]), three * w * np.uint64(t) + lane
    columns, small, steps, g = pairs.columns, pairs.small, couples.steps, chunk.regime[t]
    for j in range(three):
        s = steps[p, j]
        reward = couples.rewards[g, p, j] + chunk.scales[j] * chunk.noise[noise + j * w]
        pairs.weight[s * w + lane] += couples.edges[j]
        pairs.total[s * w + lane] += reward
        small[j * w + lane] = reward
        small[(three + j) * w + lane] = pairs.mu[s * w + lane]
        for i in range(size):
            columns[j, i * w + lane] = pairs.H[pairs.entry[s, i] * w + lane]
    k = np.uint64(6)
    for i in range(three):
        for j in range(i, three):
            small[k * w + lane] = columns[i, steps[p, j] * w + lane]
            k += np.uint64(1)


@kernel(forceinline=True)
def learn_batch(couples: Couples, pairs: Covariance) -> int:
    """Take the three steps of all runs; return a bit for each in which the estimate is worn.

    The growth of each run's determinant replaces its first reward in ``small``.
    """
    size, mu, H, small = pairs.entry.shape[0], pairs.mu, pairs.H, pairs.small
    edges, columns, W = couples.edges, pairs.columns, WIDTH
    second, third = size * W, 2 * size * W
    (f01, f02, f12), (e0, e1, e2), (d0, d1, d2), growth = rank_three_coefficients(
        (broadcast(edges[0]), broadcast(edges[1]), broadcast(edges[2])),
        (load(small, 0), load(small, W), load(small, 2 * W)),
        (load(small, 3 * W), load(small, 4 * W), load(small, 5 * W)),
        (
            load(small, 6 * W),
            load(small, 7 * W),
            load(small, 8 * W),
            load(small, 9 * W),
            load(small, 10 * W),
            load(small, 11 * W),
        ),
        broadcast(1.0),
    )
    store(small, 0, growth)
    for i in range(0, size * W, W):
        u0 = load(columns, i)
        u1 = fma(f01, u0, load(columns, second + i))
        u2 = fma(f12, u1, fma(f02, u0, load(columns, third + i)))
        store(columns, second + i, u1)
        store(columns, third + i, u2)
        store(mu, i, fma(e2, u2, fma(e1, u1, fma(e0, u0, load(mu, i)))))
    fit, at = ALL, 0
    for i in range(0, size * W, 2 * W):  # two rows at a time read the columns once
        g0, g1, g2 = (
            d0 * load(columns, i),
            d1 * load(columns, second + i),
            d2 * load(columns, third + i),
        )
        below = at + i + W
        if i + W == size * W:  # the last row has no partner
            for j in range(0, i + W, W):
                x = fma(g1, load(columns, second + j), fma(g0, load(columns, j), load(H, at + j)))
                store(H, at + j, fma(g2, load(columns, third + j), x))
            fit &= ALL ^ greater_mask(load(pairs.base, i), load(H, at + i))
            break
        k = i + W
        l0, l1, l2 = (
            d0 * load(columns, k),
            d1 * load(columns, second + k),
            d2 * load(columns, third + k),
        )
        for j in range(0, i + W, W):
            u0, u1, u2 = load(columns, j), load(columns, second + j), load(columns, third + j)
            store(H, at + j, fma(g2, u2, fma(g1, u1, fma(g0, u0, load(H, at + j)))))
            store(H, below + j, fma(l2, u2, fma(l1, u1, fma(l0, u0, load(H, below + j)))))
        x = fma(l1, load(columns, second + k), fma(l0, load(columns, k), load(H, below + k)))
        store(H, below + k, fma(l2, load(columns, third + k), x))
        fit &= ALL ^ greater_mask(load(pairs.base, i), load(H, at + i))
        fit &= ALL ^ greater_mask(load(pairs.base, k), load(H, below + k))
        at = below + k + W
    return ALL ^ fit


@kernel()
def play_covariance_batch(
    couples: Couples, runs: Runs, pairs: Covariance, chunk: Chunk, begin: int, end: int
) -> int:
    """Play rounds of the chunk, from number ``begin`` up to ``end``; return how far it came.

    It stops after a round in which an estimate is worn, which ``pairs.worn`` says, or before one in
    which a run has no number left to break a tie with.
    """
    for t in range(begin, end):
        own = regime_view(pairs, chunk.regime[t])
        if not choose_batch(couples, runs, own, value_pairs, chunk.radii[t]):
            return t
        for lane in range(np.uint64(WIDTH)):
            gather_step(couples, runs, own, lane, chunk, t)
        worn = learn_batch(couples, own)
        if couples.adaptive:
            for lane in range(np.uint64(WIDTH)):
                grow_both(runs, own, lane, own.small[lane])
        record(couples, runs, chunk, t)
        if worn != 0:
            for run in range(WIDTH):
                own.worn[run] = (worn >> run) & 1 != 0
            return t + 1
    return end


class SingleRun(NamedTuple):
    """What a single run has beside its pairs, which are padded to whole vectors.

    A pair stands for two couples, (a, b) and (b, a), whose values have most of H in common.

    Attributes
    ----------
    penalty
        Added to means, at the positions of ``Runs.values``: minus infinity if there is no couple.
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
        The positions in H of H_sa, H_sb and H_ab (3 x pairs).
    entry
        The position in H of every entry H_st (pairs x pairs, the second padded).
    """

    penalty: FloatArray
    diagonal: FloatArray
    gains: FloatArray
    weights: FloatArray
    own: IntArray
    cross: IntArray
    entry: NDArray[np.int32]


@kernel(forceinline=True)
def fill_values(
    couples: Couples, runs: Runs, pairs: Covariance, single: SingleRun, diagonal: FloatArray
) -> None:
    """Compute the values of all couples of a single run."""
    mu, H, own, cross, weights = pairs.mu, pairs.H, single.own, single.cross, single.weights
    width, values, penalty, radius = diagonal.size, runs.values, single.penalty, runs.radius[0]
    zero, crossed = broadcast(0.0), couples.w1 != 0.0 or couples.w2 != 0.0
    for s in range(0, width, WIDTH):
        w, w1, w2 = load(weights, s), load(weights, width + s), load(weights, 2 * width + s)
        across, one, two = load(mu, s), gather(mu, own, s), gather(mu, own, width + s)
        mean = fma(w2, two, fma(w1, one, load(penalty, s)))
        variance = load(weights, 3 * width + s) * load(diagonal, s)
        if not crossed:
            x = select_greater(variance, zero, variance, zero)
            store(values, s, fma(radius, sqrt(x), fma(w, across, mean)))
            continue
        w11, w22 = load(weights, 4 * width + s), load(weights, 5 * width + s)
        w01, w02 = load(weights, 6 * width + s), load(weights, 7 * width + s)
        aa, bb = gather(diagonal, own, s), gather(diagonal, own, width + s)
        sa, sb = gather(H, cross, s), gather(H, cross, width + s)
        w12, ab = load(weights, 8 * width + s), gather(H, cross, 2 * width + s)
        x = fma(w22, bb, fma(w11, aa, variance))
        x = fma(w12, ab, fma(w02, sb, fma(w01, sa, x)))
        x = select_greater(x, zero, x, zero)
        store(values, s, fma(radius, sqrt(x), fma(w, across, mean)))
        if not couples.mirrored:
            mean = fma(w2, one, fma(w1, two, load(penalty, width + s)))
            x = fma(w22, aa, fma(w11, bb, variance))
            x = fma(w12, ab, fma(w02, sa, fma(w01, sb, x)))
            x = select_greater(x, zero, x, zero)
            store(values, width + s, fma(radius, sqrt(x), fma(w, across, mean)))


@kernel(forceinline=True)
def learn_single(
    couples: Couples, runs: Runs, pairs: Covariance, single: SingleRun, chunk: Chunk, t: int
) -> bool:
    """Play the best couple and take its three steps; return whether the estimate is worn."""
    p, g, mu, H, entry = np.uint64(runs.best[0]), chunk.regime[t], pairs.mu, pairs.H, pairs.entry
    diagonal, edges, noise = single.diagonal[g], couples.edges, np.uint64(3 * t)
    s0, s1, s2 = couples.steps[p, 0], couples.steps[p, 1], couples.steps[p, 2]
    r0 = couples.rewards[g, p, 0] + chunk.scales[0] * chunk.noise[noise]
    r1 = couples.rewards[g, p, 1] + chunk.scales[1] * chunk.noise[noise + np.uint64(1)]
    r2 = couples.rewards[g, p, 2] + chunk.scales[2] * chunk.noise[noise + np.uint64(2)]
    pairs.weight[s0] += edges[0]  # one by one, as the three pairs may be the same
    pairs.weight[s1] += edges[1]
    pairs.weight[s2] += edges[2]
    pairs.total[s0] += r0
    pairs.total[s1] += r1
    pairs.total[s2] += r2
    (x01, x02, x12), (x0, x1, x2), (y0, y1, y2), growth = rank_three_coefficients(
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
    size, width, columns, gains = entry.shape[0], diagonal.size, pairs.columns, single.gains
    second, third, fit = width, 2 * width, ALL
    t0, t1, t2 = np.intp(s0) * width, np.intp(s1) * width, np.intp(s2) * width
    for i in range(0, width, WIDTH):
        u0, u1 = gather(H, single.entry, t0 + i), gather(H, single.entry, t1 + i)
        u2 = fma(x02, u0, gather(H, single.entry, t2 + i))
        u1 = fma(x01, u0, u1)
        u2 = fma(x12, u1, u2)
        store(columns, i, u0)
        store(columns, second + i, u1)
        store(columns, third + i, u2)
        store(mu, i, fma(x2, u2, fma(x1, u1, fma(x0, u0, load(mu, i)))))
        g0, g1, g2 = y0 * u0, y1 * u1, y2 * u2
        store(gains, i, g0)
        store(gains, second + i, g1)
        store(gains, third + i, g2)
        x = fma(g2, u2, fma(g1, u1, fma(g0, u0, load(diagonal, i))))
        store(diagonal, i, x)
        fit &= ALL ^ greater_mask(load(pairs.base, i), x)
    for i in range(0, size, 2):  # two rows at a time read the columns once; the last may be spare
        g0, g1 = load_broadcast(gains, i), load_broadcast(gains, second + i)
        l0, l1 = load_broadcast(gains, i + 1), load_broadcast(gains, second + i + 1)
        g2, l2 = load_broadcast(gains, third + i), load_broadcast(gains, third + i + 1)
        at, below = i * width, (i + 1) * width
        for j in range(0, i + 1, WIDTH):
            u0, u1, u2 = load(columns, j), load(columns, second + j), load(columns, third + j)
            store(H, at + j, fma(g2, u2, fma(g1, u1, fma(g0, u0, load(H, at + j)))))
            store(H, below + j, fma(l2, u2, fma(l1, u1, fma(l0, u0, load(H, below + j)))))
    return fit != ALL


@kernel()
def play_covariance_single(
    couples: Couples,
    runs: Runs,
    pairs: Covariance,
    single: SingleRun,
    chunk: Chunk,
    begin: int,
    end: int,
) -> int:
    """Play a single run as :func:`play_covariance_batch` does; the rows of H are padded."""
    for t in range(begin, end):
        own = regime_view(pairs, chunk.regime[t])
        set_radii(couples, runs, chunk.radii[t])
        fill_values(couples, runs, own, single, single.diagonal[chunk.regime[t]])
        if not choose_single(couples, runs):
            return t
        worn = learn_single(couples, runs, own, single, chunk, t)
        record(couples, runs, chunk, t)
        if worn:
            own.worn[0] = True
            return t + 1
    return end
