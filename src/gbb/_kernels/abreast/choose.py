"""The best couples of eight runs, whatever form their estimates have.

The best value and the second best are carried along; only where they are close are a run's values
looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import mul as times
from operator import sub as minus
from typing import Any

import numpy as np

from gbb._kernels.abreast.runs import (
    NEAR,
    Couples,
    Runs,
    find_radii,
    have_uniforms,
    settle,
)
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
    greater_mask as above,
)
from gbb._kernels.simd import (
    select_greater as where_above,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray

Value = Callable[[Couples, Any, int, int, FloatArray], FloatArray]
"""``value(couples, known, a, b, radii)``: optimistic values of the couple (a, b), by what is known."""


@kernel(forceinline=True)
def choose(couples: Couples, runs: Runs, known: Any, value: Value) -> int:
    """The best couples, into ``runs.best``; returns a bit for each run in which another is near."""
    K, radius = couples.pair.shape[0], load(runs.radius, 0)
    best = second = splat(-np.inf)
    arg = splat(0.0)
    for a in range(K):
        for b in range(a if couples.mirrored else 0, K):
            x = value(couples, known, a, b, radius)
            second = where_above(x, best, best, where_above(second, x, second, x))
            arg = where_above(x, best, splat(float(a * K + b)), arg)
            best = where_above(x, best, x, best)
    store(runs.best, 0, arg)
    size = where_above(best, splat(0.0), best, minus(splat(0.0), best))
    return ALL ^ above(minus(best, times(splat(NEAR), size)), second)  # also where both are 0


@kernel()
def fill_values(couples: Couples, runs: Runs, known: Any, value: Value) -> None:
    """The values of all couples in all runs."""
    K, radius = couples.pair.shape[0], load(runs.radius, 0)
    for a in range(K):
        for b in range(K):
            first, last = (min(a, b), max(a, b)) if couples.mirrored else (a, b)
            x = value(couples, known, first, last, radius)
            store(runs.values, (a * K + b) * WIDTH, x)


@kernel(forceinline=True)
def decide(
    couples: Couples, runs: Runs, known: Any, value: Value, given: float, those: int
) -> bool:
    """Every run's couple of the round, into ``runs.best``; ``given`` is the radius, where it is.

    Ties are broken in the runs of ``those`` bits. False, with nothing decided, where a run has no
    number left to do that.
    """
    find_radii(couples, runs, given)
    near = choose(couples, runs, known, value) & those
    if near != 0:
        if not have_uniforms(runs):
            return False
        fill_values(couples, runs, known, value)
    if near != 0 or couples.mirrored:
        settle(couples, runs, near)
    return True
