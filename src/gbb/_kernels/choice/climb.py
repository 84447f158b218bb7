"""The best tuple of arms over the parts, and local search from it, from the next best and at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import TIE, largest_size, pick_near
from gbb._kernels.choice.counts import ascend_counts
from gbb._kernels.choice.linear import GAIN, ascend_linear, pays_of_arms, pays_of_tuple
from gbb._kernels.choice.links import Links, draw_arms, place
from gbb._kernels.choice.tuples import next_start
from gbb._kernels.choice.whitened import ascend_whitened
from gbb._support.checks import FloatArray, IntArray


class Linear(NamedTuple):
    """What :mod:`gbb._kernels.choice.linear` searches on."""

    pay: FloatArray
    pays: FloatArray


class Whitened(NamedTuple):
    """What :mod:`gbb._kernels.choice.whitened` searches on, and its scratch space.

    Attributes
    ----------
    tables
        What entries add, by block, coordinate and column; columns are tables, neighbour's and own arms.
    block, at
        Of every entry: the block of its table, and the column where it starts.
    segment, entry
        Where the segments of each agent start, and where the entries of each segment do.
    W, norm2s, h, moves
        Scratch space.
    """

    tables: FloatArray
    block: IntArray
    at: IntArray
    segment: IntArray
    entry: IntArray
    W: FloatArray
    norm2s: FloatArray
    h: FloatArray
    moves: FloatArray


class Counted(NamedTuple):
    """What :mod:`gbb._kernels.choice.counts` searches on, and its scratch space."""

    mu: FloatArray
    var: FloatArray
    amount: FloatArray
    apart: bool
    c: FloatArray
    place: IntArray
    items: IntArray
    share: FloatArray


class Ends(NamedTuple):
    """Scratch space of a search: the ends of its runs, the arms of the parts, those of the groups."""

    ends: IntArray
    chosen: IntArray
    played: IntArray


@compiled()
def climb(
    links: Links,
    values: FloatArray,
    starts: int,
    room: Ends,
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
    ends, chosen, played = room.ends, room.chosen, room.played
    start, other, table, weight = links.start, links.other, links.table, links.weight
    part, instead, group, bars = links.part, links.instead, links.group, links.bars
    K = instead.shape[1]
    scale = largest_size(values)  # where values are next to zero, rounding is no gain
    least, tie = GAIN * scale, TIE * scale
    number = pick_near(values, rng)
    best, value = number, values[number]
    place(number, part, instead, group, chosen, played, arms)
    for found in range(ends.shape[0]):
        fresh = found >= starts
        if fresh:
            if links.free:
                draw_arms(None, K, rng, ends[found])
            else:
                draw_arms(bars, K, rng, ends[found])
        else:
            if found > 0 and number >= 0:
                number = next_start(values, number, K, chosen.size, tie)
            if number < 0:  # no other set of arms is left
                ends[found, 0] = -1
                continue
            place(number, part, instead, group, chosen, played, ends[found])
        reached = -np.inf
        if linear is not None:
            pay, pays = linear.pay, linear.pays
            if fresh:
                pays_of_arms(start, other, table, weight, bars, pay, ends, found, pays)
            else:
                pays_of_tuple(
                    links.bundle_start,
                    links.bundle_table,
                    links.bundle_group,
                    links.bundle_weight,
                    bars,
                    pay,
                    played,
                    pays,
                )
            reached = ascend_linear(
                start, other, links.back, weight, pay, pays, ends, found, fresh, least
            )
        if white is not None:
            reached = ascend_whitened(
                start,
                other,
                weight,
                bars,
                white.segment,
                white.entry,
                white.block,
                white.at,
                white.tables,
                radius,
                white.W,
                white.norm2s,
                white.h,
                white.moves,
                ends,
                found,
                fresh,
            )
        if counted is not None:
            reached = ascend_counts(
                start,
                other,
                table,
                bars,
                links.one,
                counted.amount,
                counted.apart,
                counted.mu,
                counted.var,
                radius,
                counted.c,
                counted.place,
                counted.items,
                counted.share,
                ends,
                found,
                fresh,
            )
        if reached > value + max(tie, TIE * abs(value)):
            best, value = -1, reached
            for i in range(arms.size):
                arms[i] = ends[found, i]
    return best, value
