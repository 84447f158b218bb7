"""Loops over allocations: enumeration, arm counts and coordinate ascent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled


@compiled()
def enumerate_allocations(
    indptr: IntArray, indices: NDArray[np.integer], W: FloatArray
) -> IntArray:
    """The best of all K^n allocations, by an odometer that keeps the value of every prefix."""
    n = indptr.shape[0] - 1
    K = W.shape[0]
    arms = np.zeros(n, dtype=np.int64)
    best = np.zeros(n, dtype=np.int64)
    prefix = np.zeros(n + 1)
    best_value = -np.inf
    i = 0
    while True:
        while i < n:  # values of the prefixes that changed
            value = prefix[i]
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j < i:
                    value += W[arms[i], arms[j]]
            prefix[i + 1] = value
            i += 1
        if prefix[n] > best_value:
            best_value = float(prefix[n])
            best[:] = arms
        i = n - 1
        while i >= 0 and arms[i] == K - 1:
            arms[i] = 0
            i -= 1
        if i < 0:
            return best
        arms[i] += 1


@compiled()
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


@compiled()
def ascend(
    indptr: IntArray, indices: NDArray[np.integer], W: FloatArray, arms: IntArray
) -> IntArray:
    """Coordinate ascent from ``arms``: agents in turn take their best arm until none gains."""
    n = indptr.shape[0] - 1
    K = W.shape[0]
    arms = arms.copy()
    gains = np.empty(K)
    moved = True
    while moved:
        moved = False
        for i in range(n):
            gains[:] = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                other = arms[indices[k]]
                for a in range(K):
                    gains[a] += W[other, a]
            now = arms[i]
            best = now
            for a in range(K):
                if gains[a] > gains[best] + 1e-12 * abs(gains[best]):
                    best = a
            if best != now:
                arms[i] = best
                moved = True
    return arms


@compiled()
def ascend_within(
    indptr: IntArray,
    indices: NDArray[np.integer],
    W: FloatArray,
    arms: IntArray,
    allowed: NDArray[np.bool_],
) -> IntArray:
    """Coordinate ascent in which agent i takes arm a only where ``allowed[i, a]``.

    An agent that starts with a forbidden arm takes its best allowed one.
    """
    n = indptr.shape[0] - 1
    K = W.shape[0]
    arms = arms.copy()
    gains = np.empty(K)
    moved = True
    while moved:
        moved = False
        for i in range(n):
            gains[:] = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                other = arms[indices[k]]
                for a in range(K):
                    gains[a] += W[other, a]
            now = arms[i]
            best = now if allowed[i, now] else -1
            for a in range(K):
                if allowed[i, a] and (
                    best < 0 or gains[a] > gains[best] + 1e-12 * abs(gains[best])
                ):
                    best = a
            if best != now:
                arms[i] = best
                moved = True
    return arms
