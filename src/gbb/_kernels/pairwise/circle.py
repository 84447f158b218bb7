"""The order of the agents of a circle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(allocates=True)
def order_around(indptr: IntArray, indices: NDArray[np.integer]) -> IntArray:
    """The agents of a circle in the order of a walk around it, from agent 0."""
    n = indptr.shape[0] - 1
    order = np.empty(n, dtype=np.int64)
    before = -1
    i = 0
    for place in range(n):
        order[place] = i
        after = indices[indptr[i]]
        if after == before:
            after = indices[indptr[i] + 1]
        before = i
        i = after
    return order
