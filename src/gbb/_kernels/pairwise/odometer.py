"""Every allocation in turn, the last agents turning fastest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._kernels.pairwise.moves import Allowed, Types
from gbb._support.checks import FloatArray, IntArray


@compiled()
def enumerate_arms(
    indptr: IntArray,
    indices: NDArray[np.integer],
    types: Types,
    tables: FloatArray,
    allowed: Allowed,
) -> IntArray:
    """The best of all allowed allocations, by an odometer that keeps the value of every prefix."""
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
