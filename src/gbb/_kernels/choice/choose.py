"""The best couple of a table of optimistic values, ties broken at random."""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._support.checks import FloatArray

TIE = 1e-12


@compiled(fastmath={"nnan", "nsz"})
def largest(values: FloatArray) -> float:
    """The largest value; none may be NaN."""
    best = values[0]
    for p in range(1, values.size):
        best = max(best, values[p])
    return float(best)


@compiled(fastmath={"nnan", "nsz"})
def largest_size(values: FloatArray) -> float:
    """The largest absolute value; none may be NaN."""
    size = 0.0
    for p in range(values.size):
        size = max(size, abs(values[p]))
    return float(size)


@compiled()
def first_best(values: FloatArray) -> tuple[int, int]:
    """Position of the first value within 1e-12 of the largest, relatively, and how many there are."""
    best = largest(values)
    floor = best - TIE * abs(best)
    first, ties = 0, 0
    for p in range(values.size - 1, -1, -1):
        if values[p] >= floor:
            first = p
            ties += 1
    return first, ties


@compiled(allocates=True)
def pick(values: FloatArray, rng: np.random.Generator) -> int:
    """Position of the largest value; values within 1e-12 of it, relatively, tie.

    Draws from ``rng`` exactly when there are ties, as ``gbb.policies`` does.
    """
    p, ties = first_best(values)
    if ties <= 1:
        return p
    best = largest(values)
    floor = best - TIE * abs(best)
    chosen = int(rng.random() * ties)
    while chosen > 0:
        p += 1
        chosen -= values[p] >= floor
    return p


@compiled(allocates=True)
def pick_near(values: FloatArray, rng: np.random.Generator) -> int:
    """As :func:`pick`, with values that tie within 1e-12 of the largest magnitude among them.

    Where the best value is next to zero, the rounding of the others decides what is a tie.
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


@compiled(fastmath={"contract"})
def fill_values(mean: FloatArray, width2: FloatArray, radius: float, values: FloatArray) -> None:
    """Optimistic values ``mean + radius sqrt(width2)``."""
    for p in range(values.size):
        values[p] = mean[p] + radius * np.sqrt(width2[p])
