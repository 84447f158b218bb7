"""The best couple of a table of optimistic values, ties broken at random."""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray
from gbb._kernels._jit import compiled

TIE = 1e-12


@compiled(fastmath={"nnan", "nsz"})
def largest(values: FloatArray) -> float:
    """The largest value; none may be NaN."""
    best = values[0]
    for p in range(1, values.size):
        best = max(best, values[p])
    return float(best)


@compiled()
def pick(values: FloatArray, rng: np.random.Generator) -> int:
    """Position of the largest value; values within 1e-12 of it, relatively, tie.

    Draws from ``rng`` exactly when there are ties, as ``gbb.policies`` does.
    """
    best = largest(values)
    floor = best - TIE * abs(best)
    ties = 0
    for p in range(values.size):
        ties += values[p] >= floor
    chosen = int(rng.random() * ties) if ties > 1 else 0
    for p in range(values.size):
        if values[p] >= floor:
            if chosen == 0:
                return p
            chosen -= 1
    return 0


@compiled(fastmath={"contract"})
def fill_values(mean: FloatArray, width2: FloatArray, radius: float, values: FloatArray) -> None:
    """Optimistic values ``mean + radius sqrt(width2)``."""
    for p in range(values.size):
        values[p] = mean[p] + radius * np.sqrt(width2[p])
