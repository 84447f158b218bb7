"""The choice of an index policy, from its estimate to every agent's arm."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb._kernels.choice.choose import TIE
from gbb._kernels.choice.climb import Room
from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.diagonal import Diagonal
from gbb._kernels.choice.factors import Triangular
from gbb._kernels.choice.information import Information
from gbb._kernels.choice.linear import Linear
from gbb._kernels.choice.links import Links, draw_arms
from gbb._kernels.choice.numbers import Numbers
from gbb._kernels.choice.optimism import find_optimistic, mean_and_spread
from gbb._kernels.choice.propose import propose
from gbb._kernels.choice.rule import Rule
from gbb._kernels.choice.whitened import Whitened
from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(forceinline=True)
def choose_index(
    rule: Rule,
    links: Links,
    room: Room,
    diagonal: Diagonal | None,
    triangular: Triangular | None,
    learner: Triangular | None,
    numbers: Numbers | None,
    linear: Linear | None,
    information: Information | None,
    white: Whitened | None,
    counted: Counted | None,
    given: float,
    rounds: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the next allocation, after so many ``rounds``.

    ``given`` is the radius unless it is adaptive. One of ``diagonal``, ``triangular`` and ``numbers`` is
    the estimate; ``learner`` is what draws of the second are made from. With ``linear`` alone the choice
    is :func:`propose`'s, without it optimistic, with both the proposal's if it is optimistic enough.
    Returns the number of the tuple of arms over the parts that it plays, -1 if it plays another
    allocation, and its value (NaN in an exploring round).
    """
    if rule.explore > 0.0 and rng.random() < rule.explore:
        draw_arms(links, rng, arms)
        return -1, np.nan
    if linear is None:
        number, value, _ = find_optimistic(
            rule, links, room, diagonal, triangular, numbers, white, counted, given, rng, arms
        )
        return number, value
    if white is None and counted is None:
        return propose(
            rule, links, room, diagonal, learner, numbers, linear, information, rng, arms
        )
    proposed = room.proposed
    other, _ = propose(
        rule, links, room, diagonal, learner, numbers, linear, information, rng, proposed
    )
    number, value, radius = find_optimistic(
        rule, links, room, diagonal, triangular, numbers, white, counted, given, rng, arms
    )
    mean, spread = mean_and_spread(links, room, white, counted, radius, proposed)
    slack = min(1.0, rule.slack / np.sqrt(rounds + 1.0)) if rule.fading else rule.slack
    if mean + spread >= value - slack * abs(value) - TIE * (abs(mean) + spread):
        for i in range(arms.size):
            arms[i] = proposed[i]
        return other, mean + spread
    return number, value


@kernel(allocates=True)
def choose_alone(*given: Any) -> tuple[int, float]:
    """As :func:`choose_index`, to be called from Python."""
    return choose_index(*given)
