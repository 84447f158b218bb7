"""A choice without optimism: the best allocation for the estimate or a draw, or one of many draws'."""

from __future__ import annotations

import numpy as np

from gbb._kernels.choice.climb import Room, climb
from gbb._kernels.choice.diagonal import Diagonal, draw_diagonal, pay_tuples
from gbb._kernels.choice.factors import Triangular, draw_triangular
from gbb._kernels.choice.information import Information, decide, keep_sample
from gbb._kernels.choice.linear import Linear, fill_pay
from gbb._kernels.choice.links import Links
from gbb._kernels.choice.numbers import Numbers, draw_numbers
from gbb._kernels.choice.rule import Rule
from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(inline="always")
def propose(
    rule: Rule,
    links: Links,
    room: Room,
    diagonal: Diagonal | None,
    learner: Triangular | None,
    numbers: Numbers | None,
    linear: Linear,
    information: Information | None,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms``: the best allocation for one draw or, with ``information``, one of many draws' best.

    As :func:`propose_one` otherwise.
    """
    if information is None:
        return propose_one(rule, links, room, diagonal, learner, numbers, linear, rng, arms)
    samples, known, total = information.draws.shape[0], 0, 0.0
    for s in range(samples):
        number, _ = propose_one(rule, links, room, diagonal, learner, numbers, linear, rng, arms)
        known, value = keep_sample(information, s, known, room.mu, arms, number)
        total += value
    return decide(information, known, total / samples, rule.v**2, rng, arms)


@kernel(inline="always")
def propose_one(
    rule: Rule,
    links: Links,
    room: Room,
    diagonal: Diagonal | None,
    learner: Triangular | None,
    numbers: Numbers | None,
    linear: Linear,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms``; returns the number of its tuple of arms, -1 if it is none, and its value.

    One of ``diagonal``, ``learner`` and ``numbers`` is the estimate.
    """
    if diagonal is not None:
        draw_diagonal(rule, diagonal, rng, room.mu)
    if learner is not None:
        draw_triangular(rule, learner, rng, room.mu)
    if numbers is not None:
        draw_numbers(rule, numbers, rng, room.mu)
    fill_pay(room.mu, links.used, links.one, links.two, linear.pay)
    pay_tuples(rule, room.mu, room.values)
    values = room.values[: rule.tuples]
    return climb(links, values, rule.starts, room, linear, None, None, 0.0, rng, arms)
