"""What a local search on the optimistic value asks of every visit: does another arm gain?"""

from __future__ import annotations

from operator import mul as times
from operator import sub as minus

import numpy as np

from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import greater_mask as above
from gbb._kernels.simd import lowest_bit as lowest
from gbb._kernels.simd import store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray

GAIN = 1e-10
"""A move must gain this share of the value: far above rounding, far below one edge in 10^8."""

SWEEPS = 100
"""Give up after this many passes over the agents."""


@kernel(forceinline=True)
def margin_of(mean: float, width: float) -> float:
    """What a move must gain on an allocation worth ``mean + width``."""
    return GAIN * (abs(mean) + abs(width))


@kernel(forceinline=True)
def best_of_lane(
    means: FloatArray,
    norms: FloatArray,
    lane: int,
    now: int,
    radius: float,
    margin: float,
    top: float,
    found: FloatArray,
) -> tuple[int, float]:
    """The best of eight arms from ``lane`` on and the value to beat then; -1 if none beats ``top``.

    Arm ``now`` is left out, and the first of equal arms is taken. ``means`` and ``norms`` are the means
    and squared widths with each arm; those of the best are left in ``found[2]``.
    """
    # mean + radius sqrt(norm2) beats top: a root only where it does
    short = minus(splat(top), means)
    wide = times(splat(radius * radius), norms)
    those = above(means, splat(top)) | above(wide, times(short, short))
    if lane <= now < lane + WIDTH:
        those &= ~(1 << (now - lane))
    best = -1
    if those != 0:
        store(found, 0, means)
        store(found, WIDTH, norms)
        while those != 0:
            a = lowest(those)
            those &= those - 1
            worth = found[0, a] + radius * np.sqrt(max(found[1, a], 0.0))
            if worth > top:
                best, top = lane + a, worth + margin
                found[2, 0], found[2, 1] = found[0, a], max(found[1, a], 0.0)
    return best, top
