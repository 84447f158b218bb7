"""Odometers that keep the value of every prefix: all allocations, all numbers of agents per arm."""

from __future__ import annotations

import numpy as np

from gbb._kernels.jit import kernel
from gbb._kernels.pairwise.moves import PairArrays
from gbb._support.checks import FloatArray, IntArray


@kernel(allocates=True)
def enumerate_arms(pairs: PairArrays) -> IntArray:
    """The best of all allowed allocations, the last agents turning fastest."""
    indptr, indices, types, tables, allowed = pairs
    n = indptr.shape[0] - 1
    K = tables.shape[1]
    arms = np.full(n, -1, dtype=np.int64)
    best = np.zeros(n, dtype=np.int64)
    prefix = np.zeros(n + 1)
    best_value = -np.inf
    i = 0
    while i >= 0:
        arms[i] += 1
        while arms[i] < K and not allowed[i, arms[i]]:
            arms[i] += 1
        if arms[i] == K:
            arms[i] = -1
            i -= 1
            continue
        value = prefix[i]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j < i:
                value += tables[types[k], arms[i], arms[j]]
        prefix[i + 1] = value
        if i < n - 1:
            i += 1
        elif value > best_value:
            best_value = value
            best[:] = arms
    return best


@kernel(allocates=True)
def enumerate_counts(n: int, W: FloatArray) -> IntArray:
    """How many agents of a complete graph play each arm at the best, over all compositions of n.

    The value of counts c is ``sum_a W_aa c_a (c_a - 1) / 2 + sum_{a<b} W_ab c_a c_b``.
    """
    K = W.shape[0]
    counts = np.zeros(K, dtype=np.int64)
    best = np.zeros(K, dtype=np.int64)
    left = np.zeros(K + 1, dtype=np.int64)
    left[0] = n
    prefix = np.zeros(K + 1)
    best_value = -np.inf
    a = 0
    while True:
        while a < K:
            if a == K - 1:
                counts[a] = left[a]
            c = counts[a]
            value = float(prefix[a] + W[a, a] * (c * (c - 1) / 2.0))
            if c > 0:
                for b in range(a):
                    value += W[a, b] * (c * counts[b])
            prefix[a + 1] = value
            left[a + 1] = left[a] - c
            a += 1
        if prefix[K] > best_value:
            best_value = float(prefix[K])
            best[:] = counts
        a = K - 2
        while a >= 0 and counts[a] == left[a]:
            counts[a] = 0
            a -= 1
        if a < 0:
            return best
        counts[a] += 1
