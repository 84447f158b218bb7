"""The best tuple of arms over the parts, and what every local search from it asks.

The searches are :mod:`gbb._kernels.index.search_linear` on sums of rewards, and on optimistic values
:mod:`gbb._kernels.index.search_counts` and :mod:`gbb._kernels.index.search_dense`.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels.index.layout import Layout
from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast, greater_mask, lowest_bit, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

TIE = 1e-12

GAIN = 1e-10
"""A move must gain this share of the value: far above rounding, far below one edge in 10^8."""

SWEEPS = 100
"""Give up after this many passes over the agents."""


# Tuples


@kernel(fastmath={"nnan", "nsz"})
def largest(values: FloatArray, count: int) -> float:
    """Return the largest of the first ``count`` values; none may be NaN."""
    best = values[0]
    for p in range(1, count):
        best = max(best, values[p])
    return float(best)


@kernel(fastmath={"nnan", "nsz"})
def largest_size(values: FloatArray, count: int) -> float:
    """Return the largest absolute value of the first ``count``; none may be NaN."""
    size = 0.0
    for p in range(count):
        size = max(size, abs(values[p]))
    return float(size)


@kernel(forceinline=True)
def pick_near(values: FloatArray, count: int, size: float, rng: np.random.Generator) -> int:
    """Return the position of the largest value; values within 1e-12 of the largest ``size`` tie.

    If the best value is next to zero, the rounding of the others decides what is a tie. Draws from
    ``rng`` exactly when there are ties, as ``gbb.policies`` does.
    """
    floor = largest(values, count) - TIE * size
    ties = 0
    for p in range(count):
        ties += values[p] >= floor
    left = 0 if ties <= 1 else int(rng.random() * ties)
    for p in range(count):
        if values[p] >= floor:
            if left == 0:
                return p
            left -= 1
    return 0


@kernel(forceinline=True)
def next_start(values: FloatArray, count: int, last: int, old: IntArray, K: int, tie: float) -> int:
    """Return the best tuple whose set of arms is new, -1 if there is none.

    The first of those within ``tie`` of the largest value. All tuples with the arms of tuple ``last``,
    ``old``, fall to minus infinity.
    """
    if old.size == 2:
        values[last] = values[old[1] * K + old[0]] = -np.inf
    else:
        for code in range(count):
            if values[code] > -np.inf and same_arms(code, old, K):
                values[code] = -np.inf
    top = largest(values, count)
    if top > -np.inf:
        for code in range(count):
            if values[code] >= top - tie:
                return code
    return -1


@kernel()
def same_arms(code: int, arms: IntArray, K: int) -> bool:
    """Return whether tuple number ``code`` plays the same set of arms as ``arms``."""
    covered = 0
    for _ in range(arms.size):
        arm = code % K
        code //= K
        seen = 0
        for q in range(arms.size):
            if arms[q] == arm:
                seen |= 1 << q
        if seen == 0:
            return False
        covered |= seen
    return covered == (1 << arms.size) - 1


@kernel(forceinline=True)
def play_tuple(layout: Layout, code: int, chosen: IntArray, played: IntArray) -> None:
    """Fill in the arms that the parts choose in tuple number ``code``, and those that groups play."""
    K = layout.substitute.shape[1]
    for p in range(chosen.size - 1, -1, -1):  # the first part's arm is the leading digit
        code, chosen[p] = divmod(code, K)
    for c in range(played.size):
        played[c] = layout.substitute[c, chosen[layout.part[c]]]


# Allocations


@kernel()
def draw_arms(
    penalty: FloatArray, K: int, free: bool, rng: np.random.Generator, arms: IntArray
) -> None:
    """Let every agent draw one of its allowed arms uniformly; ``free`` if they may play all."""
    for i in range(arms.size):
        if free:
            arms[i] = int(rng.random() * K)
        else:
            draw_allowed(penalty, i, K, rng, arms)


@kernel()
def draw_allowed(
    penalty: FloatArray, i: int, K: int, rng: np.random.Generator, arms: IntArray
) -> None:
    """Let agent i draw one of its allowed arms uniformly."""
    count = 0
    for a in range(K):
        count += penalty[i, a] == 0.0
    left = int(rng.random() * count)
    for a in range(K):
        if penalty[i, a] == 0.0:
            if left == 0:
                arms[i] = a
                break
            left -= 1


@kernel(forceinline=True)
def is_duplicate(optima: IntArray, found: int, moved: int) -> bool:
    """Return whether allocation number ``found`` is one of those before it, after ``moved`` has moved.

    Agents are compared from that one on: it, and those whose turn is still to come, differ most often.
    """
    n = optima.shape[1]
    for e in range(found):
        left, i = n, moved
        while left > 0 and optima[found, i] == optima[e, i]:
            left -= 1
            i = i + 1 if i + 1 < n else 0
        if left == 0:
            return True
    return False


@kernel(forceinline=True)
def margin_of(mean: float, width: float) -> float:
    """Return what a move must gain on an allocation worth ``mean + width``."""
    return GAIN * (abs(mean) + abs(width))


@kernel(forceinline=True)
def best_of_vector(
    means: FloatArray,
    norms: FloatArray,
    lane: int,
    current: int,
    radius: float,
    margin: float,
    top: float,
    best: FloatArray,
) -> tuple[int, float]:
    """Return the best of eight arms from ``lane`` on, -1 if none beats ``top``; and the value to beat.

    Arm ``current`` is left out, and the first of equal arms is taken. ``means`` and ``norms`` are the
    means and squared widths with each arm; those of the best are left in ``best[2]``.
    """
    # mean + radius sqrt(norm2) beats top: a root only where it does
    short = top - means
    wide = radius * radius * norms
    those = greater_mask(means, broadcast(top)) | greater_mask(wide, short * short)
    if lane <= current < lane + WIDTH:
        those &= ~(1 << (current - lane))
    arm = -1
    if those != 0:
        store(best, 0, means)
        store(best, WIDTH, norms)
        while those != 0:
            a = lowest_bit(those)
            those &= those - 1
            value = best[0, a] + radius * np.sqrt(max(best[1, a], 0.0))
            if value > top:
                arm, top = lane + a, value + margin
                best[2, 0], best[2, 1] = best[0, a], max(best[1, a], 0.0)
    return arm, top
