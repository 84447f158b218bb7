"""Local moves of agents between the parts of a k-cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._checks import IntArray
from gbb._kernels._jit import compiled


@compiled()
def improve_parts(indptr: IntArray, indices: NDArray[np.integer], k: int, parts: IntArray) -> None:
    """Agents in turn join the part with fewest of their neighbours until none gains, in place.

    Agents with part -1 are not placed yet and count for nothing until their turn comes.
    """
    n = parts.size
    near = np.empty(k, dtype=np.int64)
    moved = True
    while moved:
        moved = False
        for i in range(n):
            near[:] = 0
            for e in range(indptr[i], indptr[i + 1]):
                part = parts[indices[e]]
                if part >= 0:
                    near[part] += 1
            best = max(parts[i], 0)
            for part in range(k):
                if near[part] < near[best]:
                    best = part
            if best != parts[i]:
                parts[i] = best
                moved = True
