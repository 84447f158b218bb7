"""Local search on the optimistic value when every regressor has a coordinate to itself.

Then A is diagonal: an allocation whose edges add ``c_s`` to regressor s is worth
``sum c_s mu_s + radius sqrt(sum c_s^2 var_s)``, and only the counts need to be kept. This is the search
for problems beyond the paper's; :mod:`gbb._kernels.choice.pairs` is its fast case.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.linear import GAIN, SWEEPS
from gbb._kernels.choice.links import is_known
from gbb._support.checks import FloatArray, IntArray


@compiled()
def totals(c: FloatArray, mu: FloatArray, var: FloatArray) -> tuple[float, float]:
    """``sum c_s mu_s`` and ``sum c_s^2 var_s``."""
    mean, norm2 = 0.0, 0.0
    for s in range(c.size):
        mean += c[s] * mu[s]
        norm2 += c[s] * c[s] * var[s]
    return mean, norm2


@compiled()
def gather_counts(
    first: int,
    last: int,
    other: IntArray,
    table: IntArray,
    amount: FloatArray,
    ends: IntArray,
    found: int,
    place: IntArray,
    items: IntArray,
    share: FloatArray,
) -> int:
    """The entries ``first`` to ``last`` by table and neighbour's arm; how many there are then.

    ``items`` gets tables and arms, ``share`` the amounts; ``place`` is -1 all over,
    before and after.
    """
    count = 0
    for e in range(first, last):
        t, b = table[e], ends[found, other[e]]
        x = place[t, b]
        if x < 0:
            x = count
            place[t, b] = x
            items[x, 0], items[x, 1], share[x] = t, b, 0.0
            count += 1
        share[x] += amount[e]
    for x in range(count):
        place[items[x, 0], items[x, 1]] = -1
    return count


@compiled()
def ascend_counts(
    start: IntArray,
    other: IntArray,
    table: IntArray,
    bars: FloatArray,
    where: IntArray,
    amount: FloatArray,
    apart: bool,
    mu: FloatArray,
    var: FloatArray,
    radius: float,
    c: FloatArray,
    place: IntArray,
    items: IntArray,
    share: FloatArray,
    ends: IntArray,
    found: int,
    fresh: bool,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    An entry of table t adds ``amount`` to regressor ``where[t, b, a]``. Starts from ``ends[found]`` and
    changes it; ``c``, ``place``, ``items`` and ``share`` are scratch space. A visit costs O(degree K).
    ``apart`` says that different tables of one agent never meet in a regressor. Minus infinity as in
    :func:`gbb._kernels.choice.linear.ascend_linear`.
    """
    n, K = ends.shape[1], where.shape[1]
    c[:] = 0.0
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            c[where[table[e], ends[found, other[e]], ends[found, i]]] += 0.5 * amount[e]
    value = -np.inf
    for sweep in range(SWEEPS):
        mean, norm2 = totals(c, mu, var)
        if sweep > 0 or fresh:
            value = mean + radius * np.sqrt(norm2)
        moved = False
        for i in range(n):
            count = gather_counts(
                start[i], start[i + 1], other, table, amount, ends, found, place, items, share
            )
            if count == 0:
                continue
            now = ends[found, i]
            rest_mean, rest_norm2 = mean, norm2
            for x in range(count):  # take the agent's own edges out
                s, w = where[items[x, 0], items[x, 1], now], share[x]
                rest_mean -= w * mu[s]
                rest_norm2 -= w * (2.0 * c[s] - w) * var[s]
                c[s] -= w
            current = mean + radius * np.sqrt(norm2)
            margin = GAIN * (abs(mean) + abs(current - mean))  # the first of equal arms is taken
            best, top = now, current + margin
            best_mean, best_norm2 = mean, norm2
            for a in range(K):
                if a == now or bars[i, a] < 0.0:
                    continue
                one, two = rest_mean, rest_norm2
                for x in range(count):
                    s, w = where[items[x, 0], items[x, 1], a], share[x]
                    one += w * mu[s]
                    two += w * (2.0 * c[s] + w) * var[s]
                    if not apart:
                        c[s] += w
                if not apart:
                    for x in range(count):
                        c[where[items[x, 0], items[x, 1], a]] -= share[x]
                # worth = one + radius sqrt(two) beats top: a root only where it does
                short = top - one
                if short < 0.0 or radius * radius * two > short * short:
                    two = max(two, 0.0)
                    best, best_mean, best_norm2 = a, one, two
                    top = one + radius * np.sqrt(two) + margin
            for x in range(count):
                c[where[items[x, 0], items[x, 1], best]] += share[x]
            if best != now:
                moved = True
                ends[found, i] = best
                mean, norm2 = best_mean, best_norm2
        if not moved:
            break
        if is_known(ends, found):
            return -np.inf
    return float(value)
