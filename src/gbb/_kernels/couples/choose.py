"""The best couple: of eight runs at a time, or of a single run, whose values stand in a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gbb._kernels.couples.state import (
    TIE,
    Couples,
    Runs,
    break_ties,
    have_uniforms,
    next_uniform,
    set_radii,
)
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    ALL,
    Doubles,
    broadcast,
    greater_mask,
    load,
    lowest_bit,
    max_element,
    select_greater,
    store,
)
from gbb._support.arrays import WIDTH

NEAR = 1.01 * TIE
"""Where the two best values are closer than this, relatively, a run's values are compared one by one."""

Value = Callable[[Couples, Any, int, int, Doubles], Doubles]
"""``value(couples, estimate, a, b, radii)``: optimistic values of the couple (a, b) in eight runs."""


@kernel(forceinline=True)
def choose_batch(couples: Couples, runs: Runs, estimate: Any, value: Value, radius: float) -> bool:
    """Find every run's couple of the round, into ``runs.best``.

    Returns False, with nothing decided, if a run has no number left to break a tie with.
    """
    set_radii(couples, runs, radius)
    K, radii = couples.pair.shape[0], load(runs.radius, 0)
    best = second = broadcast(-np.inf)
    chosen = broadcast(0.0)
    for a in range(K):
        for b in range(a if couples.mirrored else 0, K):
            x = value(couples, estimate, a, b, radii)
            store(runs.values, runs.position[a * K + b], x)  # for ties
            second = select_greater(x, best, best, select_greater(second, x, second, x))
            chosen = select_greater(x, best, broadcast(float(a * K + b)), chosen)
            best = select_greater(x, best, x, best)
    store(runs.best, 0, chosen)
    store(runs.top, 0, best)
    size = select_greater(best, broadcast(0.0), best, 0.0 - best)
    # Not "nearer than": the negation holds for NaN, and where both values are 0.
    near = ALL ^ greater_mask(best - NEAR * size, second)
    uniforms, used = runs.uniforms, runs.used
    if near != 0 and not have_uniforms(used, uniforms.shape[1]):
        return False
    if near != 0 or couples.mirrored:
        for lane in range(WIDTH):
            if (near >> lane) & 1:
                runs.best[lane] = break_ties(
                    runs.values, runs.position, runs.top[lane], uniforms, used, lane
                )
            elif couples.mirrored:
                p = np.int64(runs.best[lane])
                a, b = couples.arms[p, 0], couples.arms[p, 1]
                # A tie of two: as many numbers are drawn as in any other way of breaking it.
                if a != b and next_uniform(uniforms, used, lane) >= 0.5:
                    runs.best[lane] = b * K + a
    return True


@kernel(forceinline=True)
def choose_single(couples: Couples, runs: Runs) -> bool:
    """Find the best couple by ``runs.values``, into ``runs.best``; False as :func:`choose_batch`."""
    values, top = runs.values, broadcast(-np.inf)
    for at in range(0, values.size, WIDTH):
        x = load(values, at)
        top = select_greater(x, top, x, top)
    best = max_element(top)
    floor, ties, position = best - TIE * abs(best), 0, 0
    for at in range(0, values.size, WIDTH):
        mask = ALL ^ greater_mask(broadcast(floor), load(values, at))
        if mask != 0:
            ties += 1 if mask & (mask - 1) == 0 else 2  # one, or more
            position = at + lowest_bit(mask)
    p = runs.couple_at[position]
    if ties > 1 or (couples.mirrored and couples.arms[p, 0] != couples.arms[p, 1]):
        if not have_uniforms(runs.used, runs.uniforms.shape[1]):
            return False
        p = break_ties(values, runs.position, best, runs.uniforms, runs.used, 0)
    runs.best[0] = p
    return True
