"""Local search on the optimistic value when every regressor has a coordinate to itself.

Then A is diagonal: an allocation whose edges add ``c_s`` to regressor s is worth
``sum c_s mu_s + radius sqrt(sum c_s^2 var_s)``, and only the counts need to be kept. They stand in
tables by neighbour's and own arm, as the entries of the links do. Each regressor has two places, one as
either end of its edges sees it: (b, a) of a table and (a, b) of its mate.
"""

from __future__ import annotations

from operator import add as plus
from operator import mul as times
from operator import sub as minus
from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.links import Links, is_known
from gbb._kernels.choice.passing import is_alike, largest_var, next_due, tilt
from gbb._kernels.choice.reply import SWEEPS, best_of_lane, margin_of
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    fma as times_plus,
)
from gbb._kernels.simd import (
    load,
    store,
)
from gbb._kernels.simd import (
    lowest_bit as lowest,
)
from gbb._kernels.simd import (
    max_element as largest_lane,
)
from gbb._kernels.simd import (
    not_equal_mask as unlike,
)
from gbb._kernels.simd import (
    select_greater as where_above,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Counted(NamedTuple):
    """What the search is on, and its scratch space.

    Attributes
    ----------
    mean, var, counts
        Of the regressors, by table, neighbour's arm and own arm; rows padded to whole lanes.
    level
        The variance of an arm with itself, by table and arm, as padded.
    mate
        The table by which the other end sees the same edges.
    slot_start, slot_table, slot_mate
        The tables of each agent are its *slots*: where they start, which they are, and the slot of the
        same agent with the table's mate (-1 if there is none).
    slot, back
        Of every entry: the agent's slot, and that of the neighbour that lists the same edge.
    bundle_slot
        Of every bundle: the agent's slot.
    joint_table, joint_own, joint_other, joint_weight
        All entries summed by table, by the agents' group and by the neighbours'.
    around, crowd
        By slot and arm: what the entries add whose neighbours play it, and how many these are. Where
        there are none nothing is added, not what rounding left. Plain links have no rounding, and
        are not counted in ``crowd``.
    rows, shares
        Where the rows of the tables around an agent start, and what they count.
    added
        What each arm adds to mean and squared norm (2 x K, rows padded to whole lanes).
    last
        By arm: the slot of the last agent that had no reason to leave it, -1 after a move.
    reach
        The largest weight around an agent, 2 for each link that weighs 1, where agents are passed over
        by their limits; else 0.
    slopes
        ``radius c_s var_s / sqrt(norm2)``, as ``counts``.
    apart
        Minus infinity for an arm beside itself, else 0 (K x K, rows padded to whole lanes).
    limits
        By agent: how far slopes may drift before it is to be looked at; padded to whole lanes.
    found
        See :func:`~gbb._kernels.choice.reply.best_of_lane`.
    """

    mean: FloatArray
    var: FloatArray
    counts: FloatArray
    level: FloatArray
    mate: IntArray
    slot_start: IntArray
    slot_table: IntArray
    slot_mate: IntArray
    slot: IntArray
    back: IntArray
    bundle_slot: IntArray
    joint_table: IntArray
    joint_own: IntArray
    joint_other: IntArray
    joint_weight: FloatArray
    around: FloatArray
    crowd: IntArray
    rows: IntArray
    shares: FloatArray
    added: FloatArray
    last: IntArray
    reach: float
    slopes: FloatArray
    apart: FloatArray
    limits: FloatArray
    found: FloatArray


@kernel(forceinline=True)
def count_tuple(links: Links, counted: Counted, played: IntArray) -> None:
    """Counts, and what is around every agent, when every group plays its arm of ``played``."""
    clear(links, counted)
    for i in range(links.degrees.shape[0] if links.plain else 0):
        x = counted.slot_start[i]
        for c in range(played.size if x < counted.slot_start[i + 1] else 0):
            counted.around[x, played[c]] += 2.0 * links.degrees[i, c]
    for e in range(0 if links.plain else links.bundle_group.size):
        x, b = counted.bundle_slot[e], played[links.bundle_group[e]]
        counted.around[x, b] += 2.0 * links.bundle_weight[e]
        counted.crowd[x, b] += links.bundle_size[e]
    for p in range(counted.joint_table.size):
        b, a = played[counted.joint_other[p]], played[counted.joint_own[p]]
        counted.counts[counted.joint_table[p], b, a] += 2.0 * counted.joint_weight[p]
    halve_level(links, counted)


@kernel(forceinline=True)
def count_arms(links: Links, counted: Counted, ends: IntArray, found: int) -> None:
    """Counts, and what is around every agent, when the agents play ``ends[found]``."""
    clear(links, counted)
    for i in range(ends.shape[1]):
        for e in range(links.start[i], links.start[i + 1]):
            w, x, b = 2.0 * links.weight[e], counted.slot[e], ends[found, links.other[e]]
            counted.around[x, b] += w
            counted.crowd[x, b] += not links.plain
            counted.counts[links.table[e], b, ends[found, i]] += w
    halve_level(links, counted)


@kernel(forceinline=True)
def clear(links: Links, counted: Counted) -> None:
    """Nobody plays anything."""
    counted.around[:, :] = 0.0
    if not links.plain:
        counted.crowd[:, :] = 0
    for k in range(links.used.size):
        counted.counts[links.used[k], :, :] = 0.0


@kernel(forceinline=True)
def halve_level(links: Links, counted: Counted) -> None:
    """An arm with itself has one place where a table is its own mate, to which both ends have added."""
    for k in range(links.used.size):
        t = links.used[k]
        for a in range(counted.counts.shape[1] if counted.mate[t] == t else 0):
            counted.counts[t, a, a] *= 0.5


@kernel(forceinline=True)
def totals(links: Links, counted: Counted) -> tuple[float, float]:
    """``sum c_s mu_s`` and ``sum c_s^2 var_s``."""
    mean, norm2 = 0.0, 0.0
    K = counted.counts.shape[1]
    for k in range(links.used.size):
        t = links.used[k]
        for b in range(K if counted.mate[t] >= t else 0):
            for a in range(b + 1 if counted.mate[t] == t else K):
                c = counted.counts[t, b, a]
                mean += c * counted.mean[t, b, a]
                norm2 += c * c * counted.var[t, b, a]
    return mean, norm2


@kernel(forceinline=True)
def move(links: Links, counted: Counted, i: int, now: int, best: int) -> None:
    """Agent i leaves arm ``now`` for ``best``; it and its neighbours are to be looked at."""
    count, around, mate = counted.counts, counted.around, counted.mate
    for x in range(counted.slot_start[i], counted.slot_start[i + 1]):
        t = counted.slot_table[x]
        for lane in range(0, around.shape[1], WIDTH):
            those = unlike(load(around, x * around.shape[1] + lane), splat(0.0))
            while those != 0:
                b = lane + lowest(those)
                those &= those - 1
                w = around[x, b]
                count[t, b, now] -= w
                count[mate[t], now, b] = count[t, b, now]
                count[t, b, best] += w
                count[mate[t], best, b] = count[t, b, best]
    counted.limits[i] = -1.0
    for e in range(links.start[i], links.start[i + 1]):
        x = counted.back[e]
        counted.limits[links.other[e]] = -1.0
        if links.plain:
            around[x, now] -= 2.0
            around[x, best] += 2.0
            continue
        w = 2.0 * links.weight[e]
        counted.crowd[x, now] -= 1
        counted.crowd[x, best] += 1
        around[x, now] = around[x, now] - w if counted.crowd[x, now] > 0 else 0.0
        around[x, best] += w


@kernel(forceinline=True)
def best_reply(
    links: Links,
    counted: Counted,
    ends: IntArray,
    found: int,
    i: int,
    radius: float,
    mean: float,
    norm2: float,
    slope: float,
    lazy: bool,
) -> tuple[int, float]:
    """The agent's best arm, its own unless another gains, and by how much slopes may drift until then.

    See :func:`best_of_lane` for what it leaves, and :mod:`gbb._kernels.choice.passing` for slopes;
    without ``lazy`` these are not looked at. ``mean`` and ``norm2`` are those of the whole allocation.
    Where a regressor counts ``c``, w more add ``w (2 c + w) var`` to norm2, and w less take ``w (2 c -
    w) var`` from it, which is ``2 w^2 var`` less. What the agent leaves and what it takes up meet in the
    regressors of arms ``now`` and a; what it takes up by a table and by its mate in those of a and a.
    """
    var, around, level = counted.var, counted.around, counted.level
    rows, shares, mates = counted.rows, counted.shares, counted.slot_mate
    K, width = var.shape[1], var.shape[2]
    now, first, last = ends[found, i], counted.slot_start[i], counted.slot_start[i + 1]
    items, left, weight = 0, 0.0, 0.0
    for x in range(first, last):
        t = counted.slot_table[x]
        for lane in range(0, width, WIDTH):
            those = unlike(load(around, x * width + lane), splat(0.0))
            while those != 0:
                b = lane + lowest(those)
                those &= those - 1
                w = around[x, b]
                left += w * w * var[t, b, now]
                rows[items], shares[items] = (t * K + b) * width, w
                items += 1
                weight += abs(w)
        if mates[x] > x:
            left += around[x, now] * around[mates[x], now] * var[t, now, now]
    for lane in range(0, width, WIDTH):
        means, norms = splat(0.0), splat(0.0)
        for j in range(items):
            at, share = rows[j] + lane, splat(shares[j])
            c = load(counted.counts, at)
            means = times_plus(share, load(counted.mean, at), means)
            more = times(share, plus(plus(c, c), share))
            norms = times_plus(more, load(var, at), norms)
        store(counted.added, lane, means)
        store(counted.added, width + lane, norms)
    rest_mean, rest_norm2 = mean - counted.added[0, now], norm2 - counted.added[1, now] + 2.0 * left
    spread = radius * np.sqrt(norm2)
    margin = margin_of(mean, spread)
    best, top, gains = now, mean + spread + margin, splat(-np.inf)
    for lane in range(0, width, WIDTH):
        means = plus(load(links.bars, i * width + lane), splat(rest_mean))
        means = plus(means, load(counted.added, lane))
        norms = plus(splat(rest_norm2), load(counted.added, width + lane))
        for x in range(first, last):
            y, t = mates[x], counted.slot_table[x]
            if y >= 0 and around[x, now] != 0.0:
                both = times(splat(-2.0 * around[x, now]), load(around, y * width + lane))
                norms = times_plus(both, load(var, (t * K + now) * width + lane), norms)
            if y > x:
                both = times(load(around, x * width + lane), load(around, y * width + lane))
                norms = times_plus(plus(both, both), load(level, t * width + lane), norms)
        if lazy:
            gain = times_plus(splat(slope), minus(norms, splat(norm2)), minus(means, splat(mean)))
            gain = plus(gain, load(counted.apart, now * width + lane))
            gains = where_above(gain, gains, gain, gains)
        arm, top = best_of_lane(means, norms, lane, now, radius, margin, top, counted.found)
        if arm >= 0:
            best = arm
    spare = -largest_lane(gains) / weight if lazy and weight > 0.0 else np.inf
    return int(best), spare


@kernel(forceinline=True)
def ascend_counts(
    links: Links, counted: Counted, radius: float, ends: IntArray, found: int, fresh: bool
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]``, whose counts are given, and changes both. A visit costs
    O(K min(degree, K)) for each of the agent's tables, a move O(degree). Where all links are of one
    table, agents are passed over as :mod:`gbb._kernels.choice.passing` says. Minus infinity as in
    :func:`gbb._kernels.choice.linear.ascend_linear`.
    """
    n, last, limits = ends.shape[1], counted.last, counted.limits
    mean, norm2 = totals(links, counted)
    value = mean + radius * np.sqrt(norm2) if fresh else -np.inf
    lazy, drift, slope, most = counted.reach > 0.0 and norm2 > 0.0, 0.0, 0.0, 0.0
    if lazy:
        slope, most = radius / (2.0 * np.sqrt(norm2)), largest_var(counted.var)
        tilt(counted.slopes, counted.counts, counted.var, slope)
    one_table = counted.mate.size == 1 and links.free and not lazy
    last[:] = -1
    if lazy:
        limits[:n] = -1.0
    idle, i, visits, mover = 0, 0, 0, -1
    block, those = -WIDTH, 0
    while idle < n and visits < SWEEPS * n:
        stop = min(n, i + n - idle)
        due = i
        if lazy:
            due, block, those = next_due(limits, drift, i, stop, block, those)
        idle += due - i
        visits += due - i
        i = due
        if i < stop:
            now, x = ends[found, i], counted.slot_start[i]
            best = now
            if x < counted.slot_start[i + 1] and not (
                one_table and is_alike(counted.around, x, last[now])
            ):
                best, spare = best_reply(
                    links, counted, ends, found, i, radius, mean, norm2, slope, lazy
                )
                if best == now:
                    last[now] = x
                if lazy:
                    limits[i] = drift + spare
            idle += 1
            visits += 1
            those &= those - 1
            if best != now:
                block = -WIDTH
                idle, mover = 1, i
                ends[found, i] = best
                last[:] = -1
                mean, norm2 = counted.found[2, 0], counted.found[2, 1]
                move(links, counted, i, now, best)
                if lazy and norm2 > 0.0:
                    old, slope = slope, radius / (2.0 * np.sqrt(norm2))
                    drift += tilt(counted.slopes, counted.counts, counted.var, slope)
                    drift += 4.0 * abs(slope - old) * most * counted.reach
                else:  # at a norm of 0 the root has no slope
                    lazy = False
            i += 1
        if i == n:
            i, block = 0, -WIDTH
            if mover >= 0:
                mean, norm2 = totals(links, counted)
                if is_known(ends, found, mover):
                    return -np.inf
    if mover >= 0:
        mean, norm2 = totals(links, counted)
        value = mean + radius * np.sqrt(norm2)
    return float(value)
