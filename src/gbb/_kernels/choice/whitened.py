"""Local search on the optimistic value of an allocation, for any estimate.

An allocation's edges add up to ``W = sum w f``, a row per block, worth ``<W, centre> + radius ||W||``.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.linear import GAIN, SWEEPS
from gbb._kernels.choice.links import is_known
from gbb._support.checks import FloatArray, IntArray


@compiled(inline="always")
def parts_of_move(
    u: FloatArray, h: FloatArray, centre: FloatArray, s: int, a: int, k: int
) -> tuple[float, float]:
    """``<u + h, centre>`` and ``||u + h||^2`` in block k, for slot s and arm a."""
    mean, norm2 = 0.0, 0.0
    for c in range(u.shape[1]):
        x = u[s, c] + h[s, a, c]
        mean += x * centre[k, c]
        norm2 += x * x
    return mean, norm2


@compiled(inline="always")
def parts_of_block(W: FloatArray, centre: FloatArray, k: int) -> tuple[float, float]:
    """``<W, centre>`` and ``||W||^2`` in block k."""
    mean, norm2 = 0.0, 0.0
    for c in range(W.shape[1]):
        mean += W[k, c] * centre[k, c]
        norm2 += W[k, c] * W[k, c]
    return mean, norm2


@compiled(inline="always")
def gather(
    first: int,
    last: int,
    other: IntArray,
    table: IntArray,
    weight: FloatArray,
    block: IntArray,
    tables: FloatArray,
    slot: IntArray,
    ends: IntArray,
    found: int,
    h: FloatArray,
) -> int:
    """What the entries ``first`` to ``last`` add to W, by block and own arm; how many blocks there are.

    ``h`` is slots x (K size), ``tables`` tables x K x (K size); ``slot[0, k]`` is the slot of block k
    and ``slot[1, s]`` the block of slot s.
    """
    count = 0
    for e in range(first, last):
        t, w, b = table[e], weight[e], ends[found, other[e]]
        k = block[t]
        s = slot[0, k]
        if s < 0:
            s = count
            slot[0, k], slot[1, s] = s, k
            count += 1
            for x in range(h.shape[1]):
                h[s, x] = w * tables[t, b, x]
        else:
            for x in range(h.shape[1]):
                h[s, x] += w * tables[t, b, x]
    return count


@compiled()
def sum_entries(
    start: IntArray,
    other: IntArray,
    table: IntArray,
    weight: FloatArray,
    block: IntArray,
    tables: FloatArray,
    ends: IntArray,
    found: int,
    W: FloatArray,
) -> None:
    """``W`` of the allocation ``ends[found]``; ``tables`` is tables x K x K x size."""
    W[:, :] = 0.0
    for i in range(ends.shape[1]):
        a = ends[found, i]
        for e in range(start[i], start[i + 1]):
            t, w, b = table[e], 0.5 * weight[e], ends[found, other[e]]
            for c in range(W.shape[1]):
                W[block[t], c] += w * tables[t, b, a, c]


@compiled(fastmath={"contract", "reassoc"})
def ascend_whitened(
    start: IntArray,
    other: IntArray,
    table: IntArray,
    weight: FloatArray,
    bars: FloatArray,
    block: IntArray,
    tables: FloatArray,
    centre: FloatArray,
    radius: float,
    W: FloatArray,
    h: FloatArray,
    u: FloatArray,
    slot: IntArray,
    ends: IntArray,
    found: int,
    fresh: bool,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]`` and changes it. A visit costs O(degree K size): only the blocks of the
    agent's own entries change, whose part in ``W`` is gathered in ``h`` by arm. ``block`` is the block
    of each table. Minus infinity as in :func:`gbb._kernels.choice.linear.ascend_linear`.
    """
    n, K = ends.shape[1], tables.shape[1]
    sum_entries(start, other, table, weight, block, tables, ends, found, W)
    slot[0, :] = -1
    blocks = W.shape[0]
    flat = h.reshape(h.shape[0], h.shape[1] * h.shape[2])
    wide = tables.reshape(tables.shape[0], K, flat.shape[1])
    value = -np.inf
    for sweep in range(SWEEPS):
        mean, norm2 = 0.0, 0.0
        for k in range(blocks):
            one, two = parts_of_block(W, centre, k)
            mean += one
            norm2 += two
        if sweep > 0 or fresh:
            value = mean + radius * np.sqrt(norm2)
        moved = False
        for i in range(n):
            count = gather(
                start[i], start[i + 1], other, table, weight, block, wide, slot, ends, found, flat
            )
            if count == 0:
                continue
            now = ends[found, i]
            rest_mean, rest_norm2 = mean, norm2
            for s in range(count):
                k = slot[1, s]
                slot[0, k] = -1
                one, two = parts_of_block(W, centre, k)
                rest_mean -= one
                rest_norm2 -= two
                for c in range(u.shape[1]):
                    u[s, c] = W[k, c] - h[s, now, c]
            if blocks == 1:
                rest_mean, rest_norm2 = 0.0, 0.0
            current = mean + radius * np.sqrt(norm2)
            margin = GAIN * (abs(mean) + abs(current - mean))  # the first of equal arms is taken
            best, top = now, current + margin
            best_mean, best_norm2 = mean, norm2
            for a in range(K):
                if a == now or bars[i, a] < 0.0:
                    continue
                one, two = rest_mean, rest_norm2
                for s in range(count):
                    x, y = parts_of_move(u, h, centre, s, a, slot[1, s])
                    one += x
                    two += y
                # one + radius sqrt(two) beats top: a root only where it does
                short = top - one
                if short < 0.0 or radius * radius * two > short * short:
                    two = max(two, 0.0)
                    best, best_mean, best_norm2 = a, one, two
                    top = one + radius * np.sqrt(two) + margin
            if best == now:
                continue
            moved = True
            ends[found, i] = best
            mean, norm2 = best_mean, best_norm2
            for s in range(count):
                for c in range(u.shape[1]):
                    W[slot[1, s], c] = u[s, c] + h[s, best, c]
        if not moved:
            break
        if is_known(ends, found):
            return -np.inf
    return float(value)
