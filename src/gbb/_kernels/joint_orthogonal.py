"""Values of tuples and local search when different pairs of arms are orthogonal.

Then A is diagonal on the pairs: an allocation whose directed edges play pair s ``c_s`` times is worth
``sum c_s mu_s + radius sqrt(sum c_s^2 var_s)``, and only the counts need to be kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled
from gbb._kernels.search import GAIN, SWEEPS


@compiled()
def tuple_values_orthogonal(
    mu: FloatArray, var: FloatArray, radius: float, counts: IntArray
) -> FloatArray:
    """Values of all K^k tuples of arms, in O(K^k k^2).

    ``mu`` and ``var`` are those of the pair of arms (K x K, symmetric); see
    :func:`gbb._kernels.tuples.tuple_values`.
    """
    K, k = mu.shape[0], counts.shape[0]
    values = np.empty(K**k)
    arms = np.zeros(k, dtype=np.int64)
    c = np.zeros((K, K))
    for code in range(values.size):
        for p in range(k):
            for q in range(p + 1):
                low, high = min(arms[p], arms[q]), max(arms[p], arms[q])
                c[low, high] += counts[p, p] if p == q else 2 * counts[p, q]
        mean = 0.0
        norm2 = 0.0
        for p in range(k):
            for q in range(p + 1):
                low, high = min(arms[p], arms[q]), max(arms[p], arms[q])
                mean += c[low, high] * mu[low, high]
                norm2 += c[low, high] * c[low, high] * var[low, high]
                c[low, high] = 0.0  # a pair that comes again has been counted
        values[code] = mean + radius * np.sqrt(norm2)
        p = k - 1
        while p >= 0 and arms[p] == K - 1:
            arms[p] = 0
            p -= 1
        if p >= 0:
            arms[p] += 1
    return values


@compiled()
def ascend_orthogonal(
    indptr: IntArray,
    indices: NDArray[np.integer],
    mu: FloatArray,
    var: FloatArray,
    radius: float,
    arms: IntArray,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    A visit costs O(degree + K min(degree, K)). ``arms`` is changed in place.
    """
    n, K = arms.size, mu.shape[0]
    c = np.zeros((K, K))  # of ordered pairs: c_s is c[a, b] + c[b, a], or c[a, a]
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            c[arms[i], arms[indices[e]]] += 1.0
    for a in range(K):
        for b in range(a):
            c[a, b] = c[b, a] = c[a, b] + c[b, a]
    around, near = np.zeros(K), np.empty(K, dtype=np.int64)
    means, values = np.empty(K), np.empty(K)
    for _ in range(SWEEPS):
        moved = False
        mean, norm2 = totals(c, mu, var)
        for agent in range(n):
            if indptr[agent] == indptr[agent + 1]:
                continue
            size = 0
            for e in range(indptr[agent], indptr[agent + 1]):
                b = arms[indices[e]]
                if around[b] == 0.0:
                    near[size] = b
                    size += 1
                around[b] += 2.0
            now = arms[agent]
            rest_mean, rest_norm2 = mean, norm2
            for j in range(size):
                b = near[j]
                add(c, now, b, -around[b])
                rest_mean -= around[b] * mu[now, b]
                rest_norm2 -= around[b] * (2.0 * c[now, b] + around[b]) * var[now, b]
            for a in range(K):
                one, two = rest_mean, rest_norm2
                for j in range(size):
                    b = near[j]
                    one += around[b] * mu[a, b]
                    two += around[b] * (2.0 * c[a, b] + around[b]) * var[a, b]
                means[a] = one
                values[a] = one + radius * np.sqrt(max(two, 0.0))
            best = now
            for a in range(K):
                if values[a] > values[best]:
                    best = a
            scale = abs(means[now]) + abs(values[now] - means[now])
            if values[best] <= values[now] + GAIN * scale:
                best = now
            if best != now:
                arms[agent] = best
                moved = True
                mean = means[best]
                norm2 = rest_norm2
                for j in range(size):
                    b = near[j]
                    norm2 += around[b] * (2.0 * c[best, b] + around[b]) * var[best, b]
            for j in range(size):
                b = near[j]
                add(c, best, b, around[b])
                around[b] = 0.0
        if not moved:
            break
    mean, norm2 = totals(c, mu, var)
    return float(mean + radius * np.sqrt(norm2))


@compiled(inline="always")
def add(c: FloatArray, a: int, b: int, amount: float) -> None:
    """Add to the count of the unordered pair (a, b)."""
    c[a, b] += amount
    if a != b:
        c[b, a] = c[a, b]


@compiled()
def totals(c: FloatArray, mu: FloatArray, var: FloatArray) -> tuple[float, float]:
    """``sum c_s mu_s`` and ``sum c_s^2 var_s`` over unordered pairs."""
    mean = 0.0
    norm2 = 0.0
    for a in range(c.shape[0]):
        for b in range(a + 1):
            mean += c[a, b] * mu[a, b]
            norm2 += c[a, b] * c[a, b] * var[a, b]
    return mean, norm2
