"""Normal numbers: xoshiro256++ (Blackman and Vigna, 2021), then Box and Muller's transform.

Every run has a generator of its own, four words of state. A batch of eight runs takes a step each, a
single run eight steps in a row: the numbers are the same. Two draws make two normals, ``sqrt(-2 log u)
(cos x, sin x)``. As u has 52 bits, none is beyond 8.5; fewer than 1 in 10^16 would be.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    Doubles,
    Integers,
    U64Array,
    bits_as_f64,
    bits_as_u64,
    broadcast,
    fma,
    load,
    select_greater,
    shift_signed,
    sqrt,
    store,
    to_f64,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray

BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
BITS_OF_ONE = 0x3FF0000000000000
LOG_2 = 0.6931471805599453
QUARTER_TURN = 1.5707963267948966
# Coefficients, highest power first; the next term would be below 1e-17 where each is used.
ARTANH = np.array([1.0 / k for k in range(19, 2, -2)])
SINE = np.array([(-1.0) ** k / factorial(2 * k + 1) for k in range(7, 0, -1)])
COSINE = np.array([(-1.0) ** k / factorial(2 * k) for k in range(8, 0, -1)])


@kernel(forceinline=True)
def next_bits(s0: Integers, s1: Integers, s2: Integers, s3: Integers) -> tuple[Integers, ...]:
    """Return 64 random bits and the next state, of eight generators or of a single one."""
    x = s0 + s3
    bits = ((x << 23) | (x >> 41)) + s0
    t, s2, s3 = s1 << 17, s2 ^ s0, s3 ^ s1
    s1, s0, s2 = s1 ^ s2, s0 ^ s3, s2 ^ t
    return bits, s0, s1, s2, (s3 << 45) | (s3 >> 19)


@kernel(forceinline=True)
def polynomial(z: Doubles, coefficients: FloatArray) -> Doubles:
    """Return the value of a polynomial by Horner's rule, highest power first."""
    p = broadcast(coefficients[0])
    for i in range(1, coefficients.size):
        p = fma(p, z, coefficients[i])
    return p


@kernel(forceinline=True)
def log(x: Doubles) -> Doubles:
    """Return the logarithm of x in (0, 1].

    ``x = 2^e m`` with m from ``sqrt(1/2)`` to ``sqrt 2``, and ``log m = 2 artanh((m - 1) / (m + 1))``.
    """
    bits = bits_as_u64(x)
    e = shift_signed(bits - BITS_OF_ROOT_HALF, 52)
    m = bits_as_f64(bits - (e << 52))
    s = (m - 1.0) / (m + 1.0)
    z, twice = s * s, s + s
    return fma(to_f64(e), LOG_2, fma(twice * z, polynomial(z, ARTANH), twice))


@kernel(forceinline=True)
def store_normals(one: Integers, two: Integers, out: FloatArray, at: int) -> None:
    """Store eight normals and eight more at flat position ``at``, made of eight draws and eight more.

    The angle is within an eighth of a turn; three further bits of the second draw say which of sine and
    cosine comes first, and their signs.
    """
    u = 2.0 - bits_as_f64((one >> 12) | BITS_OF_ONE)  # in (0, 1], so that its logarithm is finite
    radius = sqrt(-2.0 * log(u))
    x = (bits_as_f64((two >> 12) | BITS_OF_ONE) - 1.5) * QUARTER_TURN
    z = x * x
    sine, cosine = fma(x * z, polynomial(z, SINE), x), fma(polynomial(z, COSINE), z, 1.0)
    sign, zero = bits_as_f64((two << 63) | BITS_OF_ONE), broadcast(0.0)
    first = bits_as_u64(select_greater(sign, zero, cosine, sine))
    second = bits_as_u64(select_greater(sign, zero, sine, cosine))
    store(out, at, radius * bits_as_f64(first ^ ((two & 2) << 62)))
    store(out, at + WIDTH, radius * bits_as_f64(second ^ ((two & 4) << 61)))


@kernel()
def fill_normals(state: U64Array, out: FloatArray, pairs: int) -> None:
    """Write ``2 pairs`` rows of normals, a column for each run, whose states are columns (4 x 8)."""
    s0, s1 = load(state, 0), load(state, WIDTH)
    s2, s3 = load(state, 2 * WIDTH), load(state, 3 * WIDTH)
    for i in range(pairs):
        one, s0, s1, s2, s3 = next_bits(s0, s1, s2, s3)
        two, s0, s1, s2, s3 = next_bits(s0, s1, s2, s3)
        store_normals(one, two, out, 2 * i * WIDTH)
    store(state, 0, s0)
    store(state, WIDTH, s1)
    store(state, 2 * WIDTH, s2)
    store(state, 3 * WIDTH, s3)


@kernel()
def fill_bits(state: U64Array, bits: U64Array, pairs: int) -> None:
    """Write two draws of a single run for each pair, the first ones in a row and the second ones."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for i in range(2 * pairs):
        bits[i & 1, i >> 1], s0, s1, s2, s3 = next_bits(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel()
def fill_normals_single(
    state: U64Array, out: FloatArray, pairs: int, bits: U64Array, block: FloatArray
) -> None:
    """Write ``2 pairs`` normals of a single run: its column of :func:`fill_normals`.

    ``bits`` (2 x pairs, padded to whole vectors) and ``block`` (2 x 8) are scratch.
    """
    fill_bits(state, bits, pairs)
    for i in range(0, pairs, WIDTH):
        store_normals(load(bits, i), load(bits, bits.shape[1] + i), block, 0)
        for k in range(min(WIDTH, pairs - i)):
            out[2 * (i + k)], out[2 * (i + k) + 1] = block[0, k], block[1, k]
