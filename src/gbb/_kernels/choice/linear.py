"""Local search when an allocation's value is the sum of what its links pay: no optimism.

So it is for posterior draws and plain estimates, whatever the arms and the feedback. ``pay[t, b, a]`` is
half of what a table t pays when the neighbour plays b and the agent a, and ``pays[i, a]`` the
sum over the entries of agent i when it plays a and the others stay; so the value is the sum of
``pays[i, arms[i]]``. Rows by own arm are padded to whole lanes.
"""

from __future__ import annotations

from operator import add as plus
from operator import sub as minus
from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.links import Links, is_known
from gbb._kernels.choice.reply import GAIN, SWEEPS
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    ALL,
    load,
    store,
)
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    fma as times_plus,
)
from gbb._kernels.simd import (
    greater_mask as above,
)
from gbb._kernels.simd import (
    load_broadcast as spread,
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
from gbb._support.checks import FloatArray, IntArray

SHIFT = 5
BITS = 1 << SHIFT
"""So many agents are looked at together where a move leaves most of them as they are: a mispredicted
branch for each agent costs more than a wasted look."""

ARMS = 32
"""So many arms are compared at once."""


class Linear(NamedTuple):
    """What links pay, and what the arms of every agent do.

    Attributes
    ----------
    pay, pays
        See above.
    due
        A bit for every agent whose pays have changed since it was looked at.
    sparse
        Whether a move leaves most of the others as they are.
    """

    pay: FloatArray
    pays: FloatArray
    due: IntArray
    sparse: bool


@kernel(forceinline=True)
def fill_pay(mu: FloatArray, used: IntArray, one: IntArray, two: IntArray, pay: FloatArray) -> None:
    """The tables in use from what the regressors pay."""
    for k in range(used.size):
        t = used[k]
        for b in range(one.shape[1]):
            for a in range(one.shape[2]):
                pay[t, b, a] = 0.5 * (mu[one[t, b, a]] + mu[two[t, b, a]])


@kernel(forceinline=True)
def pays_of_tuple(links: Links, linear: Linear, played: IntArray) -> None:
    """Pays when every group plays its arm of ``played``, from the agents' bundles."""
    K, width = linear.pay.shape[1], linear.pay.shape[2]
    if links.plain and played.size > 1:
        pays_of_degrees(links, linear, played)
        return
    for i in range(linear.pays.shape[0]):
        for lane in range(0, width, WIDTH):
            x = load(links.bars, i * width + lane)
            for e in range(links.bundle_start[i], links.bundle_start[i + 1]):
                row = links.bundle_table[e] * K + played[links.bundle_group[e]]
                w = splat(links.bundle_weight[e])
                x = times_plus(w, load(linear.pay, row * width + lane), x)
            store(linear.pays, i * width + lane, x)


@kernel(forceinline=True)
def pays_of_degrees(links: Links, linear: Linear, played: IntArray) -> None:
    """:func:`pays_of_tuple` where links are plain: a bundle is the agent's degree in a group.

    There are two groups or more; what the first two pay stays at hand.
    """
    width, groups = linear.pay.shape[2], played.size
    step = 0 if links.free else width  # where every arm is allowed, all bars are the first agent's
    for lane in range(0, width, WIDTH):
        one = load(linear.pay, played[0] * width + lane)
        two = load(linear.pay, played[1] * width + lane)
        for i in range(linear.pays.shape[0]):
            x = times_plus(
                spread(links.degrees, i * groups), one, load(links.bars, i * step + lane)
            )
            x = times_plus(spread(links.degrees, i * groups + 1), two, x)
            for g in range(2, groups):
                w = spread(links.degrees, i * groups + g)
                x = times_plus(w, load(linear.pay, played[g] * width + lane), x)
            store(linear.pays, i * width + lane, x)


@kernel(forceinline=True)
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


@kernel(forceinline=True)
def find_beaten(pays: FloatArray, arms: IntArray, first: int, those: int, least: float) -> int:
    """Which of ``those`` agents, bits from ``first`` on, have an arm that pays more than their own."""
    width, found = pays.shape[1], 0
    while those != 0:
        bit = lowest(those)
        those &= those - 1
        row, beaten = (first + bit) * width, 0
        floor = plus(spread(pays, row + arms[first + bit]), splat(least))
        for lane in range(0, width, WIDTH):
            beaten |= above(load(pays, row + lane), floor)
        found |= (beaten != 0) << bit
    return found


@kernel(forceinline=True)
def best_paid(pays: FloatArray, i: int, least: float) -> int:
    """The first of agent i's arms that pay the most, up to ``least``."""
    width = pays.shape[1]
    row = i * width
    top = load(pays, row)
    for lane in range(WIDTH, width, WIDTH):
        x = load(pays, row + lane)
        top = where_above(x, top, x, top)
    floor, first, those = splat(largest_lane(top) - least), -ARMS, 0
    while those == 0:
        first += ARMS
        for lane in range(first, min(first + ARMS, width), WIDTH):
            those |= (ALL ^ above(floor, load(pays, row + lane))) << (lane - first)
    return first + lowest(those)


@kernel(forceinline=True)
def mark_due(linear: Linear, i: int) -> None:
    """Mark agent i as due for a look; in a dense network a move marks everybody instead."""
    if linear.sparse:
        linear.due[np.uint64(i >> SHIFT)] |= 1 << (i & (BITS - 1))


@kernel(forceinline=True)
def mark_all(linear: Linear) -> None:
    """Mark everybody as due for a look."""
    for word in range(linear.due.size):
        linear.due[word] = (1 << min(BITS, linear.pays.shape[0] - word * BITS)) - 1


@kernel(forceinline=True)
def tell_neighbours(links: Links, linear: Linear, i: int, now: int, best: int) -> None:
    """The neighbours' pays after agent i has left arm ``now`` for ``best``; they are to be looked at."""
    pay, pays = linear.pay, linear.pays
    K, width, first, last = pay.shape[1], pay.shape[2], links.start[i], links.start[i + 1]
    if not links.plain:
        for e in range(first, last):
            t, row = links.back[e] * K, links.other[e] * width
            new, old, w = (t + best) * width, (t + now) * width, splat(links.weight[e])
            for lane in range(0, width, WIDTH):
                step = minus(load(pay, new + lane), load(pay, old + lane))
                store(pays, row + lane, times_plus(w, step, load(pays, row + lane)))
            mark_due(linear, links.other[e])
        return
    new, old = best * width, now * width
    for lane in range(0, width, 2 * WIDTH):  # the same step for all; two lanes at once, or the last
        step = minus(load(pay, new + lane), load(pay, old + lane))
        if lane + WIDTH == width:
            for e in range(first, last):
                row = links.other[e] * width + lane
                store(pays, row, plus(load(pays, row), step))
                mark_due(linear, links.other[e])
        else:
            more = minus(load(pay, new + lane + WIDTH), load(pay, old + lane + WIDTH))
            for e in range(first, last):
                row = links.other[e] * width + lane
                store(pays, row, plus(load(pays, row), step))
                store(pays, row + WIDTH, plus(load(pays, row + WIDTH), more))
                mark_due(linear, links.other[e])


@kernel(forceinline=True)
def ascend_linear(
    links: Links,
    linear: Linear,
    ends: IntArray,
    found: int,
    worth: float,
    fresh: bool,
    least: float,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]``, of the value ``worth``, whose pays are given, and changes both. A visit
    costs O(K), a move O(degree K); after the first sweep only those whose pays have changed are visited.
    What differs by ``least`` or less is the same: the first of such arms is taken, and none is left for
    another. Minus infinity where it joins an end of an earlier search, or where no agent moves unless
    the start is ``fresh``: nothing better comes of either.
    """
    pays, due, arms = linear.pays, linear.due, ends[found]
    total, moved = worth, False
    mark_all(linear)
    for _ in range(SWEEPS):
        last = -1
        for word in range(due.size):
            first, todo, beaten, due[word] = word * BITS, due[word], 0, 0
            while todo != 0 or beaten != 0:
                looked = todo if linear.sparse else todo & -todo
                todo ^= looked
                beaten |= find_beaten(pays, arms, first, looked, least)
                if beaten == 0:
                    continue
                bit = lowest(beaten)
                beaten &= beaten - 1
                i = first + bit
                now, best = arms[i], best_paid(pays, i, least)
                gain = 2.0 * (pays[i, best] - pays[i, now])
                if gain > max(GAIN * abs(total), least):
                    last, moved = i, True
                    total += gain
                    arms[i] = best
                    tell_neighbours(links, linear, i, now, best)
                    if not linear.sparse:
                        mark_all(linear)
                    again = due[word] & (-2 << bit)  # neighbours whose turn is still to come
                    due[word] ^= again
                    beaten &= ~again
                    todo |= again
        if last < 0:
            break
        if is_known(ends, found, last):
            return -np.inf
    if moved:
        return sum_pays(pays, arms)
    return worth if fresh else -np.inf


@kernel(forceinline=True)
def sum_pays(pays: FloatArray, arms: IntArray) -> float:
    """The value of an allocation, in four sums that do not wait for one another."""
    total = one = two = three = 0.0
    whole = arms.size - arms.size % 4
    for i in range(0, whole, 4):
        total += pays[i, arms[i]]
        one += pays[i + 1, arms[i + 1]]
        two += pays[i + 2, arms[i + 2]]
        three += pays[i + 3, arms[i + 3]]
    for i in range(whole, arms.size):
        total += pays[i, arms[i]]
    return (total + one) + (two + three)
