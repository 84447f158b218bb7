"""Local search if an allocation's value is the sum of what its links pay: no optimism.

So it is for posterior draws and plain estimates, whatever the arms and the feedback. ``pay[t, b, a]`` is
half of what a table t pays if the neighbour plays b and the agent a, and ``gains[i, a]`` the sum over
the entries of agent i if it plays a and the others stay; so the value is the sum of
``gains[i, arms[i]]``. Rows by own arm are padded to whole vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.layout import Layout
from gbb._kernels.index.search import GAIN, SWEEPS, is_duplicate
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    broadcast,
    fma,
    greater_mask,
    load,
    load_broadcast,
    lowest_bit,
    max_element,
    select_greater,
    store,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

ALL = (1 << WIDTH) - 1

SHIFT = 5
BITS = 1 << SHIFT
"""So many agents are looked at together if a move leaves most of them as they are: a mispredicted
branch for each agent costs more than a wasted look."""

ARMS = 32
"""So many arms are compared at once."""


class LinearSearch(NamedTuple):
    """What links pay, and what the arms of every agent do.

    Attributes
    ----------
    pay, gains
        See above.
    due
        A bit for every agent whose gains have changed since it was looked at.
    sparse
        Whether a move leaves most of the others as they are.
    """

    pay: FloatArray
    gains: FloatArray
    due: IntArray
    sparse: bool


@kernel(forceinline=True)
def fill_pay(layout: Layout, mu: FloatArray, pay: FloatArray) -> None:
    """Fill in the tables in play from what the regressors pay."""
    one, two = layout.one, layout.two
    for k in range(layout.tables_in_play.size):
        t = layout.tables_in_play[k]
        for b in range(one.shape[1]):
            for a in range(one.shape[2]):
                pay[t, b, a] = 0.5 * (mu[one[t, b, a]] + mu[two[t, b, a]])


@kernel(forceinline=True)
def gains_of_tuple(layout: Layout, linear: LinearSearch, played: IntArray) -> None:
    """Fill in the gains if every group plays its arm of ``played``, from the agents' bundles."""
    pay, gains = linear.pay, linear.gains
    K, width = pay.shape[1], pay.shape[2]
    for i in range(gains.shape[0]):
        for lane in range(0, width, WIDTH):
            x = load(layout.penalty, i * width + lane)
            for e in range(layout.bundle_start[i], layout.bundle_start[i + 1]):
                row = layout.bundle_table[e] * K + played[layout.bundle_group[e]]
                w = broadcast(layout.bundle_weight[e])
                x = fma(w, load(pay, row * width + lane), x)
            store(gains, i * width + lane, x)


@kernel(forceinline=True)
def gains_of_arms(layout: Layout, linear: LinearSearch, arms: IntArray) -> None:
    """Fill in the gains if the agents play ``arms``."""
    pay, gains = linear.pay, linear.gains
    K, width = pay.shape[1], pay.shape[2]
    for i in range(gains.shape[0]):
        for lane in range(0, width, WIDTH):
            x = load(layout.penalty, i * width + lane)
            for e in range(layout.start[i], layout.start[i + 1]):
                row = layout.table[e] * K + arms[layout.other[e]]
                w = broadcast(layout.weight[e])
                x = fma(w, load(pay, row * width + lane), x)
            store(gains, i * width + lane, x)


@kernel(forceinline=True)
def find_improvable(gains: FloatArray, arms: IntArray, first: int, those: int, least: float) -> int:
    """Return which of ``those`` agents, bits from ``first`` on, have an arm that pays more."""
    width, found = gains.shape[1], 0
    while those != 0:
        bit = lowest_bit(those)
        those &= those - 1
        row, better = (first + bit) * width, 0
        floor = load_broadcast(gains, row + arms[first + bit]) + least
        for lane in range(0, width, WIDTH):
            better |= greater_mask(load(gains, row + lane), floor)
        found |= (better != 0) << bit
    return found


