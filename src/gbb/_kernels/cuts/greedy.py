"""Loops over the neighbours of every agent in turn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(allocates=True)
def greedy_sides(indptr: IntArray, indices: NDArray[np.integer]) -> NDArray[np.int8]:
    """Side (0 for V1, 1 for V2) of each agent by the paper's Approx-MAX-CUT, in O(n + m)."""
    n = indptr.shape[0] - 1
    sides = np.full(n, -1, dtype=np.int8)
    for i in range(n):
        n1 = 0
        n2 = 0
        for k in range(indptr[i], indptr[i + 1]):
            side = sides[indices[k]]
            if side == 0:
                n1 += 1
            elif side == 1:
                n2 += 1
        sides[i] = 1 if n1 > n2 else 0
    return sides


@kernel(allocates=True)
def greedy_parts(indptr: IntArray, indices: NDArray[np.integer], k: int) -> IntArray:
    """Part (0..k-1) of each agent, in order, the first that holds fewest of its neighbours."""
    n = indptr.shape[0] - 1
    parts = np.full(n, -1, dtype=np.int64)
    near = np.empty(k, dtype=np.int64)
    for i in range(n):
        near[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            part = parts[indices[p]]
            if part >= 0:
                near[part] += 1
        best = 0
        for part in range(1, k):
            if near[part] < near[best]:
                best = part
        parts[i] = best
    return parts
