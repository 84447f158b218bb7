"""The best couple of a table of optimistic values, ties broken at random."""

from __future__ import annotations

import numpy as np
from numba import njit

from gbb._checks import FloatArray


@njit(cache=True, nogil=True)
def pick(values: FloatArray, rng: np.random.Generator) -> int:
    """Position of the largest value; values within 1e-12 of it, relatively, tie.

    Draws from ``rng`` exactly when there are ties, as ``gbb.policies`` does.
    """
    best = values[0]
    for p in range(1, values.size):
        if values[p] > best:
            best = values[p]
    floor = best - 1e-12 * abs(best)
    ties = 0
    last = 0
    for p in range(values.size):
        if values[p] >= floor:
            ties += 1
            last = p
    if ties == 1:
        return last
    chosen = int(rng.random() * ties)
    for p in range(values.size):
        if values[p] >= floor:
            if chosen == 0:
                return p
            chosen -= 1
    return last
