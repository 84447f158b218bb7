"""Local search on the optimistic value of an allocation, for any estimate.

An allocation's edges add up to ``W = sum w f``, a row per block, worth ``<W, centre> + radius ||W||``.
``tables`` holds by block and coordinate what the entries add, by table, neighbour's arm and own arm;
behind the coordinates stands ``<f, centre>``, so the last number of a row of W is what it pays.
"""

from __future__ import annotations

from operator import add as plus
from operator import mul as times
from operator import sub as minus
from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.links import Links, is_known
from gbb._kernels.choice.reply import SWEEPS, best_of_lane, margin_of
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    fma as times_plus,
)
from gbb._kernels.simd import (
    load,
    store,
)
from gbb._kernels.simd import (
    load_broadcast as spread,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Whitened(NamedTuple):
    """What the search is on, and its scratch space.

    Attributes
    ----------
    tables
        What entries add, by block, coordinate and column; columns are tables, neighbour's and own arms.
    block, at
        Of every entry: the block of its table, and the column where it starts.
    segment, entry
        Where the segments of each agent start, and where the entries of each, all of one block, do.
    blocks
        The blocks in play.
    W, norm2s, h
        Scratch space: the sum of the allocation and its squared norm by block, and what the segments of
        an agent add by own arm.
    found
        See :func:`~gbb._kernels.choice.reply.best_of_lane`.
    """

    tables: FloatArray
    block: IntArray
    at: IntArray
    segment: IntArray
    entry: IntArray
    blocks: IntArray
    W: FloatArray
    norm2s: FloatArray
    h: FloatArray
    found: FloatArray


@kernel(forceinline=True)
def sum_entries(links: Links, white: Whitened, ends: IntArray, found: int) -> None:
    """``W`` of the allocation ``ends[found]``; a link is listed by both ends, and counted once."""
    W, width = white.W, white.h.shape[2]
    for q in range(white.blocks.size):
        W[white.blocks[q], :] = 0.0
    for i in range(ends.shape[1]):
        for e in range(links.start[i], links.start[i + 1]):
            j = links.other[e]
            if j > i:
                k, w = white.block[e], links.weight[e]
                x = white.at[e] + ends[found, j] * width + ends[found, i]
                for c in range(W.shape[1]):
                    W[k, c] += w * white.tables[k, c, x]


@kernel(forceinline=True, fastmath={"contract", "reassoc"})
def norm2_of_block(W: FloatArray, k: int) -> float:
    """``||W||^2`` in block k."""
    norm2 = 0.0
    for c in range(W.shape[1] - 1):
        norm2 += W[k, c] * W[k, c]
    return norm2


@kernel(forceinline=True)
def sum_blocks(links: Links, white: Whitened, ends: IntArray, found: int) -> tuple[float, float]:
    """``<W, centre>`` and ``||W||^2`` of the allocation ``ends[found]``."""
    W, mean, norm2 = white.W, 0.0, 0.0
    sum_entries(links, white, ends, found)
    for q in range(white.blocks.size):
        k = white.blocks[q]
        white.norm2s[k] = norm2_of_block(W, k)
        mean += W[k, W.shape[1] - 1]
        norm2 += white.norm2s[k]
    return mean, norm2


@kernel(forceinline=True)
def gather_entries(
    links: Links, white: Whitened, s: int, begin: int, end: int, ends: IntArray, found: int
) -> None:
    """``h[s]``: what the entries from ``begin`` to ``end`` add to their block by the agent's own arm."""
    tables, h = white.tables, white.h
    rows, width, columns = h.shape[1], h.shape[2], tables.shape[2]
    first = white.block[begin] * rows * columns
    for e in range(begin, end, 2):
        f = min(e + 1, end - 1)
        one = first + white.at[e] + ends[found, links.other[e]] * width
        two = first + white.at[f] + ends[found, links.other[f]] * width
        v, w = splat(links.weight[e]), splat(links.weight[f])
        for lane in range(0, width, WIDTH):
            for c in range(rows):
                to = (s * rows + c) * width + lane
                x = times(v, load(tables, one + c * columns + lane))
                if f > e:
                    x = times_plus(w, load(tables, two + c * columns + lane), x)
                store(h, to, x if e == begin else plus(x, load(h, to)))


@kernel(forceinline=True)
def best_reply(
    white: Whitened, bars: FloatArray, i: int, now: int, radius: float, mean: float, norm2: float
) -> int:
    """The agent's best arm, its own unless another gains; see :func:`best_of_lane` for what it leaves.

    ``mean`` and ``norm2`` are those of the whole allocation; ``h`` has been gathered.
    """
    W, h, block, entry = white.W, white.h, white.block, white.entry
    size, width = W.shape[1] - 1, h.shape[2]
    rows, first = size + 1, white.segment[i]
    count = white.segment[i + 1] - first
    rest_mean, rest_norm2 = 0.0, 0.0
    if W.shape[0] > 1:
        rest_mean, rest_norm2 = mean, norm2
        for s in range(count):
            rest_mean -= W[block[entry[first + s]], size]
            rest_norm2 -= white.norm2s[block[entry[first + s]]]
    width_now = radius * np.sqrt(norm2)
    margin = margin_of(mean, width_now)
    best, top = now, mean + width_now + margin
    for lane in range(0, width if count > 0 else 0, WIDTH):
        means = plus(load(bars, i * width + lane), splat(rest_mean))
        norms, more = splat(rest_norm2), splat(0.0)
        for s in range(count):
            row, up = s * rows * width, block[entry[first + s]] * rows
            for c in range(0, size - 1, 2):
                p = row + c * width
                x = plus(load(h, p + lane), minus(spread(W, up + c), spread(h, p + now)))
                norms = times_plus(x, x, norms)
                p += width
                x = plus(load(h, p + lane), minus(spread(W, up + c + 1), spread(h, p + now)))
                more = times_plus(x, x, more)
            p = row + size * width
            if size % 2 == 1:
                q = p - width
                x = plus(load(h, q + lane), minus(spread(W, up + size - 1), spread(h, q + now)))
                norms = times_plus(x, x, norms)
            x = plus(load(h, p + lane), minus(spread(W, up + size), spread(h, p + now)))
            means = plus(means, x)
        norms = plus(norms, more)
        found, top = best_of_lane(means, norms, lane, now, radius, margin, top, white.found)
        if found >= 0:
            best = found
    return best


@kernel(forceinline=True)
def ascend_whitened(
    links: Links, white: Whitened, radius: float, ends: IntArray, found: int, fresh: bool
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]`` and changes it. A visit costs O(degree K size): only the blocks of the
    agent's own entries change. Minus infinity as in :func:`gbb._kernels.choice.linear.ascend_linear`.
    """
    n, W, h, segment, entry = ends.shape[1], white.W, white.h, white.segment, white.entry
    mean, norm2 = sum_blocks(links, white, ends, found)
    value = mean + radius * np.sqrt(norm2) if fresh else -np.inf
    idle, i, visits = 0, 0, 0
    while idle < n and visits < SWEEPS * n:
        now, first = ends[found, i], segment[i]
        for s in range(segment[i + 1] - first):
            gather_entries(links, white, s, entry[first + s], entry[first + s + 1], ends, found)
        best = best_reply(white, links.bars, i, now, radius, mean, norm2)
        idle += 1
        visits += 1
        if best != now:
            idle = 1
            ends[found, i] = best
            if is_known(ends, found, i):
                return -np.inf
            mean, norm2 = white.found[2, 0], white.found[2, 1]
            value = mean + radius * np.sqrt(norm2)
            for s in range(segment[i + 1] - first):
                k = white.block[entry[first + s]]
                for c in range(W.shape[1]):
                    W[k, c] = W[k, c] - h[s, c, now] + h[s, c, best]
                white.norm2s[k] = norm2_of_block(W, k)
        i = i + 1 if i + 1 < n else 0
    return float(value)
