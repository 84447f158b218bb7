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
def ascend_counts(
    start: IntArray,
    other: IntArray,
    table: IntArray,
    amount: FloatArray,
    bars: FloatArray,
    where: IntArray,
    mu: FloatArray,
    var: FloatArray,
    radius: float,
    c: FloatArray,
    ends: IntArray,
    found: int,
    fresh: bool,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    An entry of table t adds ``amount`` to regressor ``where[t, b, a]``. Starts from ``ends[found]`` and
    changes it; ``c`` is scratch space for the counts. A visit costs O(degree K). Minus infinity as in
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
            first, last = start[i], start[i + 1]
            if first == last:
                continue
            now = ends[found, i]
            rest_mean, rest_norm2 = mean, norm2
            for e in range(first, last):  # take the agent's own edges out
                s, w = where[table[e], ends[found, other[e]], now], amount[e]
                rest_mean -= w * mu[s]
                rest_norm2 -= w * (2.0 * c[s] - w) * var[s]
                c[s] -= w
            current = mean + radius * np.sqrt(norm2)
            best, top = now, current + GAIN * (abs(mean) + abs(current - mean))
            best_mean, best_norm2 = mean, norm2
            for a in range(K):
                if a == now or bars[i, a] < 0.0:
                    continue
                one, two = rest_mean, rest_norm2
                for e in range(first, last):
                    s, w = where[table[e], ends[found, other[e]], a], amount[e]
                    one += w * mu[s]
                    two += w * (2.0 * c[s] + w) * var[s]
                    c[s] += w  # two entries may share a regressor
                for e in range(first, last):
                    c[where[table[e], ends[found, other[e]], a]] -= amount[e]
                two = max(two, 0.0)
                worth = one + radius * np.sqrt(two)
                if worth > top:
                    best, top, best_mean, best_norm2 = a, worth, one, two
            for e in range(first, last):
                c[where[table[e], ends[found, other[e]], best]] += amount[e]
            if best != now:
                moved = True
                ends[found, i] = best
                mean, norm2 = best_mean, best_norm2
        if not moved:
            break
        if is_known(ends, found):
            return -np.inf
    return float(value)
