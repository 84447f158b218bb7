"""Rounds of an index policy with contexts: links that lie in another way in every context.

The estimate is one for all rounds. What differs is a *page* for each context: who is linked by which
table and how much, which matrices are in play, what tuples add up to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._kernels.choice.climb import Room
from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.edges import Edges
from gbb._kernels.choice.factors import Triangular
from gbb._kernels.choice.information import Information
from gbb._kernels.choice.links import Links
from gbb._kernels.choice.rule import Rule
from gbb._kernels.choice.whitened import Whitened
from gbb._kernels.jit import kernel
from gbb._kernels.rounds.index import Setting, World, play_round
from gbb._kernels.rounds.rounds import Block
from gbb._support.checks import FloatArray, IntArray

START, OTHER, TABLE, BACK, BUNDLE_START, BUNDLE_TABLE, BUNDLE_GROUP, BUNDLE_SIZE, USED = range(9)
TYPES, BLOCKS, REGRESSOR, INDPTR, INDICES, EDGE_TYPES, ADDS_TO, SEARCH = range(9, 17)
"""The lists of whole numbers of a page; behind them, from ``SEARCH`` on, stand those of the search."""

WEIGHT, BUNDLE_WEIGHT, EDGE_WEIGHT, OFFSET, AMOUNT, SUMS = range(6)
"""The lists of other numbers: the last has the weights of ``Counted.joint_weight`` or the objectives."""


class Book(NamedTuple):
    """A page for each context; their lists stand one after another, each in whole lanes.

    Attributes
    ----------
    numbers, weights
        All lists of whole numbers, and all of others.
    number_at, weight_at
        Where each list of each page starts, and how long it is (pages x lists x 2).
    ends
        How many searches each page has.
    """

    numbers: IntArray
    weights: FloatArray
    number_at: IntArray
    weight_at: IntArray
    ends: IntArray


@kernel(inline="always")
def numbers_of(book: Book, page: int, which: int) -> IntArray:
    """A list of whole numbers."""
    first = book.number_at[page, which, 0]
    return book.numbers[first : first + book.number_at[page, which, 1]]


@kernel(inline="always")
def weights_of(book: Book, page: int, which: int) -> FloatArray:
    """A list of other numbers."""
    first = book.weight_at[page, which, 0]
    return book.weights[first : first + book.weight_at[page, which, 1]]


@kernel(forceinline=True)
def turn_rule(book: Book, page: int, rule: Rule) -> Rule:
    """The policy's numbers on this page."""
    columns = rule.tuple_amount.shape[1]
    regressor, amount = numbers_of(book, page, REGRESSOR), weights_of(book, page, AMOUNT)
    terms = amount.size // columns
    return Rule(
        rule.tuples,
        regressor.reshape(terms, columns),
        amount.reshape(terms, columns),
        numbers_of(book, page, TYPES),
        numbers_of(book, page, BLOCKS),
        rule.lam,
        rule.adaptive,
        rule.sigma,
        rule.spread,
        weights_of(book, page, OFFSET)[0],
        rule.shrinking,
        rule.v,
        rule.explore,
        rule.starts,
        rule.slack,
        rule.fading,
    )


@kernel(forceinline=True)
def turn_links(book: Book, page: int, links: Links) -> Links:
    """The links on this page."""
    return Links(
        numbers_of(book, page, START),
        numbers_of(book, page, OTHER),
        numbers_of(book, page, TABLE),
        numbers_of(book, page, BACK),
        weights_of(book, page, WEIGHT),
        links.bars,
        links.free,
        links.group,
        links.part,
        links.instead,
        numbers_of(book, page, BUNDLE_START),
        numbers_of(book, page, BUNDLE_TABLE),
        numbers_of(book, page, BUNDLE_GROUP),
        weights_of(book, page, BUNDLE_WEIGHT),
        numbers_of(book, page, BUNDLE_SIZE),
        False,
        links.degrees,
        numbers_of(book, page, USED),
        links.one,
        links.two,
    )


@kernel(forceinline=True)
def turn_edges(book: Book, page: int, edges: Edges) -> Edges:
    """The directed edges on this page."""
    return Edges(
        numbers_of(book, page, INDPTR),
        numbers_of(book, page, INDICES),
        numbers_of(book, page, EDGE_TYPES),
        weights_of(book, page, EDGE_WEIGHT),
        numbers_of(book, page, ADDS_TO),
        edges.regressor,
        edges.ways,
        False,
    )


