"""Local search when an allocation's value is the sum of what its links pay: no optimism.

So it is for posterior draws and plain estimates, whatever the arms and the feedback. ``pay[t, b, a]`` is
half of what a table t pays when the neighbour plays b and the agent a, and ``pays[i, a]`` the
sum over the entries of agent i when it plays a and the others stay; so the value is the sum of
``pays[i, arms[i]]``. Rows by own arm are padded to whole lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.links import Links, is_known
from gbb._kernels.choice.reply import GAIN, SWEEPS
from gbb._kernels.lanes import WIDTH, above, load, minus, plus, splat, spread, store, times_plus
from gbb._support.checks import FloatArray, IntArray


class Linear(NamedTuple):
    """What links pay, and what the arms of every agent do."""

    pay: FloatArray
    pays: FloatArray


@compiled(forceinline=True)
def fill_pay(mu: FloatArray, used: IntArray, one: IntArray, two: IntArray, pay: FloatArray) -> None:
    """The tables in use from what the regressors pay."""
    for k in range(used.size):
        t = used[k]
        for b in range(one.shape[1]):
            for a in range(one.shape[2]):
                pay[t, b, a] = 0.5 * (mu[one[t, b, a]] + mu[two[t, b, a]])


@compiled(forceinline=True)
def pays_of_tuple(links: Links, linear: Linear, played: IntArray) -> None:
    """Pays when every group plays its arm of ``played``, from the agents' bundles."""
    K, width = linear.pay.shape[1], linear.pay.shape[2]
    for i in range(linear.pays.shape[0]):
        for lane in range(0, width, WIDTH):
            x = load(links.bars, i * width + lane)
            for e in range(links.bundle_start[i], links.bundle_start[i + 1]):
                row = links.bundle_table[e] * K + played[links.bundle_group[e]]
                w = splat(links.bundle_weight[e])
                x = times_plus(w, load(linear.pay, row * width + lane), x)
            store(linear.pays, i * width + lane, x)


@compiled(forceinline=True)
def pays_of_arms(links: Links, linear: Linear, ends: IntArray, found: int) -> None:
    """Pays when the agents play ``ends[found]``."""
    K, width = linear.pay.shape[1], linear.pay.shape[2]
    for i in range(linear.pays.shape[0]):
        for lane in range(0, width, WIDTH):
            x = load(links.bars, i * width + lane)
            for e in range(links.start[i], links.start[i + 1]):
                row = links.table[e] * K + ends[found, links.other[e]]
                w = splat(links.weight[e])
                x = times_plus(w, load(linear.pay, row * width + lane), x)
            store(linear.pays, i * width + lane, x)


@compiled(forceinline=True)
def first_beaten(
    pays: FloatArray, ends: IntArray, found: int, i: int, stop: int, least: float
) -> int:
    """The first agent from i on with an arm that pays more than its own; ``stop`` if there is none."""
    width = pays.shape[1]
    while i < stop:
        row, beaten = i * width, 0
        floor = plus(spread(pays, row + ends[found, i]), splat(least))
        for lane in range(0, width, WIDTH):
            beaten |= above(load(pays, row + lane), floor)
        if beaten != 0:
            break
        i += 1
    return i


@compiled(forceinline=True)
def ascend_linear(
    links: Links, linear: Linear, ends: IntArray, found: int, fresh: bool, least: float
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]``, whose pays are given, and changes both. A visit costs O(K), a move
    O(degree K). What differs by ``least`` or less is the same: the first of such arms is taken, and
    none is left for another. Minus infinity where it joins an end of an earlier search, or where no
    agent moves unless the start is ``fresh``: nothing better comes of either.
    """
    pay, pays = linear.pay, linear.pays
    n, K, width = ends.shape[1], pay.shape[1], pay.shape[2]
    total = sum_pays(pays, ends, found)
    value = total if fresh else -np.inf
    stop = n
    for _ in range(SWEEPS):
        last = -1
        i = first_beaten(pays, ends, found, 0, stop, least)
        while i < stop:
            now = ends[found, i]
            best, floor = now, pays[i, now] + least
            for a in range(K):
                if pays[i, a] > floor:
                    best, floor = a, pays[i, a] + least
            gain = 2.0 * (pays[i, best] - pays[i, now])
            if gain > max(GAIN * abs(total), least):
                last, stop = i, n
                total += gain
                ends[found, i] = best
                for e in range(links.start[i], links.start[i + 1]):
                    t, row = links.back[e] * K, links.other[e] * width
                    new, old, w = (t + best) * width, (t + now) * width, splat(links.weight[e])
                    for lane in range(0, width, WIDTH):
                        step = minus(load(pay, new + lane), load(pay, old + lane))
                        store(pays, row + lane, times_plus(w, step, load(pays, row + lane)))
            i = first_beaten(pays, ends, found, i + 1, stop, least)
        if last < 0:
            break
        if is_known(ends, found, last):
            return -np.inf
        value = total = sum_pays(pays, ends, found)
        stop = last  # the others have stayed since
    return float(value)


@compiled(forceinline=True)
def sum_pays(pays: FloatArray, ends: IntArray, found: int) -> float:
    """The value of the allocation ``ends[found]``."""
    total = 0.0
    for i in range(ends.shape[1]):
        total += pays[i, ends[found, i]]
    return total
