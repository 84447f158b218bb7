"""Local search on the optimistic value of an allocation, for any estimate.

An allocation's edges add up to ``W = sum w f``, a row per block, worth ``<W, centre> + radius ||W||``.
``tables`` holds by block and coordinate what the entries add, by table, neighbour's arm and own arm;
behind the coordinates stands ``<f, centre>``, so the last number of a row of W is what it pays.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.linear import GAIN, SWEEPS
from gbb._kernels.choice.links import is_known
from gbb._kernels.lanes import (
    WIDTH,
    above,
    load,
    minus,
    plus,
    splat,
    spread,
    store,
    times,
    times_plus,
)
from gbb._support.checks import FloatArray, IntArray


@compiled()
def sum_entries(
    start: IntArray,
    other: IntArray,
    weight: FloatArray,
    block: IntArray,
    at: IntArray,
    tables: FloatArray,
    width: int,
    ends: IntArray,
    found: int,
    W: FloatArray,
) -> None:
    """``W`` of the allocation ``ends[found]``; a link is listed by both ends, and counted once."""
    W[:, :] = 0.0
    rows = W.shape[1]
    for i in range(ends.shape[1]):
        for e in range(start[i], start[i + 1]):
            j = other[e]
            if j > i:
                k, w, x = block[e], weight[e], at[e] + ends[found, j] * width + ends[found, i]
                for c in range(rows):
                    W[k, c] += w * tables[k, c, x]


@compiled(fastmath={"contract", "reassoc"})
def norm2_of_block(W: FloatArray, k: int) -> float:
    """``||W||^2`` in block k."""
    norm2 = 0.0
    for c in range(W.shape[1] - 1):
        norm2 += W[k, c] * W[k, c]
    return norm2


@compiled()
def ascend_whitened(
    start: IntArray,
    other: IntArray,
    weight: FloatArray,
    bars: FloatArray,
    segment: IntArray,
    entry: IntArray,
    block: IntArray,
    at: IntArray,
    tables: FloatArray,
    radius: float,
    W: FloatArray,
    norm2s: FloatArray,
    h: FloatArray,
    moves: FloatArray,
    ends: IntArray,
    found: int,
    fresh: bool,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]`` and changes it. A visit costs O(degree K size): only the blocks of the
    agent's own entries change, whose part in ``W`` is gathered in ``h`` by arm. ``block`` and ``at``
    say of each entry in which block and from which column on its table stands; ``segment`` where the
    segments of each agent start, and ``entry`` where those of a segment do, all of one block.
    Minus infinity as in :func:`gbb._kernels.choice.linear.ascend_linear`.
    """
    n, width = ends.shape[1], h.shape[2]
    blocks, size = W.shape[0], W.shape[1] - 1
    rows, columns = size + 1, tables.shape[2]
    sum_entries(start, other, weight, block, at, tables, width, ends, found, W)
    mean, norm2 = 0.0, 0.0
    for k in range(blocks):
        norm2s[k] = norm2_of_block(W, k)
        mean += W[k, size]
        norm2 += norm2s[k]
    square = splat(radius * radius)
    value = mean + radius * np.sqrt(norm2) if fresh else -np.inf
    idle, i, visits = 0, 0, 0
    while idle < n and visits < SWEEPS * n:
        now = ends[found, i]
        current = mean + radius * np.sqrt(norm2)
        margin = GAIN * (abs(mean) + abs(current - mean))  # the first of equal arms is taken
        best, top = now, current + margin
        best_mean, best_norm2 = mean, norm2
        first = segment[i]
        count = segment[i + 1] - first
        rest_mean, rest_norm2 = mean, norm2
        for s in range(count):  # what the entries add to their block by own arm
            begin, end = entry[first + s], entry[first + s + 1]
            k = block[begin]
            rest_mean -= W[k, size]
            rest_norm2 -= norm2s[k]
            for e in range(begin, end, 2):
                f = min(e + 1, end - 1)
                one = k * rows * columns + at[e] + ends[found, other[e]] * width
                two = k * rows * columns + at[f] + ends[found, other[f]] * width
                v, w = splat(weight[e]), splat(weight[f])
                for lane in range(0, width, WIDTH):
                    for c in range(rows):
                        to = (s * rows + c) * width + lane
                        x = times(v, load(tables, one + c * columns + lane))
                        if f > e:
                            x = times_plus(w, load(tables, two + c * columns + lane), x)
                        store(h, to, x if e == begin else plus(x, load(h, to)))
        if blocks == 1:
            rest_mean, rest_norm2 = 0.0, 0.0
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
            # mean + radius sqrt(norm2) beats top: a root only where it does
            short = minus(splat(top), means)
            those = above(means, splat(top)) | above(times(square, norms), times(short, short))
            if those != 0:
                store(moves, 0, means)
                store(moves, WIDTH, norms)
            for a in range(WIDTH if those != 0 else 0):
                if those >> a & 1:
                    worth = moves[0, a] + radius * np.sqrt(max(moves[1, a], 0.0))
                    if worth > top:
                        best, top = lane + a, worth + margin
                        best_mean, best_norm2 = moves[0, a], max(moves[1, a], 0.0)
        idle += 1
        visits += 1
        if best != now:
            idle = 1
            ends[found, i] = best
            mean, norm2 = best_mean, best_norm2
            if is_known(ends, found):
                idle, value = n, -np.inf
            else:
                value = mean + radius * np.sqrt(norm2)
                for s in range(count):
                    k = block[entry[first + s]]
                    for c in range(rows):
                        W[k, c] = W[k, c] - h[s, c, now] + h[s, c, best]
                    norm2s[k] = norm2_of_block(W, k)
        i = i + 1 if i + 1 < n else 0
    return float(value)