@kernel(forceinline=True)
def best_arm(gains: FloatArray, i: int, least: float) -> int:
    """Return the first of agent i's arms that pay the most, up to ``least``."""
    width = gains.shape[1]
    row = i * width
    top = load(gains, row)
    for lane in range(WIDTH, width, WIDTH):
        x = load(gains, row + lane)
        top = select_greater(x, top, x, top)
    floor, first, those = broadcast(max_element(top) - least), -ARMS, 0
    while those == 0:
        first += ARMS
        for lane in range(first, min(first + ARMS, width), WIDTH):
            those |= (ALL ^ greater_mask(floor, load(gains, row + lane))) << (lane - first)
    return first + lowest_bit(those)


@kernel(forceinline=True)
def mark_all(linear: LinearSearch) -> None:
    """Mark everybody as due for a look."""
    for word in range(linear.due.size):
        linear.due[word] = (1 << min(BITS, linear.gains.shape[0] - word * BITS)) - 1


@kernel(forceinline=True)
def update_neighbours(layout: Layout, linear: LinearSearch, i: int, old: int, new: int) -> None:
    """Update the neighbours' gains after agent i has left arm ``old`` for ``new``; they are due."""
    pay, gains = linear.pay, linear.gains
    K, width = pay.shape[1], pay.shape[2]
    for e in range(layout.start[i], layout.start[i + 1]):
        j, t, w = layout.other[e], layout.back[e] * K, broadcast(layout.weight[e])
        for lane in range(0, width, WIDTH):
            step = load(pay, (t + new) * width + lane) - load(pay, (t + old) * width + lane)
            place = j * width + lane
            store(gains, place, fma(w, step, load(gains, place)))
        if linear.sparse:  # in a dense network a move marks everybody instead
            linear.due[np.uint64(j >> SHIFT)] |= 1 << (j & (BITS - 1))


@kernel(forceinline=True)
def improve_linear(
    layout: Layout,
    linear: LinearSearch,
    optima: IntArray,
    found: int,
    start_value: float,
    random: bool,
    least: float,
) -> float:
    """Let agents in turn take their best arm until none gains; return the value reached.

    Starts from ``optima[found]``, worth ``start_value``, whose gains are filled in, and changes both. A
    visit costs O(K), a move O(degree K); after the first sweep only those whose gains have changed are
    visited. What differs by ``least`` or less is the same: the first of such arms is taken, and none is
    left for another. Returns minus infinity if it joins the end of an earlier search, or if no agent
    moves from a start that is a tuple (not ``random``): nothing better comes of either.
    """
    gains, due, arms = linear.gains, linear.due, optima[found]
    total, moved = start_value, False
    mark_all(linear)
    for _ in range(SWEEPS):
        last = -1
        for word in range(due.size):
            first, todo, improvable, due[word] = word * BITS, due[word], 0, 0
            while todo != 0 or improvable != 0:
                # Sparse: a whole word of agents at once; dense: one, as a move concerns all others.
                looked = todo if linear.sparse else todo & -todo
                todo ^= looked
                improvable |= find_improvable(gains, arms, first, looked, least)
                if improvable == 0:
                    continue
                bit = lowest_bit(improvable)
                improvable &= improvable - 1
                i = first + bit
                old, new = arms[i], best_arm(gains, i, least)
                gain = 2.0 * (gains[i, new] - gains[i, old])
                if gain > max(GAIN * abs(total), least):
                    last, moved = i, True
                    total += gain
                    arms[i] = new
                    update_neighbours(layout, linear, i, old, new)
                    if not linear.sparse:
                        mark_all(linear)
                    again = due[word] & (-2 << bit)  # neighbours whose turn is still to come
                    due[word] ^= again
                    improvable &= ~again
                    todo |= again
        if last < 0:
            break
        if is_duplicate(optima, found, last):
            return -np.inf
    if moved:
        return value_of(gains, arms)
    return start_value if random else -np.inf


@kernel(forceinline=True)
def value_of(gains: FloatArray, arms: IntArray) -> float:
    """Return the value of an allocation, in four sums that do not wait for one another."""
    total = one = two = three = 0.0
    whole = arms.size - arms.size % 4
    for i in range(0, whole, 4):
        total += gains[i, arms[i]]
        one += gains[i + 1, arms[i + 1]]
        two += gains[i + 2, arms[i + 2]]
        three += gains[i + 3, arms[i + 3]]
    for i in range(whole, arms.size):
        total += gains[i, arms[i]]
    return (total + one) + (two + three)
