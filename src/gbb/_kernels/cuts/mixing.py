"""The mixing method: block coordinate descent on the low-rank Max-Cut relaxation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

Vectors = NDArray[np.float32]


@kernel(allocates=True, fastmath=True)
def mix(indptr: IntArray, indices: NDArray[np.integer], V: Vectors, first: int, last: int) -> float:
    """Turn the unit vector of each agent in first..last-1 away from the sum of its neighbours'.

    Returns by how much the sum over edges of the products fell.
    """
    rank = V.shape[1]
    total = np.empty(rank, dtype=np.float32)
    fall = 0.0
    for i in range(first, last):
        total[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for q in range(rank):
                total[q] += V[j, q]
        square = 0.0
        product = 0.0
        for q in range(rank):
            square += total[q] ** 2
            product += total[q] * V[i, q]
        norm = np.sqrt(square)
        if norm > 0.0:
            fall += norm + product
            for q in range(rank):
                V[i, q] = -total[q] / norm
    return fall


@kernel(allocates=True)
def pulls(indptr: IntArray, indices: NDArray[np.integer], V: Vectors) -> FloatArray:
    """Length of the sum of each agent's neighbours' vectors: its multiplier in the dual."""
    n = indptr.shape[0] - 1
    lengths = np.empty(n)
    total = np.empty(V.shape[1])
    for i in range(n):
        total[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            for q in range(V.shape[1]):
                total[q] += V[indices[k], q]
        lengths[i] = np.sqrt((total**2).sum())
    return lengths
