"""Values of tuples of arms over the parts when different pairs of arms are orthogonal.

Tuples whose directed edges play pair s ``c_s`` times are worth ``sum c_s pay_s`` without optimism, and
``sum c_s mean_s + radius sqrt(sum c_s^2 var_s)`` with it.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.pairs_search import MEAN, VAR
from gbb._support.checks import FloatArray, IntArray


@compiled()
def couple_values(
    pairs: FloatArray, pay: FloatArray, radius: float, counts: IntArray, values: FloatArray
) -> None:
    """Values of all K^2 couples over two parts; :func:`tuple_values` for k = 2."""
    K = pairs.shape[1]
    mu = pay[0] if radius == 0.0 else pairs[MEAN]
    w1, w, w2 = float(counts[0, 0]), 2.0 * counts[0, 1], float(counts[1, 1])
    for a in range(K):
        first = w1 * mu[a, a]
        for b in range(K):
            second = w * mu[a, b] + w2 * mu[b, b]
            values[a * K + b] = first + second
        if radius == 0.0:
            continue
        first = w1 * w1 * pairs[VAR, a, a]
        for b in range(K):
            second = w * w * pairs[VAR, a, b] + w2 * w2 * pairs[VAR, b, b]
            values[a * K + b] += radius * np.sqrt(first + second)
        # the pairs of (a, a) are one and the same
        one = mu[a, a] + radius * np.sqrt(pairs[VAR, a, a])
        values[a * K + a] = (w1 + w + w2) * one


@compiled()
def tuple_values(
    pairs: FloatArray, pay: FloatArray, radius: float, counts: IntArray, values: FloatArray
) -> None:
    """Values of all K^k tuples of arms, in O(K^k k^2).

    The first part's arm is the leading digit of a tuple's number.
    """
    K, k = pairs.shape[1], counts.shape[0]
    mu = pay[0] if radius == 0.0 else pairs[MEAN]
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
                norm2 += c[low, high] * c[low, high] * pairs[VAR, low, high]
                c[low, high] = 0.0  # a pair that comes again has been counted
        values[code] = mean + radius * np.sqrt(norm2)
        p = k - 1
        while p >= 0 and arms[p] == K - 1:
            arms[p] = 0
            p -= 1
        if p >= 0:
            arms[p] += 1
