"""Eight runs by the covariance of the pairs, for few pairs of any shape.

Kept are ``mu_s = <q_s, theta_hat>`` and the lower half of ``H_st = q_s' A^-1 q_t``. A round is three
rank-one steps, on the pairs across, inside V1 and inside V2, taken in one pass over H. They need not
differ: a couple (a, a) takes its three steps on one pair.
"""

from __future__ import annotations

from operator import mul as times
from operator import sub as minus
from operator import truediv as over
from typing import Any

import numpy as np

from gbb._kernels.abreast.covariance import Pairs
from gbb._kernels.abreast.runs import (
    Couples,
    Lane,
    Runs,
    Stretch,
    count,
)
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    ALL,
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
    select_greater as where_above,
)
from gbb._kernels.simd import (
    sqrt as root,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray


@kernel(forceinline=True)
def value_pairs(couples: Couples, pairs: Pairs, a: int, b: int, radius: FloatArray) -> Any:
    """Optimistic values of the couple (a, b)."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    mu, H, spots = pairs.mu, pairs.H, pairs.spots
    p, own = a * couples.pair.shape[0] + b, couples.pair[a, a] * WIDTH
    if a == b:
        w = w + w1 + w2
        mean = times(splat(w), load(mu, own))
        variance = times(splat(w * w), load(H, spots[0, p]))
    else:
        other, both = couples.pair[b, b] * WIDTH, couples.pair[a, b] * WIDTH
        mean = times(splat(w1), load(mu, own))
        mean = times_plus(splat(w2), load(mu, other), mean)
        mean = times_plus(splat(w), load(mu, both), mean)
        variance = times(splat(w * w), load(H, spots[0, p]))
        if w1 != 0.0 or w2 != 0.0:
            variance = times_plus(splat(w1 * w1), load(H, spots[1, p]), variance)
            variance = times_plus(splat(w2 * w2), load(H, spots[2, p]), variance)
            variance = times_plus(splat(2.0 * w * w1), load(H, spots[3, p]), variance)
            variance = times_plus(splat(2.0 * w * w2), load(H, spots[4, p]), variance)
            variance = times_plus(splat(2.0 * w1 * w2), load(H, spots[5, p]), variance)
    variance = where_above(variance, splat(0.0), variance, splat(0.0))
    return times_plus(radius, root(variance), mean)


@kernel(forceinline=True)
def respond(
    couples: Couples, runs: Runs, pairs: Pairs, lane: Lane, stretch: Stretch, t: int
) -> None:
    """A run plays its best couple: rewards, columns of H and means of its three pairs are laid out."""
    w, size = np.uint64(WIDTH), np.uint64(pairs.entry.shape[0])
    p, row = np.uint64(runs.best[lane]), np.uint64(3) * w * np.uint64(t) + lane
    columns, small, steps = pairs.columns, pairs.small, couples.steps
    g = stretch.regime[t]
    for j in range(np.uint64(3)):
        s = steps[p, j]
        reward = couples.pays[g, p, j] + stretch.scales[j] * stretch.noise[row + j * w]
        pairs.paid[s * w + lane] += reward
        small[j * w + lane] = reward
        small[(np.uint64(3) + j) * w + lane] = pairs.mu[s * w + lane]
        for i in range(size):
            columns[j, i * w + lane] = pairs.H[pairs.entry[s, i] * w + lane]
    k = np.uint64(6)
    for i in range(np.uint64(3)):
        for j in range(i, np.uint64(3)):
            small[k * w + lane] = columns[i, steps[p, j] * w + lane]
            k += np.uint64(1)
    count(couples, runs, lane, g, p, t)


Six = tuple[Any, ...]
Three = tuple[Any, ...]


@kernel(forceinline=True)
def mix(k: Three, r: Three, m: Three, h: Six, one: Any) -> tuple[Three, Three, Three, Any]:
    """Three rank-one steps as one: what multiplies the columns.

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
        1, as lanes or as a number.

    Returns
    -------
    tuple
        f01, f02 and f12, which turn the columns into the later ones; the three e; the three -d; and the
        growth of the determinant.
    """
    k0, k1, k2 = k
    m0, m1, m2 = m
    h00, h01, h02, h11, h12, h22 = h
    zero = minus(one, one)
    grown = times_plus(k0, h00, one)
    growth = grown
    d0 = minus(zero, over(k0, grown))
    e0 = over(minus(r[0], times(k0, m0)), grown)
    f01, f02 = times(d0, h01), times(d0, h02)
    h11, h12, h22 = (
        times_plus(f01, h01, h11),
        times_plus(f01, h02, h12),
        times_plus(f02, h02, h22),
    )
    m1, m2 = times_plus(e0, h01, m1), times_plus(e0, h02, m2)
    grown = times_plus(k1, h11, one)
    growth = times(growth, grown)
    d1 = minus(zero, over(k1, grown))
    e1 = over(minus(r[1], times(k1, m1)), grown)
    f12 = times(d1, h12)
    h22, m2 = times_plus(f12, h12, h22), times_plus(e1, h12, m2)
    grown = times_plus(k2, h22, one)
    growth = times(growth, grown)
    d2 = minus(zero, over(k2, grown))
    e2 = over(minus(r[2], times(k2, m2)), grown)
    return (f01, f02, f12), (e0, e1, e2), (d0, d1, d2), growth


@kernel(forceinline=True)
def learn(couples: Couples, pairs: Pairs) -> int:
    """Take the three steps of all runs; returns a bit for each in which H is worn.

    The growth of each run's determinant replaces its first reward in ``small``.
    """
    size, mu, H, small = pairs.entry.shape[0], pairs.mu, pairs.H, pairs.small
    columns = pairs.columns
    second, third = size * WIDTH, 2 * size * WIDTH
    (f01, f02, f12), (e0, e1, e2), (d0, d1, d2), growth = mix(
        (splat(couples.edges[0]), splat(couples.edges[1]), splat(couples.edges[2])),
        (load(small, 0), load(small, WIDTH), load(small, 2 * WIDTH)),
        (load(small, 3 * WIDTH), load(small, 4 * WIDTH), load(small, 5 * WIDTH)),
        (
            load(small, 6 * WIDTH),
            load(small, 7 * WIDTH),
            load(small, 8 * WIDTH),
            load(small, 9 * WIDTH),
            load(small, 10 * WIDTH),
            load(small, 11 * WIDTH),
        ),
        splat(1.0),
    )
    store(small, 0, growth)
    for i in range(0, size * WIDTH, WIDTH):
        u0 = load(columns, i)
        u1 = times_plus(f01, u0, load(columns, second + i))
        u2 = times_plus(f12, u1, times_plus(f02, u0, load(columns, third + i)))
        store(columns, second + i, u1)
        store(columns, third + i, u2)
        x = times_plus(e0, u0, load(mu, i))
        store(mu, i, times_plus(e2, u2, times_plus(e1, u1, x)))
    fit, at = ALL, 0
    for i in range(0, size * WIDTH, 2 * WIDTH):  # two rows at a time read the columns once
        g0, g1 = times(d0, load(columns, i)), times(d1, load(columns, second + i))
        g2, below = times(d2, load(columns, third + i)), at + i + WIDTH
        if i + WIDTH == size * WIDTH:
            for j in range(0, i + WIDTH, WIDTH):
                x = times_plus(g0, load(columns, j), load(H, at + j))
                x = times_plus(g1, load(columns, second + j), x)
                store(H, at + j, times_plus(g2, load(columns, third + j), x))
            fit &= ALL ^ above(load(pairs.base, i), load(H, at + i))
            break
        k = i + WIDTH
        l0, l1 = times(d0, load(columns, k)), times(d1, load(columns, second + k))
        l2 = times(d2, load(columns, third + k))
        for j in range(0, i + WIDTH, WIDTH):
            u0, u1, u2 = load(columns, j), load(columns, second + j), load(columns, third + j)
            x = times_plus(g1, u1, times_plus(g0, u0, load(H, at + j)))
            store(H, at + j, times_plus(g2, u2, x))
            x = times_plus(l1, u1, times_plus(l0, u0, load(H, below + j)))
            store(H, below + j, times_plus(l2, u2, x))
        x = times_plus(l0, load(columns, k), load(H, below + k))
        x = times_plus(l1, load(columns, second + k), x)
        store(H, below + k, times_plus(l2, load(columns, third + k), x))
        fit &= ALL ^ above(load(pairs.base, i), load(H, at + i))
        fit &= ALL ^ above(load(pairs.base, k), load(H, below + k))
        at = below + k + WIDTH
    return ALL ^ fit
