"""Normal numbers in lanes: xoshiro256++ (Blackman and Vigna, 2021), then Box and Muller's transform.

A run has a generator of its own, four words of state. Eight runs side by side take a step each, one run
alone eight steps after one another: the numbers are the same. Two draws make two normals, ``sqrt(-2 log
u) (cos x, sin x)``: u has 52 bits, so none is beyond 8.5, as fewer than 1 in 10^16 would be.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels.jit import kernel
from gbb._kernels.lanes import (
    WIDTH,
    minus,
    over,
    padded,
    plus,
    root,
    splat,
    store,
    times,
    times_plus,
    where_above,
)
from gbb._kernels.wholes import (
    WholeArray,
    as_lanes,
    as_wholes,
    difference,
    either,
    joined,
    left,
    load_wholes,
    masked,
    raised,
    right,
    right_signed,
    store_wholes,
    sum_of,
    to_lanes,
)
from gbb._support.checks import FloatArray

HALF_ROOT = 0x3FE6A09E667F3BCD
"""The bits of ``sqrt(1/2)``."""
ONE = 0x3FF0000000000000
"""The bits of 1."""
LOG_2 = 0.6931471805599453
QUARTER = 1.5707963267948966
"""A quarter of a turn."""


@kernel(forceinline=True)
def turned(x: WholeArray, k: int) -> WholeArray:
    """``x`` rotated to the left by k bits."""
    return either(left(x, k), right(x, 64 - k))


@kernel(forceinline=True)
def log_of(x: FloatArray) -> FloatArray:
    """The logarithm of x in (0, 1].

    ``x = 2^e m`` with m between ``sqrt(1/2)`` and ``sqrt 2``, and ``log m = 2 artanh s`` with ``s = (m -
    1) / (m + 1)``, whose series ends at s^19: the next term is below 1e-17.
    """
    bits = as_wholes(x)
    e = right_signed(raised(bits, -HALF_ROOT), 52)
    m = as_lanes(difference(bits, left(e, 52)))
    one = splat(1.0)
    s = over(minus(m, one), plus(m, one))
    z = times(s, s)
    p = splat(1.0 / 19.0)
    p = times_plus(p, z, splat(1.0 / 17.0))
    p = times_plus(p, z, splat(1.0 / 15.0))
    p = times_plus(p, z, splat(1.0 / 13.0))
    p = times_plus(p, z, splat(1.0 / 11.0))
    p = times_plus(p, z, splat(1.0 / 9.0))
    p = times_plus(p, z, splat(1.0 / 7.0))
    p = times_plus(p, z, splat(1.0 / 5.0))
    p = times_plus(p, z, splat(1.0 / 3.0))
    twice = plus(s, s)
    return times_plus(to_lanes(e), splat(LOG_2), times_plus(times(twice, z), p, twice))


@kernel(forceinline=True)
def store_normals(one: WholeArray, two: WholeArray, out: FloatArray, at: int) -> None:
    """Two normals for each lane from two draws, eight and eight from the flat place ``at`` on.

    The angle is within an eighth of a turn; three further bits of the second draw say which of sine and
    cosine comes first, and their signs.
    """
    u = minus(splat(2.0), as_lanes(joined(right(one, 12), ONE)))
    radius = root(times(splat(-2.0), log_of(u)))
    x = times(minus(as_lanes(joined(right(two, 12), ONE)), splat(1.5)), splat(QUARTER))
    z = times(x, x)
    p = splat(-1.0 / 1307674368000.0)
    p = times_plus(p, z, splat(1.0 / 6227020800.0))
    p = times_plus(p, z, splat(-1.0 / 39916800.0))
    p = times_plus(p, z, splat(1.0 / 362880.0))
    p = times_plus(p, z, splat(-1.0 / 5040.0))
    p = times_plus(p, z, splat(1.0 / 120.0))
    p = times_plus(p, z, splat(-1.0 / 6.0))
    sine = times_plus(times(x, z), p, x)
    p = splat(1.0 / 20922789888000.0)
    p = times_plus(p, z, splat(-1.0 / 87178291200.0))
    p = times_plus(p, z, splat(1.0 / 479001600.0))
    p = times_plus(p, z, splat(-1.0 / 3628800.0))
    p = times_plus(p, z, splat(1.0 / 40320.0))
    p = times_plus(p, z, splat(-1.0 / 720.0))
    p = times_plus(p, z, splat(1.0 / 24.0))
    p = times_plus(p, z, splat(-0.5))
    cosine = times_plus(p, z, splat(1.0))
    sign, zero = as_lanes(joined(left(two, 63), ONE)), splat(0.0)
    first = where_above(sign, zero, cosine, sine)
    second = where_above(sign, zero, sine, cosine)
    first = as_lanes(either(as_wholes(first), left(masked(two, 2), 62)))
    second = as_lanes(either(as_wholes(second), left(masked(two, 4), 61)))
    store(out, at, times(radius, first))
    store(out, at + WIDTH, times(radius, second))


@kernel()
def fill_normals(state: WholeArray, out: FloatArray, pairs: int) -> None:
    """``2 pairs`` rows of normals, a lane for each run; ``state`` holds four words of every run."""
    s0, s1 = load_wholes(state, 0), load_wholes(state, WIDTH)
    s2, s3 = load_wholes(state, 2 * WIDTH), load_wholes(state, 3 * WIDTH)
    for i in range(pairs):
        one = sum_of(turned(sum_of(s0, s3), 23), s0)
        t, s2, s3 = left(s1, 17), either(s2, s0), either(s3, s1)
        s1, s0 = either(s1, s2), either(s0, s3)
        s2, s3 = either(s2, t), turned(s3, 45)
        two = sum_of(turned(sum_of(s0, s3), 23), s0)
        t, s2, s3 = left(s1, 17), either(s2, s0), either(s3, s1)
        s1, s0 = either(s1, s2), either(s0, s3)
        s2, s3 = either(s2, t), turned(s3, 45)
        store_normals(one, two, out, 2 * i * WIDTH)
    store_wholes(state, 0, s0)
    store_wholes(state, WIDTH, s1)
    store_wholes(state, 2 * WIDTH, s2)
    store_wholes(state, 3 * WIDTH, s3)


@kernel(allocates=True)
def fill_normals_alone(state: WholeArray, out: FloatArray, pairs: int) -> None:
    """``2 pairs`` normals of one run: those that it has in a lane of :func:`fill_normals`."""
    draws = np.zeros((2, padded(pairs)), dtype=np.uint64)
    draw_alone(state, draws, pairs)
    pair_alone(draws, np.empty(2 * WIDTH), out, pairs)


@kernel()
def draw_alone(state: WholeArray, draws: WholeArray, pairs: int) -> None:
    """Two draws for each pair."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for i in range(2 * pairs):
        x = s0 + s3
        draws[i & 1, i >> 1] = ((x << np.uint64(23)) | (x >> np.uint64(41))) + s0
        t = s1 << np.uint64(17)
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= t
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel()
def pair_alone(draws: WholeArray, found: FloatArray, out: FloatArray, pairs: int) -> None:
    """Two normals from two draws, eight times at once."""
    for i in range(0, pairs, WIDTH):
        two = load_wholes(draws, draws.shape[1] + i)
        store_normals(load_wholes(draws, i), two, found, 0)
        for k in range(min(WIDTH, pairs - i)):
            out[2 * (i + k)] = found[k]
            out[2 * (i + k) + 1] = found[WIDTH + k]
