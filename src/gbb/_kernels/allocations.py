"""Coordinate ascent over the arms that agents may play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled


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
