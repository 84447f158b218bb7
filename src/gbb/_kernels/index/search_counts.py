"""Local search on the optimistic value if estimates are independent across regressors.

Then A is diagonal: an allocation whose edges add ``c_s`` to regressor s is worth
``sum c_s mean_s + radius sqrt(sum c_s^2 var_s)``, and only the counts need to be kept. They stand in
tables by neighbour's and own arm, as the entries of the links do. Each regressor has two places, one as
either end of its edges sees it: (b, a) of a table and (a, b) of its reverse. An arm beside itself has
one place in two tables, or two places in one.

Agents are passed over that would stay, if all links are of one table:

In small or dense networks where all arms are allowed, an agent with the same arm and the same arms
around it as another that has stayed since the last move.

In large and sparse ones an agent that has stayed, while no neighbour has moved and none of its arms can
gain yet. The square root is concave, so with ``slope = radius / (2 sqrt(norm2))`` another arm gains at
most what it adds to ``mean + slope norm2``. If it changes counts c by u, these are ``<u, mean>``, the
sum of ``u_s`` times *slopes* ``2 slope c_s var_s``, and ``slope sum u_s^2 var_s``. A move elsewhere
changes neither u nor the means. With w the weight around the agent, it adds to the sum at most w times
what sets the changes of two slopes apart, and to the last term at most ``4 w^2 var`` times the change of
slope. Over all moves, and with the largest w for one of two, this is w times the *drift*; the agent's
limit is the drift that makes up for what its best arm is short of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.layout import Layout
from gbb._kernels.index.search import SWEEPS, best_of_vector, is_duplicate, margin_of
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    broadcast,
    fma,
    greater_mask,
    load,
    lowest_bit,
    max_element,
    not_equal_mask,
    select_greater,
    store,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class CountsSearch(NamedTuple):
    """What the search is on, and its scratch space.

    Attributes
    ----------
    mean, var, counts
        Of the regressors, by table, neighbour's arm and own arm; rows padded to whole vectors.
    level
        The variance of an arm with itself, by table and arm, as padded.
    reverse
        The table by which the other end sees the same edges.
    weights, neighbours
        By slot and arm: what the entries add whose neighbours play it, and how many these are.
    rows, shares
        Where the rows of the tables around an agent start, and what they count.
    added
        What each arm adds to mean and squared norm (2 x K, rows padded to whole vectors).
    last
        By arm: the slot of the last agent that had no reason to leave it, -1 after a move.
    reach
        The largest weight around an agent, 2 for each link that weighs 1, if agents are passed over by
        their limits; else 0.
    slopes
        ``radius c_s var_s / sqrt(norm2)``, as ``counts``.
    apart
        Minus infinity for an arm beside itself, else 0 (K x K, rows padded to whole vectors).
    limits
        By agent: how far slopes may drift before it is to be looked at; padded to whole vectors.
    best
        See :func:`~gbb._kernels.index.search.best_of_vector`.
    """

    mean: FloatArray
    var: FloatArray
    counts: FloatArray
    level: FloatArray
    reverse: IntArray
    weights: FloatArray
    neighbours: IntArray
    rows: IntArray
    shares: FloatArray
    added: FloatArray
    last: IntArray
    reach: float
    slopes: FloatArray
    apart: FloatArray
    limits: FloatArray
    best: FloatArray


# Counting


@kernel(forceinline=True)
def count_tuple(layout: Layout, search: CountsSearch, played: IntArray) -> None:
    """Count regressors, and what is around every agent, if every group plays its arm of ``played``."""
    clear(layout, search)
    for i in range(layout.group.size):
        a = played[layout.group[i]]
        for e in range(layout.bundle_start[i], layout.bundle_start[i + 1]):
            w, x = 2.0 * layout.bundle_weight[e], layout.bundle_slot[e]
            b = played[layout.bundle_group[e]]
            search.weights[x, b] += w
            search.neighbours[x, b] += layout.bundle_size[e]
            search.counts[layout.bundle_table[e], b, a] += w
    halve_level(layout, search)


@kernel(forceinline=True)
def count_arms(layout: Layout, search: CountsSearch, arms: IntArray) -> None:
    """Count regressors, and what is around every agent, if the agents play ``arms``."""
    clear(layout, search)
    for i in range(arms.size):
        for e in range(layout.start[i], layout.start[i + 1]):
            w, x, b = 2.0 * layout.weight[e], layout.slot[e], arms[layout.other[e]]
            search.weights[x, b] += w
            search.neighbours[x, b] += 1
            search.counts[layout.table[e], b, arms[i]] += w
    halve_level(layout, search)


@kernel(forceinline=True)
def clear(layout: Layout, search: CountsSearch) -> None:
    """Count nothing."""
    search.weights[:, :] = 0.0
    search.neighbours[:, :] = 0
    for k in range(layout.tables_in_play.size):
        search.counts[layout.tables_in_play[k], :, :] = 0.0


@kernel(forceinline=True)
def halve_level(layout: Layout, search: CountsSearch) -> None:
    """Halve the count of an arm with itself if a table is its own reverse: both ends added to it."""
    for k in range(layout.tables_in_play.size):
        t = layout.tables_in_play[k]
        for a in range(search.counts.shape[1] if search.reverse[t] == t else 0):
            search.counts[t, a, a] *= 0.5


@kernel(forceinline=True)
def sum_counts(layout: Layout, search: CountsSearch) -> tuple[float, float]:
    """Return ``sum c_s mean_s`` and ``sum c_s^2 var_s``, each regressor from one of its two places."""
    mean, norm2 = 0.0, 0.0
    K = search.counts.shape[1]
    for k in range(layout.tables_in_play.size):
        t = layout.tables_in_play[k]
        for b in range(K if search.reverse[t] >= t else 0):
            for a in range(b + 1 if search.reverse[t] == t else K):
                c = search.counts[t, b, a]
                mean += c * search.mean[t, b, a]
                norm2 += c * c * search.var[t, b, a]
    return mean, norm2


@kernel(forceinline=True)
def move(layout: Layout, search: CountsSearch, i: int, old: int, new: int) -> None:
    """Let agent i leave arm ``old`` for ``new``; it and its neighbours are to be looked at."""
    counts, weights, reverse = search.counts, search.weights, search.reverse
    width = weights.shape[1]
    for x in range(layout.slot_start[i], layout.slot_start[i + 1]):
        t = layout.slot_table[x]
        for lane in range(0, width, WIDTH):
            those = not_equal_mask(load(weights, x * width + lane), broadcast(0.0))
            while those != 0:
                b = lane + lowest_bit(those)
                those &= those - 1
                w = weights[x, b]
                counts[t, b, old] -= w
                counts[reverse[t], old, b] = counts[t, b, old]
                counts[t, b, new] += w
                counts[reverse[t], new, b] = counts[t, b, new]
    search.limits[i] = -1.0
    for e in range(layout.start[i], layout.start[i + 1]):
        x, w = layout.back_slot[e], 2.0 * layout.weight[e]
        search.limits[layout.other[e]] = -1.0
        weights[x, new] += w
        if layout.plain:  # whole numbers have no rounding
            weights[x, old] -= w
            continue
        search.neighbours[x, old] -= 1
        search.neighbours[x, new] += 1
        # Exactly 0 if nobody is left: what rounding left would be searched for ever.
        weights[x, old] = weights[x, old] - w if search.neighbours[x, old] > 0 else 0.0


# Agents that are passed over


@kernel(forceinline=True)
def is_alike(weights: FloatArray, one: int, other: int) -> bool:
    """Return whether ``other`` is a slot (not -1) with the same arms around it."""
    same = other >= 0
    for b in range(weights.shape[1]):
        same = same and weights[one, b] == weights[other, b]
    return same


@kernel(forceinline=True)
def update_slopes(search: CountsSearch, slope: float) -> float:
    """Renew the slopes; return how far apart, at most, two of them have moved."""
    slopes, counts, var = search.slopes, search.counts, search.var
    double, up, down = broadcast(2.0 * slope), broadcast(0.0), broadcast(0.0)
    for at in range(0, slopes.size, WIDTH):
        old, new = load(slopes, at), double * load(counts, at) * load(var, at)
        rise, fall = new - old, old - new
        up, down = select_greater(rise, up, rise, up), select_greater(fall, down, fall, down)
        store(slopes, at, new)
    return max_element(up) + max_element(down)


@kernel(forceinline=True)
def largest_var(var: FloatArray) -> float:
    """Return the largest variance."""
    top = broadcast(0.0)
    for at in range(0, var.size, WIDTH):
        x = load(var, at)
        top = select_greater(x, top, x, top)
    return max_element(top)


@kernel(forceinline=True)
def next_due(
    limits: FloatArray, drift: float, i: int, stop: int, block: int, those: int
) -> tuple[int, int, int]:
    """Return the first agent from i on whose limit the drift is above; ``stop`` if there is none.

    ``those`` are, as bits, the agents of the eight from ``block`` on that are still due. They are
    returned so that the next call need not reload a limit that was just written: a vector load over a
    fresh scalar store stalls for as long as a whole visit. Once i leaves the block another is loaded;
    after a move the caller passes ``block = -WIDTH``.
    """
    now = broadcast(drift)
    if not block <= i < block + WIDTH:
        block = i - i % WIDTH
        those = greater_mask(now, load(limits, block)) & (-1 << (i - block))
    while those == 0 and block + WIDTH < stop:
        block += WIDTH
        those = greater_mask(now, load(limits, block))
    return min(block + lowest_bit(those), stop) if those != 0 else stop, block, those


# The search


@kernel(forceinline=True)
def best_response(
    layout: Layout,
    search: CountsSearch,
    i: int,
    current: int,
    radius: float,
    mean: float,
    norm2: float,
    slope: float,
    lazy: bool,
) -> tuple[int, float]:
    """Return the agent's best arm, its own unless one gains, and how far slopes may drift until then.

    See :func:`best_of_vector` for what it leaves; without ``lazy`` slopes are not looked at. ``mean``
    and ``norm2`` are those of the whole allocation. If a regressor counts ``c``, w more add
    ``w (2 c + w) var`` to norm2, and w less take ``w (2 c - w) var`` from it, which is ``2 w^2 var``
    less. What the agent leaves and what it takes up meet in the regressors of arms ``current`` and a;
    what it takes up by a table and by its reverse in those of a and a.
    """
    var, weights, level = search.var, search.weights, search.level
    rows, shares, reverses = search.rows, search.shares, layout.slot_reverse
    K, width = var.shape[1], var.shape[2]
    first, last = layout.slot_start[i], layout.slot_start[i + 1]
    items, left, weight = 0, 0.0, 0.0
    for x in range(first, last):
        t = layout.slot_table[x]
        for lane in range(0, width, WIDTH):
            those = not_equal_mask(load(weights, x * width + lane), broadcast(0.0))
            while those != 0:
                b = lane + lowest_bit(those)
                those &= those - 1
                w = weights[x, b]
                left += w * w * var[t, b, current]
                rows[items], shares[items] = (t * K + b) * width, w
                items += 1
                weight += abs(w)
        if reverses[x] > x:
            left += weights[x, current] * weights[reverses[x], current] * var[t, current, current]
    for lane in range(0, width, WIDTH):
        means, norms = broadcast(0.0), broadcast(0.0)
        for j in range(items):
            at, share = rows[j] + lane, broadcast(shares[j])
            c = load(search.counts, at)
            means = fma(share, load(search.mean, at), means)
            more = share * (c + c + share)
            norms = fma(more, load(var, at), norms)
        store(search.added, lane, means)
        store(search.added, width + lane, norms)
    rest_mean = mean - search.added[0, current]
    rest_norm2 = norm2 - search.added[1, current] + 2.0 * left
    spread = radius * np.sqrt(norm2)
    margin = margin_of(mean, spread)
    best, top, gains = current, mean + spread + margin, broadcast(-np.inf)
    for lane in range(0, width, WIDTH):
        means = load(layout.penalty, i * width + lane) + rest_mean
        means = means + load(search.added, lane)
        norms = rest_norm2 + load(search.added, width + lane)
        for x in range(first, last):
            y, t = reverses[x], layout.slot_table[x]
            if y >= 0 and weights[x, current] != 0.0:
                both = -2.0 * weights[x, current] * load(weights, y * width + lane)
                norms = fma(both, load(var, (t * K + current) * width + lane), norms)
            if y > x:
                both = load(weights, x * width + lane) * load(weights, y * width + lane)
                norms = fma(both + both, load(level, t * width + lane), norms)
        if lazy:
            gain = fma(slope, norms - norm2, means - mean)
            gain = gain + load(search.apart, current * width + lane)
            gains = select_greater(gain, gains, gain, gains)
        arm, top = best_of_vector(means, norms, lane, current, radius, margin, top, search.best)
        if arm >= 0:
            best = arm
    spare = -max_element(gains) / weight if lazy and weight > 0.0 else np.inf
    return int(best), spare


@kernel(forceinline=True)
def improve_counts(
    layout: Layout, search: CountsSearch, radius: float, optima: IntArray, found: int, random: bool
) -> float:
    """Let agents in turn take their best arm until none gains; return the value reached.

    Starts from ``optima[found]``, which is counted, and changes both. A visit costs
    O(K min(degree, K)) for each of the agent's tables, a move O(degree). Returns minus infinity as
    :func:`gbb._kernels.index.search_linear.improve_linear` does.
    """
    n, last, limits = optima.shape[1], search.last, search.limits
    mean, norm2 = sum_counts(layout, search)
    value = mean + radius * np.sqrt(norm2) if random else -np.inf
    lazy, drift, slope, most = search.reach > 0.0 and norm2 > 0.0, 0.0, 0.0, 0.0
    if lazy:
        slope, most = radius / (2.0 * np.sqrt(norm2)), largest_var(search.var)
        update_slopes(search, slope)
        limits[:n] = -1.0
    one_table = search.reverse.size == 1 and layout.free and not lazy
    last[:] = -1
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
            old, x = optima[found, i], layout.slot_start[i]
            new = old
            if x < layout.slot_start[i + 1] and not (
                one_table and is_alike(search.weights, x, last[old])
            ):
                new, spare = best_response(layout, search, i, old, radius, mean, norm2, slope, lazy)
                if new == old:
                    last[old] = x
                if lazy:
                    limits[i] = drift + spare
            idle += 1
            visits += 1
            those &= those - 1
            if new != old:
                block = -WIDTH
                idle, mover = 1, i
                optima[found, i] = new
                last[:] = -1
                mean, norm2 = search.best[2, 0], search.best[2, 1]
                move(layout, search, i, old, new)
                if lazy and norm2 > 0.0:
                    before, slope = slope, radius / (2.0 * np.sqrt(norm2))
                    drift += update_slopes(search, slope)
                    drift += 4.0 * abs(slope - before) * most * search.reach
                else:  # at a norm of 0 the root has no slope
                    lazy = False
            i += 1
        if i == n:
            i, block = 0, -WIDTH
            if mover >= 0:
                mean, norm2 = sum_counts(layout, search)  # without the rounding of all moves
                if is_duplicate(optima, found, mover):
                    return -np.inf
    if mover >= 0:
        mean, norm2 = sum_counts(layout, search)
        value = mean + radius * np.sqrt(norm2)
    return float(value)
