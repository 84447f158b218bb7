"""Two-colouring of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._support.checks import IntArray


@compiled(allocates=True)
def two_colouring(indptr: IntArray, indices: NDArray[np.integer]) -> NDArray[np.int8]:
    """Side 0 or 1 of each agent by breadth-first search, or an empty array at an odd circle.

    The smallest agent of every connected component is on side 0.
    """
    n = indptr.shape[0] - 1
    sides = np.full(n, -1, dtype=np.int8)
    queue = np.empty(n, dtype=indices.dtype)
    for root in range(n):
        if sides[root] >= 0:
            continue
        sides[root] = 0
        queue[0] = root
        head = 0
        tail = 1
        while head < tail:
            i = queue[head]
            head += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if sides[j] < 0:
                    sides[j] = 1 - sides[i]
                    queue[tail] = j
                    tail += 1
                elif sides[j] == sides[i]:
                    return np.empty(0, dtype=np.int8)
    return sides
