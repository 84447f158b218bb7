"""The allocation with the best optimistic value, and the optimistic value of any."""

from __future__ import annotations

import numpy as np

from gbb._kernels.choice.climb import Room, climb
from gbb._kernels.choice.counts import Counted, count_arms, totals
from gbb._kernels.choice.diagonal import Diagonal, radius_diagonal, value_tuples
from gbb._kernels.choice.factors import (
    Triangular,
    fill_tables,
    radius_triangular,
    value_objectives,
)
from gbb._kernels.choice.links import Links
from gbb._kernels.choice.numbers import Numbers, estimate_numbers, radius_numbers
from gbb._kernels.choice.rule import Rule
from gbb._kernels.choice.whitened import Whitened, sum_blocks
from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(inline="always")
def find_optimistic(
    rule: Rule,
    links: Links,
    room: Room,
    diagonal: Diagonal | None,
    triangular: Triangular | None,
    numbers: Numbers | None,
    white: Whitened | None,
    counted: Counted | None,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float, float]:
    """Fill ``arms``; ``given`` is the radius unless it is adaptive.

    One of ``diagonal``, ``triangular`` and ``numbers`` is the estimate, one of ``white`` and ``counted``
    what is searched on. Returns the number of the tuple of arms that it plays, -1 if it plays another
    allocation, its optimistic value, and the radius.
    """
    radius = given
    if diagonal is not None:
        if rule.adaptive:
            radius = radius_diagonal(rule, diagonal)
        value_tuples(rule, diagonal.mean, diagonal.var, radius, room.values)
    if numbers is not None:
        estimate_numbers(numbers, counted)
        if rule.adaptive:
            radius = radius_numbers(rule, numbers)
        value_tuples(rule, numbers.mean, numbers.var, radius, room.values)
    if triangular is not None:
        if rule.adaptive:
            radius = radius_triangular(rule, triangular)
        value_objectives(rule, triangular, radius, room.values)
        if white is not None and rule.starts > 0:
            fill_tables(rule, links, triangular, white.tables)
    values = room.values[: rule.tuples]
    starts = rule.starts
    number, value = climb(links, values, starts, room, None, white, counted, radius, rng, arms)
    return number, value, radius


@kernel(forceinline=True)
def mean_and_spread(
    links: Links,
    room: Room,
    white: Whitened | None,
    counted: Counted | None,
    radius: float,
    arms: IntArray,
) -> tuple[float, float]:
    """What ``arms`` are worth to the last search for optimism: their optimistic value is the sum."""
    for i in range(arms.size):
        room.ends[0, i] = arms[i]
    mean, norm2 = 0.0, 0.0
    if white is not None:
        mean, norm2 = sum_blocks(links, white, room.ends, 0)
    if counted is not None:
        count_arms(links, counted, room.ends, 0)
        mean, norm2 = totals(links, counted)
    return mean, radius * np.sqrt(norm2)
