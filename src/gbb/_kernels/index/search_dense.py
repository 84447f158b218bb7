"""Local search on the optimistic value of an allocation, for any estimate.

An allocation's edges add up to ``W = sum w f``, a row per block, worth ``<W, centre> + radius ||W||``.
``tables`` holds by block and coordinate what the entries add, by table, neighbour's arm and own arm;
behind the coordinates stands ``<f, centre>``, so the last number of a row of W is what it pays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.layout import Layout
from gbb._kernels.index.search import SWEEPS, best_of_vector, is_duplicate, margin_of
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import whiten_columns
from gbb._kernels.simd import broadcast, fma, load, load_broadcast, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class DenseSearch(NamedTuple):
    """What the search is on, and its scratch space.

    Attributes
    ----------
    columns
        What the entries of a block's tables add, a column each (1 x size x columns).
    tables
        The same whitened, by block, coordinate and column, and behind the coordinates what they pay;
        columns are tables, neighbour's and own arms, padded to whole vectors.
    W, norm2s, h
        The sum of the allocation and its squared norm by block, and what the segments of an agent add by
        own arm.
    best
        See :func:`~gbb._kernels.index.search.best_of_vector`.
    """

    columns: FloatArray
    tables: FloatArray
    W: FloatArray
    norm2s: FloatArray
    h: FloatArray
    best: FloatArray


@kernel(forceinline=True)
def whiten_tables(layout: Layout, U: FloatArray, search: DenseSearch) -> None:
    """Fill in the whitened vectors of the tables in play, and what they pay."""
    columns, tables, wide = search.columns, search.tables, search.columns.shape[2]
    zero = 0 * wide  # a literal would be a type of its own, and one more kernel
    if U.shape[0] > 1 or layout.tables_in_play.size == layout.one.shape[0]:
        for k in range(layout.blocks_in_play.size):
            g = layout.blocks_in_play[k]
            whiten_columns(U, g, columns, zero, tables, g, zero, wide)
    else:  # the tables of all matrices stand in one block
        own = wide // layout.one.shape[0]
        for k in range(layout.tables_in_play.size):
            t = layout.tables_in_play[k]
            whiten_columns(U, zero, columns, zero, tables, zero, t * own, (t + 1) * own)


@kernel(forceinline=True)
def sum_entries(layout: Layout, search: DenseSearch, arms: IntArray) -> None:
    """Sum the entries of an allocation to ``W``; a link is listed by both ends, and counted once."""
    W, width = search.W, search.h.shape[2]
    for q in range(layout.blocks_in_play.size):
        W[layout.blocks_in_play[q], :] = 0.0
    for i in range(arms.size):
        for e in range(layout.start[i], layout.start[i + 1]):
            j = layout.other[e]
            if j > i:
                k, w = layout.block[e], layout.weight[e]
                x = layout.column[e] + arms[j] * width + arms[i]
                for c in range(W.shape[1]):
                    W[k, c] += w * search.tables[k, c, x]


@kernel(forceinline=True, fastmath={"contract", "reassoc"})
def norm2_of_block(W: FloatArray, k: int) -> float:
    """Return ``||W||^2`` in block k."""
    norm2 = 0.0
    for c in range(W.shape[1] - 1):
        norm2 += W[k, c] * W[k, c]
    return norm2


@kernel(forceinline=True)
def sum_blocks(layout: Layout, search: DenseSearch, arms: IntArray) -> tuple[float, float]:
    """Return ``<W, centre>`` and ``||W||^2`` of an allocation."""
    W, mean, norm2 = search.W, 0.0, 0.0
    sum_entries(layout, search, arms)
    for q in range(layout.blocks_in_play.size):
        k = layout.blocks_in_play[q]
        search.norm2s[k] = norm2_of_block(W, k)
        mean += W[k, W.shape[1] - 1]
        norm2 += search.norm2s[k]
    return mean, norm2


@kernel(forceinline=True)
def gather_entries(
    layout: Layout, search: DenseSearch, s: int, begin: int, end: int, arms: IntArray
) -> None:
    """Fill in ``h[s]``: what the entries from ``begin`` to ``end`` add to their block by own arm."""
    tables, h = search.tables, search.h
    rows, width, columns = h.shape[1], h.shape[2], tables.shape[2]
    first = layout.block[begin] * rows * columns
    for e in range(begin, end, 2):  # two entries for each pass over h
        f = min(e + 1, end - 1)
        one = first + layout.column[e] + arms[layout.other[e]] * width
        two = first + layout.column[f] + arms[layout.other[f]] * width
        v, w = broadcast(layout.weight[e]), broadcast(layout.weight[f])
        for lane in range(0, width, WIDTH):
            for c in range(rows):
                to = (s * rows + c) * width + lane
                x = v * load(tables, one + c * columns + lane)
                if f > e:
                    x = fma(w, load(tables, two + c * columns + lane), x)
                store(h, to, x if e == begin else x + load(h, to))


@kernel(forceinline=True)
def best_response(
    layout: Layout,
    search: DenseSearch,
    i: int,
    current: int,
    radius: float,
    mean: float,
    norm2: float,
) -> int:
    """Return the agent's best arm, its own unless another gains; see :func:`best_of_vector`.

    ``mean`` and ``norm2`` are those of the whole allocation; ``h`` has been gathered.
    """
    W, h, block, entry = search.W, search.h, layout.block, layout.segment_entry
    size, width = W.shape[1] - 1, h.shape[2]
    rows, first = size + 1, layout.segment[i]
    count = layout.segment[i + 1] - first
    rest_mean, rest_norm2 = 0.0, 0.0
    if W.shape[0] > 1:
        rest_mean, rest_norm2 = mean, norm2
        for s in range(count):
            rest_mean -= W[block[entry[first + s]], size]
            rest_norm2 -= search.norm2s[block[entry[first + s]]]
    spread_now = radius * np.sqrt(norm2)
    margin = margin_of(mean, spread_now)
    best, top = current, mean + spread_now + margin
    for lane in range(0, width if count > 0 else 0, WIDTH):
        means = load(layout.penalty, i * width + lane) + rest_mean
        norms, more = broadcast(rest_norm2), broadcast(0.0)
        for s in range(count):
            # W less what the arm played adds, and with what each arm would: ||W - h_now + h||^2
            row, up = s * rows * width, block[entry[first + s]] * rows
            for c in range(0, size - 1, 2):
                p = row + c * width
                x = load(h, p + lane) + (load_broadcast(W, up + c) - load_broadcast(h, p + current))
                norms = fma(x, x, norms)
                p += width
                x = load(h, p + lane) + (
                    load_broadcast(W, up + c + 1) - load_broadcast(h, p + current)
                )
                more = fma(x, x, more)
            p = row + size * width
            if size % 2 == 1:
                q = p - width
                x = load(h, q + lane) + (
                    load_broadcast(W, up + size - 1) - load_broadcast(h, q + current)
                )
                norms = fma(x, x, norms)
            x = load(h, p + lane) + (load_broadcast(W, up + size) - load_broadcast(h, p + current))
            means = means + x
        norms = norms + more
        found, top = best_of_vector(means, norms, lane, current, radius, margin, top, search.best)
        if found >= 0:
            best = found
    return best


@kernel(forceinline=True)
def improve_dense(
    layout: Layout, search: DenseSearch, radius: float, optima: IntArray, found: int, random: bool
) -> float:
    """Let agents in turn take their best arm until none gains; return the value reached.

    Starts from ``optima[found]`` and changes it. A visit costs O(degree K size): only the blocks of the
    agent's own entries change. Returns minus infinity as
    :func:`gbb._kernels.index.search_linear.improve_linear` does.
    """
    arms, W, h = optima[found], search.W, search.h
    n, segment, entry = arms.size, layout.segment, layout.segment_entry
    mean, norm2 = sum_blocks(layout, search, arms)
    value = mean + radius * np.sqrt(norm2) if random else -np.inf
    idle, i, visits = 0, 0, 0
    while idle < n and visits < SWEEPS * n:
        old, first = arms[i], segment[i]
        for s in range(segment[i + 1] - first):
            gather_entries(layout, search, s, entry[first + s], entry[first + s + 1], arms)
        new = best_response(layout, search, i, old, radius, mean, norm2)
        idle += 1
        visits += 1
        if new != old:
            idle = 1
            arms[i] = new
            if is_duplicate(optima, found, i):
                return -np.inf
            mean, norm2 = search.best[2, 0], search.best[2, 1]
            value = mean + radius * np.sqrt(norm2)
            for s in range(segment[i + 1] - first):
                k = layout.block[entry[first + s]]
                for c in range(W.shape[1]):
                    W[k, c] = W[k, c] - h[s, c, old] + h[s, c, new]
                search.norm2s[k] = norm2_of_block(W, k)
        i = i + 1 if i + 1 < n else 0
    return float(value)
