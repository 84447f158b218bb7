"""The best tuple of arms over the parts, and local search from it, from the next best and at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.choose import TIE, largest_size, pick_near
from gbb._kernels.choice.counts import Counted, ascend_counts, count_arms, count_tuple
from gbb._kernels.choice.linear import (
    Linear,
    ascend_linear,
    pays_of_arms,
    pays_of_tuple,
    sum_pays,
)
from gbb._kernels.choice.links import Links, draw_arms, place
from gbb._kernels.choice.reply import GAIN
from gbb._kernels.choice.tuples import next_start
from gbb._kernels.choice.whitened import Whitened, ascend_whitened
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


class Room(NamedTuple):
    """Scratch space of a choice.

    Attributes
    ----------
    ends
        The ends of the searches.
    chosen, played
        The arms of the parts, and those of the groups.
    values
        Of the tuples of arms over the parts; padded to whole lanes.
    mu
        What the regressors pay.
    proposed
        The allocation that a guard is to let pass.
    """

    ends: IntArray
    chosen: IntArray
    played: IntArray
    values: FloatArray
    mu: FloatArray
    proposed: IntArray


@kernel(inline="always")
def climb(
    links: Links,
    values: FloatArray,
    starts: int,
    room: Room,
    linear: Linear | None,
    white: Whitened | None,
    counted: Counted | None,
    radius: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the best allocation found.

    ``values`` are those of the tuples of arms over the parts, and are changed. Searches start from the
    ``starts`` best tuples with different sets of arms and, for the rest of ``room.ends``, from random
    allocations; one of ``linear``, ``white`` and ``counted`` says on what. Returns the number of the
    tuple that is played, -1 for another allocation, and its value.
    """
    ends, played, K = room.ends, room.played, links.instead.shape[1]
    scale = largest_size(values)  # where values are next to zero, rounding is no gain
    least, tie = GAIN * scale, TIE * scale
    number = pick_near(values, rng)
    best, value = number, values[number]
    place(links, number, room.chosen, played, arms)
    for found in range(ends.shape[0]):
        fresh = found >= starts
        if fresh:
            draw_arms(links, rng, ends[found])
        else:
            if found > 0 and number >= 0:
                number = next_start(values, number, K, room.chosen.size, tie)
            if number < 0:  # no other set of arms is left
                ends[found, 0] = -1
                continue
            place(links, number, room.chosen, played, ends[found])
        reached = -np.inf
        if linear is not None:
            if fresh:
                pays_of_arms(links, linear, ends, found)
                worth = sum_pays(linear.pays, ends[found])
            else:
                pays_of_tuple(links, linear, played)
                worth = values[number]
            reached = ascend_linear(links, linear, ends, found, worth, fresh, least)
        if white is not None:
            reached = ascend_whitened(links, white, radius, ends, found, fresh)
        if counted is not None:
            if fresh:
                count_arms(links, counted, ends, found)
            else:
                count_tuple(links, counted, played)
            reached = ascend_counts(links, counted, radius, ends, found, fresh)
        if reached > value + max(tie, TIE * abs(value)):
            best, value = -1, reached
            for i in range(arms.size):
                arms[i] = ends[found, i]
    return best, value


@kernel(allocates=True)
def climb_alone(
    links: Links,
    values: FloatArray,
    starts: int,
    room: Room,
    linear: Linear | None,
    white: Whitened | None,
    counted: Counted | None,
    radius: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """As :func:`climb`, to be called from Python."""
    return climb(links, values, starts, room, linear, white, counted, radius, rng, arms)
