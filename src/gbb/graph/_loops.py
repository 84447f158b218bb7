"""Compiled loops over the edges of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._support.checks import IntArray


@compiled()
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


@compiled()
def reverse_edges(indptr: IntArray, indices: NDArray[np.integer], out: IntArray) -> bool:
    """Write the position of edge (j, i) for each edge (i, j) of a sorted pattern.

    Returns whether there is one for each. Neighbours rise, so the agents that name j as a neighbour
    do so in the order of j's own list: one pass suffices.
    """
    n = indptr.shape[0] - 1
    place = indptr[:-1].copy()
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            back = place[j]
            if back == indptr[j + 1] or indices[back] != i:
                return False
            place[j] += 1
            out[k] = back
    return True
