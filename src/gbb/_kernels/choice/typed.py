"""One choice when edges have types and weights, or are seen only in sums.

The unknown is one matrix per type. Its estimate comes in blocks, one per type or one for all of them,
held whitened: ``table[g, a, b]`` is ``f`` with ``<f, centre> = z_ab'theta_g`` and
``<f, f'> = z'A^-1 z'`` within a block. An allocation's edges sum to ``W = sum w f``, a row per block,
worth ``<W, centre> + radius ||W||``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import pick
from gbb._kernels.choice.search import GAIN, SWEEPS
from gbb._kernels.choice.tuples import digits, next_start
from gbb._support.checks import FloatArray, IntArray


class Layout(NamedTuple):
    """Who is linked to whom, by what, and who may play what.

    Attributes
    ----------
    indptr, indices, reverse
        The directed edges of every agent, and where each edge's reverse is.
    types, weights
        Of every directed edge.
    parts
        The part of every agent.
    allowed
        Which arms each agent may play (n x K).
    instead
        What each agent plays for each arm: the arm itself, or its first allowed one.
    like_part, like_instead
        The same for classes of agents that are alike: in one part, with the same arms allowed.
    kind_type, kind_first, kind_second, kind_weight
        The edges summed by type and by the classes of their ends.
    """

    indptr: IntArray
    indices: IntArray
    reverse: IntArray
    types: IntArray
    weights: FloatArray
    parts: IntArray
    allowed: NDArray[np.bool_]
    instead: IntArray
    like_part: IntArray
    like_instead: IntArray
    kind_type: IntArray
    kind_first: IntArray
    kind_second: IntArray
    kind_weight: FloatArray


@compiled()
def add_edges(layout: Layout, table: FloatArray, arms: IntArray, W: FloatArray) -> None:
    """Set ``W`` to the sum over all directed edges of ``w f``."""
    W[:, :] = 0.0
    for i in range(arms.size):
        for e in range(layout.indptr[i], layout.indptr[i + 1]):
            w, g = layout.weights[e], layout.types[e]
            if w != 0.0:
                f = table[g, arms[i], arms[layout.indices[e]]]
                row = W[g if W.shape[0] > 1 else 0]
                for k in range(f.size):
                    row[k] += w * f[k]


@compiled()
def worth(W: FloatArray, centre: FloatArray, radius: float) -> float:
    """``<W, centre> + radius ||W||``."""
    mean = 0.0
    norm2 = 0.0
    for block in range(W.shape[0]):
        for k in range(W.shape[1]):
            mean += W[block, k] * centre[block, k]
            norm2 += W[block, k] * W[block, k]
    return float(mean + radius * np.sqrt(norm2))


@compiled()
def place(layout: Layout, code: int, k: int, arms: IntArray) -> None:
    """Every agent plays its part's arm of tuple number ``code``, or its first allowed one."""
    chosen = digits(code, layout.allowed.shape[1], k)
    for i in range(arms.size):
        arms[i] = layout.instead[i, chosen[layout.parts[i]]]


@compiled()
def typed_values(
    layout: Layout, table: FloatArray, centre: FloatArray, radius: float, k: int
) -> FloatArray:
    """Values of all K^k tuples of arms over the parts, in O(D) for each tuple and kind of edge."""
    K = layout.allowed.shape[1]
    arms = np.empty(layout.like_part.size, dtype=np.int64)
    W = np.empty_like(centre)
    values = np.empty(K**k)
    for code in range(values.size):
        chosen = digits(code, K, k)
        for c in range(arms.size):
            arms[c] = layout.like_instead[c, chosen[layout.like_part[c]]]
        W[:, :] = 0.0
        for e in range(layout.kind_type.size):
            g, w = layout.kind_type[e], layout.kind_weight[e]
            f = table[g, arms[layout.kind_first[e]], arms[layout.kind_second[e]]]
            row = W[g if W.shape[0] > 1 else 0]
            for i in range(f.size):
                row[i] += w * f[i]
        values[code] = worth(W, centre, radius)
    return values


