"""Local search when an allocation's value is the sum of what its links pay: no optimism.

So it is for posterior draws and plain estimates, whatever the arms and the feedback. ``pay[t, b, a]`` is
half of what a table t pays when the neighbour plays b and the agent a, and ``pays[i, a]`` the
sum over the entries of agent i when it plays a and the others stay; so the value is the sum of
``pays[i, arms[i]]``. Rows by own arm are padded to whole lanes.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.links import is_known
from gbb._kernels.lanes import WIDTH, above, load, minus, splat, store, times_plus
from gbb._support.checks import FloatArray, IntArray

GAIN = 1e-10
"""A move must gain this share of the value: far above rounding, far below one edge in 10^8."""

SWEEPS = 100
"""Give up after this many passes over the agents."""


@compiled()
def fill_pay(mu: FloatArray, one: IntArray, two: IntArray, pay: FloatArray) -> None:
    """The tables from what the regressors pay."""
    for t in range(one.shape[0]):
        for b in range(one.shape[1]):
            for a in range(one.shape[2]):
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
    K, width = pay.shape[1], pay.shape[2]
    for i in range(pays.shape[0]):
        for lane in range(0, width, WIDTH):
            x = splat(0.0) if bars is None else load(bars, i * width + lane)
            for e in range(start[i], start[i + 1]):
                t = 0 if table is None else table[e]
                row = t * K + played[group[e]]
                x = times_plus(splat(weight[e]), load(pay, row * width + lane), x)
            store(pays, i * width + lane, x)


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
    K, width = pay.shape[1], pay.shape[2]
    for i in range(pays.shape[0]):
        for lane in range(0, width, WIDTH):
            x = load(bars, i * width + lane)
            for e in range(start[i], start[i + 1]):
                row = table[e] * K + ends[found, other[e]]
                x = times_plus(splat(weight[e]), load(pay, row * width + lane), x)
            store(pays, i * width + lane, x)


@compiled()
def is_beaten(pays: FloatArray, i: int, K: int, floor: float) -> bool:
    """Whether some arm of agent i pays more than ``floor``."""
    width = pays.shape[1]
    for lane in range(0, K, WIDTH):
        those = above(load(pays, i * width + lane), splat(floor))
        if those & ((1 << min(K - lane, WIDTH)) - 1):
            return True
    return False


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
    n, K, width = ends.shape[1], pay.shape[1], pay.shape[2]
    total = sum_pays(pays, ends, found)
    value = total if fresh else -np.inf
    idle, i, visits, moved = 0, 0, 0, False
    while idle < n and visits < SWEEPS * n:
        now = ends[found, i]
        best, top = now, pays[i, now]
        if is_beaten(pays, i, K, top + least):
            for a in range(K):
                if pays[i, a] > top + least:
                    best, top = a, pays[i, a]
        gain = 2.0 * (top - pays[i, now])
        idle += 1
        visits += 1
        if gain > max(GAIN * abs(total), least):
            idle, moved = 1, True
            total += gain
            ends[found, i] = best
            if is_known(ends, found):
                idle, moved, value = n, False, -np.inf
            else:
                for e in range(start[i], start[i + 1]):
                    t = 0 if back is None else back[e]
                    new, old, row = (t * K + best) * width, (t * K + now) * width, other[e] * width
                    w = splat(1.0 if weight is None else weight[e])
                    for lane in range(0, width, WIDTH):
                        step = minus(load(pay, new + lane), load(pay, old + lane))
                        store(pays, row + lane, times_plus(w, step, load(pays, row + lane)))
        i += 1
        if i == n:
            i = 0
            if moved:
                total = sum_pays(pays, ends, found)
    if moved:
        value = sum_pays(pays, ends, found)
    return float(value)


@compiled()
def sum_pays(pays: FloatArray, ends: IntArray, found: int) -> float:
    """The value of the allocation ``ends[found]``."""
    total = 0.0
    for i in range(ends.shape[1]):
        total += pays[i, ends[found, i]]
    return total
