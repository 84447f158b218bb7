"""Agents that a search on counts passes over, as they would stay, where all links are of one table.

In small or dense networks where all arms are allowed: an agent with the same arm and the same arms
around it as another that has stayed since the last move.

In large and sparse ones: an agent that has stayed, while no neighbour has moved and none of its arms
can gain yet. The square root is concave, so that with ``slope = radius / (2 sqrt(norm2))`` another arm
gains at most what it adds to ``mean + slope norm2``. Where it changes counts c by u, these are ``<u,
mean>``, the sum of ``u_s`` times *slopes* ``2 slope c_s var_s``, and ``slope sum u_s^2 var_s``. A move
elsewhere changes neither u nor the means. With w the weight around the agent, it adds to the sum at most
w times what sets the changes of two slopes apart, and to the last term at most ``4 w^2 var`` times the
change of slope. Over all moves, and with the largest w for one of two, this is w times the *drift*; the
agent's limit is the drift that makes up for what its best arm is short of.
"""

from __future__ import annotations

from operator import mul as times
from operator import sub as minus

from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    greater_mask as above,
)
from gbb._kernels.simd import (
    load,
    store,
)
from gbb._kernels.simd import (
    lowest_bit as lowest,
)
from gbb._kernels.simd import (
    max_element as largest_lane,
)
from gbb._kernels.simd import (
    select_greater as where_above,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray


@kernel(forceinline=True)
def is_alike(around: FloatArray, one: int, other: int) -> bool:
    """Whether ``other`` is a slot (not -1) with the same arms around it."""
    same = other >= 0
    for b in range(around.shape[1]):
        same = same and around[one, b] == around[other, b]
    return same


@kernel(forceinline=True)
def tilt(slopes: FloatArray, counts: FloatArray, var: FloatArray, slope: float) -> float:
    """Renew ``slopes``; returns how far apart, at most, two of them have moved."""
    double, up, down = splat(2.0 * slope), splat(0.0), splat(0.0)
    for at in range(0, slopes.size, WIDTH):
        old, new = load(slopes, at), times(times(double, load(counts, at)), load(var, at))
        rise, fall = minus(new, old), minus(old, new)
        up, down = where_above(rise, up, rise, up), where_above(fall, down, fall, down)
        store(slopes, at, new)
    return largest_lane(up) + largest_lane(down)


@kernel(forceinline=True)
def largest_var(var: FloatArray) -> float:
    """The largest variance."""
    top = splat(0.0)
    for at in range(0, var.size, WIDTH):
        x = load(var, at)
        top = where_above(x, top, x, top)
    return largest_lane(top)


@kernel(forceinline=True)
def next_due(
    limits: FloatArray, drift: float, i: int, stop: int, block: int, those: int
) -> tuple[int, int, int]:
    """The first agent from i on whose limit the drift is above; ``stop`` if there is none.

    ``those`` are, as bits, the agents of the eight from ``block`` on that are still due. They are
    returned so that the next call need not reload a limit that was just written, which would stall for
    as long as a whole visit. Once i leaves the block another is loaded; after a move the caller passes
    ``block = -WIDTH``.
    """
    now = splat(drift)
    if not block <= i < block + WIDTH:
        block = i - i % WIDTH
        those = above(now, load(limits, block)) & (-1 << (i - block))
    while those == 0 and block + WIDTH < stop:
        block += WIDTH
        those = above(now, load(limits, block))
    return min(block + lowest(those), stop) if those != 0 else stop, block, those