@kernel(forceinline=True)
def turn_world(book: Book, page: int, world: World) -> World:
    """What a simulated round is made of on this page."""
    return World(turn_edges(book, page, world.edges), world.R, world.sigma, world.in_turn)


@kernel(forceinline=True)
def turn_room(book: Book, page: int, room: Room) -> Room:
    """Scratch space for as many searches as this page has."""
    ends = room.ends[: book.ends[page]]
    return Room(ends, room.chosen, room.played, room.values, room.mu, room.proposed)


@kernel(forceinline=True)
def turn_counted(book: Book, page: int, counted: Counted | None) -> Counted | None:
    """What a search on counts takes on this page."""
    if counted is None:
        return None
    return Counted(
        counted.mean,
        counted.var,
        counted.counts,
        counted.level,
        counted.mate,
        numbers_of(book, page, SEARCH),
        numbers_of(book, page, SEARCH + 1),
        numbers_of(book, page, SEARCH + 2),
        numbers_of(book, page, SEARCH + 3),
        numbers_of(book, page, SEARCH + 4),
        numbers_of(book, page, SEARCH + 5),
        numbers_of(book, page, SEARCH + 6),
        numbers_of(book, page, SEARCH + 7),
        numbers_of(book, page, SEARCH + 8),
        weights_of(book, page, SUMS),
        counted.around,
        counted.crowd,
        counted.rows,
        counted.shares,
        counted.added,
        counted.last,
        0.0,
        counted.slopes,
        counted.apart,
        counted.limits,
        counted.found,
    )


@kernel(forceinline=True)
def turn_whitened(book: Book, page: int, white: Whitened | None) -> Whitened | None:
    """What a search on whitened tables takes on this page."""
    if white is None:
        return None
    return Whitened(
        white.tables,
        numbers_of(book, page, SEARCH),
        numbers_of(book, page, SEARCH + 1),
        numbers_of(book, page, SEARCH + 2),
        numbers_of(book, page, SEARCH + 3),
        numbers_of(book, page, SEARCH + 4),
        white.W,
        white.norm2s,
        white.h,
        white.found,
    )


@kernel(forceinline=True)
def turn_information(book: Book, page: int, information: Information | None) -> Information | None:
    """What a choice among the allocations of many draws takes on this page."""
    if information is None:
        return None
    return Information(
        turn_edges(book, page, information.edges),
        information.own,
        information.in_sums,
        information.power,
        information.floor,
        information.draws,
        information.group,
        information.arms,
        information.counts,
        information.tuples,
        information.size,
        information.centre,
        information.means,
        information.total,
        information.within,
        information.seen,
        information.regret,
        information.gain,
        information.told,
    )


@kernel(forceinline=True)
def turn_triangular(
    book: Book, page: int, triangular: Triangular | None, white: Whitened | None
) -> Triangular | None:
    """The estimate with the objectives of this page, which only optimism asks for."""
    if triangular is None:
        return None
    if white is None:
        return triangular
    sums, each = weights_of(book, page, SUMS), triangular.objectives
    blocks = sums.size // (each.shape[1] * each.shape[2])
    return Triangular(
        triangular.U,
        triangular.features,
        triangular.columns,
        sums.reshape(blocks, each.shape[1], each.shape[2]),
        triangular.white_objectives,
        triangular.rows,
        triangular.counts,
        triangular.seen,
        triangular.scratch,
        triangular.theta,
        triangular.towards,
        triangular.floor,
        triangular.turned,
        triangular.small,
        triangular.eliminated,
        triangular.norm2,
    )


@kernel(allocates=True)
def play_pages(*given: Any) -> None:
    """As :func:`play_all_pages`, to be called from Python."""
    play_all_pages(*given)


@kernel(forceinline=True)
def play_all_pages(
    book: Book, pages: IntArray, setting: Setting, block: Block, rng: np.random.Generator
) -> None:
    """Play the rounds of ``block``, round t by the page ``pages[t]``; ``setting`` is of any page."""
    for t in range(block.radii.size):
        page = pages[t]
        here = Setting(
            turn_rule(book, page, setting.rule),
            turn_links(book, page, setting.links),
            turn_room(book, page, setting.room),
            turn_world(book, page, setting.world),
            setting.run,
            setting.diagonal,
            turn_triangular(book, page, setting.triangular, setting.white),
            setting.numbers,
            setting.learner,
            setting.linear,
            turn_information(book, page, setting.information),
            turn_whitened(book, page, setting.white),
            turn_counted(book, page, setting.counted),
            setting.in_sums,
            setting.by_edge,
        )
        play_round(here, block, t, rng)
