"""Optimistic local search when different pairs of arms are orthogonal.

Then A is diagonal on the pairs: an allocation whose directed edges play pair s ``c_s`` times is worth
``sum c_s mu_s + radius sqrt(sum c_s^2 var_s)``, and only the counts need to be kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._kernels.choice.linear import GAIN, SWEEPS
from gbb._kernels.choice.links import is_known
from gbb._support.checks import FloatArray, IntArray

MEAN, VAR, DEVIATION, SHARE, COUNT = range(5)
"""Layers of the tables by pair."""


@compiled()
def count_pairs(
    bundle_start: IntArray,
    bundle_part: IntArray,
    bundle_count: FloatArray,
    counts: IntArray,
    chosen: IntArray,
    pairs: FloatArray,
    around: FloatArray,
) -> None:
    """Counts and neighbourhoods when part q plays ``chosen[q]``, in O(K^2 + n K)."""
    for a in range(pairs.shape[1]):
        for b in range(pairs.shape[1]):
            pairs[COUNT, a, b] = 0.0
    for p in range(chosen.size):
        add(pairs, chosen[p], chosen[p], float(counts[p, p]))
        for q in range(p):
            add(pairs, chosen[p], chosen[q], 2.0 * counts[p, q])
    for i in range(around.shape[0]):
        for b in range(around.shape[1]):
            around[i, b] = 0.0
        for e in range(bundle_start[i], bundle_start[i + 1]):
            around[i, chosen[bundle_part[e]]] += 2.0 * bundle_count[e]


@compiled()
def ascend_pairs(
    indptr: IntArray,
    indices: NDArray[np.integer],
    pairs: FloatArray,
    radius: float,
    around: FloatArray,
    scratch: IntArray,
    ends: IntArray,
    found: int,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]``, whose counts are given in ``pairs`` and ``around``, and changes all
    three. A visit costs O(K min(degree, K)), a move O(degree). An agent is passed over when one with
    the same arm and the same arms around it has stayed since the last move. Minus infinity where no
    agent moves, or where it joins an end of an earlier search.
    """
    n, K = around.shape
    value = -np.inf
    for a in range(K):
        scratch[1, a] = -1
    mean, norm2 = totals(pairs)
    for _ in range(SWEEPS):
        moved = False
        for agent in range(n):
            now = ends[found, agent]
            if alike(around, agent, scratch[1, now]):
                continue
            best, best_mean, best_norm2 = best_reply(
                pairs, radius, around, scratch, agent, now, mean, norm2
            )
            if best == now:
                scratch[1, now] = agent
                continue
            moved = True
            mean, norm2 = best_mean, best_norm2
            ends[found, agent] = best
            for b in range(K):
                scratch[1, b] = -1
                if around[agent, b] > 0.0:
                    add(pairs, now, b, -around[agent, b])
            for b in range(K):
                if around[agent, b] > 0.0:
                    add(pairs, best, b, around[agent, b])
            for e in range(indptr[agent], indptr[agent + 1]):
                around[indices[e], now] -= 2.0
                around[indices[e], best] += 2.0
        if not moved:
            break
        if is_known(ends, found):
            value = -np.inf
            break
        mean, norm2 = totals(pairs)
        value = mean + radius * np.sqrt(norm2)
    return value


@compiled(inline="always")
def best_reply(
    pairs: FloatArray,
    radius: float,
    around: FloatArray,
    scratch: IntArray,
    agent: int,
    now: int,
    mean: float,
    norm2: float,
) -> tuple[int, float, float]:
    """The agent's best arm, and mean and squared width with it; its own arm unless another gains.

    ``mean`` and ``norm2`` are those of the whole allocation. Where ``c`` edges play a pair, w more add
    ``w (2 c + w) var`` to norm2. The arm that the agent leaves takes its edges from the pairs (now, b),
    and (now, a) is the only one of them that a new arm a can meet again.
    """
    K = around.shape[1]
    size = 0
    rest_mean, rest_norm2 = mean, norm2
    for b in range(K):
        w = around[agent, b]
        if w > 0.0:
            scratch[0, size] = b
            size += 1
            rest_mean -= w * pairs[MEAN, now, b]
            rest_norm2 -= w * (2.0 * pairs[COUNT, now, b] - w) * pairs[VAR, now, b]
    value = mean + radius * np.sqrt(norm2)
    best, top = now, value
    best_mean, best_norm2 = mean, norm2
    own = 2.0 * around[agent, now]
    for a in range(K):
        if a == now or size == 0:
            continue
        one = rest_mean
        two = rest_norm2 - own * around[agent, a] * pairs[VAR, now, a]
        for j in range(size):
            b = scratch[0, j]
            w = around[agent, b]
            one += w * pairs[MEAN, b, a]
            two += w * (2.0 * pairs[COUNT, b, a] + w) * pairs[VAR, b, a]
        short = top - one
        if short < 0.0 or radius * radius * two > short * short:
            best, best_mean, best_norm2 = a, one, max(two, 0.0)
            top = best_mean + radius * np.sqrt(best_norm2)
    if top <= value + GAIN * (abs(mean) + abs(value - mean)):
        best, best_mean, best_norm2 = now, mean, norm2
    return best, best_mean, best_norm2


@compiled(inline="always")
def alike(around: FloatArray, one: int, other: int) -> bool:
    """Whether ``other`` is an agent (not -1) with the same arms around it."""
    same = other >= 0
    for b in range(around.shape[1]):
        same = same and around[one, b] == around[other, b]
    return same


@compiled(inline="always")
def add(pairs: FloatArray, a: int, b: int, amount: float) -> None:
    """Add to the count of the unordered pair (a, b)."""
    pairs[COUNT, a, b] += amount
    if a != b:
        pairs[COUNT, b, a] = pairs[COUNT, a, b]


@compiled()
def totals(pairs: FloatArray) -> tuple[float, float]:
    """``sum c_s mu_s`` and ``sum c_s^2 var_s`` over unordered pairs."""
    mean = 0.0
    norm2 = 0.0
    for a in range(pairs.shape[1]):
        for b in range(a + 1):
            c = pairs[COUNT, a, b]
            mean += c * pairs[MEAN, a, b]
            norm2 += c * c * pairs[VAR, a, b]
    return mean, norm2
