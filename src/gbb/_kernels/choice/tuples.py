"""Tuples of arms, one arm per part of the agents: their optimistic values, and which to start from."""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._support.checks import FloatArray, IntArray


@compiled()
def tuple_values(
    table: FloatArray, centre: FloatArray, radius: float, counts: IntArray
) -> FloatArray:
    """Values of all K^k tuples of arms, in O(K^k k D).

    Part p playing ``a_p`` makes ``g = sum_p counts[p, p] f_{a_p a_p} + sum_{q < p} 2 counts[p, q]
    f_{a_p a_q}``, worth ``<g, centre> + radius ||g||``. ``table[b, i, a]`` is coordinate i of ``f_ab``.
    The first part's arm is the leading digit of a tuple's number.
    """
    K, k, size = table.shape[0], counts.shape[0], centre.size
    values = np.empty(K**k)
    arms = np.zeros(k, dtype=np.int64)
    prefix = np.zeros((k, size))
    last = k - 1
    fresh = 0
    start = 0
    while True:
        for p in range(fresh, last):
            extend(table, counts, arms, p, prefix[p], prefix[p + 1])
        fill_last(table, centre, radius, counts, arms, prefix[last], values[start : start + K])
        start += K
        p = last - 1
        while p >= 0 and arms[p] == K - 1:
            arms[p] = 0
            p -= 1
        if p < 0:
            break
        arms[p] += 1
        fresh = p
    return values


@compiled()
def tuple_vector(table: FloatArray, counts: IntArray, code: int) -> FloatArray:
    """The vector g of tuple number ``code``."""
    K, k = table.shape[0], counts.shape[0]
    arms = digits(code, K, k)
    g = np.zeros(table.shape[1])
    for p in range(k):
        extend(table, counts, arms, p, g, g)
    return g


@compiled()
def digits(code: int, K: int, k: int) -> IntArray:
    """The arms of tuple number ``code``, one per part."""
    arms = np.empty(k, dtype=np.int64)
    fill_digits(code, K, arms)
    return arms


@compiled()
def fill_digits(code: int, K: int, arms: IntArray) -> None:
    """Write the arms of tuple number ``code`` to ``arms``."""
    for p in range(arms.size - 1, -1, -1):
        code, arms[p] = divmod(code, K)


@compiled()
def next_start(values: FloatArray, last: int, K: int, k: int) -> int:
    """The best tuple whose set of arms is new, -1 if there is none.

    ``values`` is changed: all tuples with the arms of tuple ``last`` fall to minus infinity.
    """
    best, top = -1, -np.inf
    if k == 2:
        values[last] = values[last % K * K + last // K] = -np.inf
    else:
        old = digits(last, K, k)
        for code in range(values.size):
            if values[code] > -np.inf and same_arms(code, old, K):
                values[code] = -np.inf
    for code in range(values.size):
        if values[code] > top:
            best, top = code, values[code]
    return best


@compiled()
def same_arms(code: int, arms: IntArray, K: int) -> bool:
    """Whether tuple number ``code`` plays the same set of arms as ``arms``."""
    covered = 0
    for _ in range(arms.size):
        arm = code % K
        code //= K
        seen = 0
        for q in range(arms.size):
            if arms[q] == arm:
                seen |= 1 << q
        if seen == 0:
            return False
        covered |= seen
    return covered == (1 << arms.size) - 1


@compiled()
def extend(
    table: FloatArray, counts: IntArray, arms: IntArray, p: int, g: FloatArray, result: FloatArray
) -> None:
    """``g`` with the edges inside part p, and between it and the parts before it, added."""
    a = arms[p]
    own = float(counts[p, p])
    for i in range(g.size):
        result[i] = g[i] + own * table[a, i, a]
    for q in range(p):
        both = 2.0 * counts[p, q]
        for i in range(g.size):
            result[i] += both * table[arms[q], i, a]


@compiled()
def fill_last(
    table: FloatArray,
    centre: FloatArray,
    radius: float,
    counts: IntArray,
    arms: IntArray,
    g: FloatArray,
    values: FloatArray,
) -> None:
    """Values of all arms of the last part, the other parts' arms given."""
    K, p = values.size, counts.shape[0] - 1
    own = float(counts[p, p])
    mean, norm2, x = np.zeros(K), np.zeros(K), np.empty(K)
    for i in range(g.size):
        for a in range(K):
            x[a] = g[i] + own * table[a, i, a]
        for q in range(p):
            both = 2.0 * counts[p, q]
            other = table[arms[q], i]
            for a in range(K):
                x[a] += both * other[a]
        for a in range(K):
            mean[a] += x[a] * centre[i]
            norm2[a] += x[a] * x[a]
    for a in range(K):
        values[a] = mean[a] + radius * np.sqrt(norm2[a])
