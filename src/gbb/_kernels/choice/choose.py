"""The best couple of a table of optimistic values, ties broken at random."""

from __future__ import annotations

import numpy as np

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray

TIE = 1e-12


@kernel(fastmath={"nnan", "nsz"})
def largest(values: FloatArray) -> float:
    """The largest value; none may be NaN."""
    best = values[0]
    for p in range(1, values.size):
        best = max(best, values[p])
    return float(best)


@kernel(fastmath={"nnan", "nsz"})
def largest_size(values: FloatArray) -> float:
    """The largest absolute value; none may be NaN."""
    size = 0.0
    for p in range(values.size):
        size = max(size, abs(values[p]))
    return float(size)


@kernel(allocates=True)
def pick_near(values: FloatArray, rng: np.random.Generator) -> int:
    """Position of the largest value; values within 1e-12 of the largest magnitude of all tie.

    Where the best value is next to zero, the rounding of the others decides what is a tie. Draws from
    ``rng`` exactly when there are ties, as ``gbb.policies`` does.
    """
    floor = largest(values) - TIE * largest_size(values)
    ties = 0
    for p in range(values.size):
        ties += values[p] >= floor
    left = 0 if ties <= 1 else int(rng.random() * ties)
    for p in range(values.size):
        if values[p] >= floor:
            if left == 0:
                return p
            left -= 1
    return 0
