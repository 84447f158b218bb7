"""Local search when an allocation's value is the sum of what its links pay: no optimism.

So it is for posterior draws and plain estimates, whatever the arms and the feedback. ``pay[t, b, a]`` is
half of what a table t pays when the neighbour plays b and the agent a, and ``pays[i, a]`` the
sum over the entries of agent i when it plays a and the others stay; so the value is the sum of
``pays[i, arms[i]]``.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.links import is_known
from gbb._support.checks import FloatArray, IntArray

GAIN = 1e-10
"""A move must gain this share of the value: far above rounding, far below one edge in 10^8."""

SWEEPS = 100
"""Give up after this many passes over the agents."""


@compiled()
def fill_pay(mu: FloatArray, one: IntArray, two: IntArray, pay: FloatArray) -> None:
    """The tables from what the regressors pay."""
    for t in range(pay.shape[0]):
        for b in range(pay.shape[1]):
            for a in range(pay.shape[2]):
                pay[t, b, a] = 0.5 * (mu[one[t, b, a]] + mu[two[t, b, a]])


@compiled()
def pays_of_tuple(
    start: IntArray,
    table: IntArray | None,
    group: IntArray,
    weight: FloatArray,
    bars: FloatArray | None,
    pay: FloatArray,
    played: IntArray,
    pays: FloatArray,
) -> None:
    """Pays when every group plays its arm of ``played``, from the agents' bundles."""
    K = pays.shape[1]
    for i in range(pays.shape[0]):
        for a in range(K):
            pays[i, a] = 0.0 if bars is None else bars[i, a]
        for e in range(start[i], start[i + 1]):
            t = 0 if table is None else table[e]
            b, w = played[group[e]], weight[e]
            for a in range(K):
                pays[i, a] += w * pay[t, b, a]


@compiled()
def pays_of_arms(
    start: IntArray,
    other: IntArray,
    table: IntArray,
    weight: FloatArray,
    bars: FloatArray,
    pay: FloatArray,
    ends: IntArray,
    found: int,
    pays: FloatArray,
) -> None:
    """Pays when the agents play ``ends[found]``."""
    K = pays.shape[1]
    for i in range(pays.shape[0]):
        for a in range(K):
            pays[i, a] = bars[i, a]
        for e in range(start[i], start[i + 1]):
            t, w, b = table[e], weight[e], ends[found, other[e]]
            for a in range(K):
                pays[i, a] += w * pay[t, b, a]


@compiled()
def ascend_linear(
    start: IntArray,
    other: IntArray,
    back: IntArray | None,
    weight: FloatArray | None,
    pay: FloatArray,
    pays: FloatArray,
    ends: IntArray,
    found: int,
    fresh: bool,
    least: float,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]``, whose pays are given, and changes both. A visit costs O(K), a move
    O(degree K). What differs by ``least`` or less is the same: the first of such arms is taken, and
    none is left for another. Minus infinity where it joins an end of an earlier search, or where no
    agent moves unless the start is ``fresh``: nothing better comes of either.
    """
    n, K = pays.shape
    total = 0.0
    for i in range(n):
        total += pays[i, ends[found, i]]
    value = total if fresh else -np.inf
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            now = ends[found, i]
            best, top = now, pays[i, now]
            for a in range(K):
                if pays[i, a] > top + least:
                    best, top = a, pays[i, a]
            if best == now:
                continue
            gain = 2.0 * (top - pays[i, now])
            if gain <= max(GAIN * abs(total), least):
                continue
            total += gain
            moved = True
            ends[found, i] = best
            for e in range(start[i], start[i + 1]):
                j = other[e]
                t = 0 if back is None else back[e]
                if weight is None:
                    for a in range(K):
                        pays[j, a] += pay[t, best, a] - pay[t, now, a]
                else:
                    for a in range(K):
                        pays[j, a] += weight[e] * (pay[t, best, a] - pay[t, now, a])
        if not moved:
            break
        if is_known(ends, found):
            value = -np.inf
            break
        total = 0.0
        for i in range(n):
            total += pays[i, ends[found, i]]
        value = total
    return value
