"""The choice of an index policy, from its estimate to every agent's arm."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.climb import Room, climb
from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.diagonal import (
    Diagonal,
    draw_diagonal,
    pay_tuples,
    radius_diagonal,
    value_tuples,
)
from gbb._kernels.choice.factors import (
    Triangular,
    draw_triangular,
    fill_tables,
    radius_triangular,
    value_objectives,
)
from gbb._kernels.choice.linear import Linear, fill_pay
from gbb._kernels.choice.links import Links, draw_arms
from gbb._kernels.choice.rule import Rule
from gbb._kernels.choice.whitened import Whitened
from gbb._support.checks import IntArray


@compiled(forceinline=True)
def choose_index(
    rule: Rule,
    links: Links,
    room: Room,
    diagonal: Diagonal | None,
    triangular: Triangular | None,
    linear: Linear | None,
    white: Whitened | None,
    counted: Counted | None,
    given: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the next allocation; ``given`` is the radius unless it is adaptive.

    One of ``diagonal`` and ``triangular`` is the estimate; without ``linear`` the choice is optimistic.
    Returns the number of the tuple of arms over the parts that it plays, -1 if it plays another
    allocation, and its value (NaN in an exploring round).
    """
    if rule.explore > 0.0 and rng.random() < rule.explore:
        draw_arms(links, rng, arms)
        return -1, np.nan
    mu, radius = room.mu, given
    if diagonal is not None:
        if linear is not None:
            draw_diagonal(rule, diagonal, rng, mu)
        else:
            if rule.adaptive:
                radius = radius_diagonal(rule, diagonal)
            value_tuples(rule, diagonal, radius, room.values)
    if triangular is not None:
        if linear is not None:
            draw_triangular(rule, triangular, rng, mu)
        else:
            if rule.adaptive:
                radius = radius_triangular(rule, triangular)
            value_objectives(rule, triangular, radius, room.values)
            if white is not None and rule.starts > 0:
                fill_tables(rule, links, triangular, white.tables)
    if linear is not None:
        fill_pay(mu, links.used, links.one, links.two, linear.pay)
        pay_tuples(rule, mu, room.values)
    values = room.values[: rule.tuples]
    return climb(links, values, rule.starts, room, linear, white, counted, radius, rng, arms)


@compiled(allocates=True)
def choose_alone(*given: Any) -> tuple[int, float]:
    """As :func:`choose_index`, to be called from Python."""
    return choose_index(*given)
