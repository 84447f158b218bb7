"""All cuts of a small graph in Gray-code order, one flip apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(allocates=True)
def enumerate_cuts(
    indptr: IntArray, indices: NDArray[np.integer], state: IntArray, steps: int
) -> bool:
    """Visit up to ``steps`` more cuts; returns whether all were visited.

    The last agent stays on side 0, which loses nothing. ``state`` holds the number of cuts
    visited, the current cut's sides as bits and its size, and the best one's sides and size; it
    starts as zeros and is updated in place.
    """
    n = indptr.shape[0] - 1
    adjacency = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            adjacency[i] |= np.int64(1) << np.int64(indices[k])
    visited, sides, size, best_sides, best_size = state
    last = np.int64(1) << np.int64(n - 1)
    stop = min(last, visited + steps)
    for code in range(visited + 1, stop):
        i = 0
        while (code >> i) & 1 == 0:
            i += 1
        bits = adjacency[i]
        other = bits & sides if (sides >> i) & 1 else bits & ~sides
        same = 0
        while other:
            other &= other - 1
            same += 1
        size += 2 * same - (indptr[i + 1] - indptr[i])
        sides ^= np.int64(1) << np.int64(i)
        if size > best_size:
            best_size = size
            best_sides = sides
    state[0] = stop - 1
    state[1] = sides
    state[2] = size
    state[3] = best_sides
    state[4] = best_size
    return bool(stop >= last)
