"""Coordinate ascent over allocations on the optimistic objective."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._support.checks import FloatArray, IntArray

GAIN = 1e-10
"""A move must gain this share of the value: far above rounding, far below one edge in 10^8."""

SWEEPS = 100
"""Give up after this many passes over the agents."""


@compiled()
def ascend_optimistic(
    indptr: IntArray,
    indices: NDArray[np.integer],
    table: FloatArray,
    centre: FloatArray,
    radius: float,
    g: FloatArray,
    arms: IntArray,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    The objective is ``<g, centre> + radius ||g||`` with g the sum over directed edges of ``f_ab``.
    Moving an agent from arm a to a' adds ``2 sum_b c_b (f_a'b - f_ab)`` to g, where ``c_b`` of its
    neighbours play b: with the neighbours counted by arm, a visit costs O(degree + K^2 D). ``g`` and
    ``arms`` are changed in place; the value never falls.
    """
    n, K, size = arms.size, table.shape[0], centre.size
    around = np.zeros(K)
    h = np.empty((size, K))
    mean, values = np.empty(K), np.empty(K)
    value = -np.inf
    for _ in range(SWEEPS):
        moved = False
        for agent in range(n):
            if indptr[agent] == indptr[agent + 1]:
                continue
            around[:] = 0.0
            for e in range(indptr[agent], indptr[agent + 1]):
                around[arms[indices[e]]] += 2.0
            h[:, :] = 0.0
            for b in range(K):
                if around[b] > 0.0:
                    add_scaled(h, around[b], table[b])
            now = arms[agent]
            mean[:] = 0.0
            values[:] = 0.0
            for i in range(size):
                rest = g[i] - h[i, now]
                for a in range(K):
                    x = rest + h[i, a]
                    mean[a] += x * centre[i]
                    values[a] += x * x
            for a in range(K):
                values[a] = mean[a] + radius * np.sqrt(values[a])
            best = now
            for a in range(K):
                if values[a] > values[best]:
                    best = a
            scale = abs(mean[now]) + abs(values[now] - mean[now])
            value = values[now]
            if values[best] > value + GAIN * scale:
                value = values[best]
                for i in range(size):
                    g[i] += h[i, best] - h[i, now]
                arms[agent] = best
                moved = True
        if not moved:
            break
    return float(value)


@compiled()
def add_scaled(h: FloatArray, weight: float, table: FloatArray) -> None:
    """``h += weight * table``."""
    for i in range(h.shape[0]):
        for a in range(h.shape[1]):
            h[i, a] += weight * table[i, a]