@compiled()
def choose_typed(
    layout: Layout,
    table: FloatArray,
    centre: FloatArray,
    radius: float,
    k: int,
    starts: int,
    restarts: int,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the best end of local searches.

    They start from the ``starts`` best tuples over the parts and from ``restarts`` random allocations.
    Returns the number of the tuple that is played, -1 if it is another allocation, and its value.
    """
    values = typed_values(layout, table, centre, radius, k)
    start = best = pick(values, rng)
    value = values[best]
    place(layout, start, k, arms)
    trial, W = np.empty_like(arms), np.empty_like(centre)
    for _ in range(starts):
        place(layout, start, k, trial)
        add_edges(layout, table, trial, W)
        found = ascend_typed(layout, table, centre, radius, W, trial)
        if found > value:
            best, value = -1, found
            arms[:] = trial
        start = next_start(values, start, layout.allowed.shape[1], k)
        if start < 0:
            break
    for _ in range(restarts):
        draw(layout, rng, trial)
        add_edges(layout, table, trial, W)
        found = ascend_typed(layout, table, centre, radius, W, trial)
        if found > value:
            best, value = -1, found
            arms[:] = trial
    return best, value


@compiled()
def draw(layout: Layout, rng: np.random.Generator, arms: IntArray) -> None:
    """Every agent draws one of its allowed arms uniformly."""
    for i in range(arms.size):
        left = int(rng.random() * layout.allowed[i].sum())
        for a in range(layout.allowed.shape[1]):
            if layout.allowed[i, a]:
                if left == 0:
                    arms[i] = a
                    break
                left -= 1


@compiled()
def ascend_typed(
    layout: Layout,
    table: FloatArray,
    centre: FloatArray,
    radius: float,
    W: FloatArray,
    arms: IntArray,
) -> float:
    """Agents in turn take their best allowed arm until none gains; returns the value reached.

    ``W`` is the sum over the edges of ``arms``; both are changed in place. A visit costs
    O(degree K D): only the blocks of the agent's own edges change.
    """
    n, K, size = arms.size, table.shape[1], W.shape[1]
    most = 1
    for i in range(n):
        most = max(most, 2 * (layout.indptr[i + 1] - layout.indptr[i]))
    most = min(most, W.shape[0])
    slot = np.full(W.shape[0], -1)
    blocks = np.empty(most, dtype=np.int64)
    h = np.empty((K, most, size))
    for _ in range(SWEEPS):
        moved = False
        mean, norm2 = 0.0, 0.0
        for block in range(W.shape[0]):
            for c in range(size):
                mean += W[block, c] * centre[block, c]
                norm2 += W[block, c] * W[block, c]
        for agent in range(n):
            used = gather(layout, table, arms, agent, slot, blocks, h)
            if used == 0:
                continue
            now = arms[agent]
            best, best_value, best_mean, best_norm2 = now, -np.inf, 0.0, 0.0
            current = mean + radius * np.sqrt(max(norm2, 0.0))
            for a in range(K):
                if a == now or not layout.allowed[agent, a]:
                    continue
                one, two = mean, norm2
                for s in range(used):
                    block = blocks[s]
                    for c in range(size):
                        step = h[a, s, c] - h[now, s, c]
                        one += step * centre[block, c]
                        two += step * (2.0 * W[block, c] + step)
                value = one + radius * np.sqrt(max(two, 0.0))
                if value > best_value:
                    best, best_value, best_mean, best_norm2 = a, value, one, two
            if best_value > current + GAIN * (abs(mean) + abs(current - mean)):
                for s in range(used):
                    for c in range(size):
                        W[blocks[s], c] += h[best, s, c] - h[now, s, c]
                arms[agent] = best
                mean, norm2, moved = best_mean, best_norm2, True
            for s in range(used):
                slot[blocks[s]] = -1
        if not moved:
            break
    return worth(W, centre, radius)


@compiled()
def gather(
    layout: Layout,
    table: FloatArray,
    arms: IntArray,
    agent: int,
    slot: IntArray,
    blocks: IntArray,
    h: FloatArray,
) -> int:
    """What the agent's edges add to ``W`` for each of its arms, by block; how many blocks there are."""
    used = 0
    several = slot.size > 1
    for e in range(layout.indptr[agent], layout.indptr[agent + 1]):
        other = arms[layout.indices[e]]
        back = layout.reverse[e]
        for way in range(2):
            edge = e if way == 0 else back
            w, g = layout.weights[edge], layout.types[edge]
            if w == 0.0:
                continue
            block = g if several else 0
            if slot[block] < 0:
                slot[block], blocks[used] = used, block
                h[:, used, :] = 0.0
                used += 1
            s = slot[block]
            for a in range(h.shape[0]):
                f = table[g, a, other] if way == 0 else table[g, other, a]
                for c in range(f.size):
                    h[a, s, c] += w * f[c]
    return used
