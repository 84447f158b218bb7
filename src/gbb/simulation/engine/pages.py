"""Contexts laid out for the engine: a page each, bound into a book."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.whitened import Whitened
from gbb._kernels.rounds.index import Setting
from gbb._kernels.rounds.pages import Book
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb.simulation._lowering import LoweredPolicy
from gbb.simulation.engine.setting import make_objectives, search_of


class Page(NamedTuple):
    """How links lie in a context, and what a choice of it takes.

    Attributes
    ----------
    numbers, weights
        The lists of whole numbers and of others, in the order of :mod:`gbb._kernels.rounds.pages`.
    ends
        How many searches there are.
    slots, most
        How many slots, or segments of one agent, a search has; how many entries an agent has at most.
    matrices
        How many are in play.
    radii
        The radius after so many rounds.
    """

    numbers: list[IntArray]
    weights: list[FloatArray]
    ends: int
    slots: int
    most: int
    matrices: int
    radii: Callable[[FloatArray], FloatArray]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return sum(each.size for each in (*self.numbers, *self.weights))


def lay_out(policy: LoweredPolicy, setting: Setting) -> Page:
    """The page of a context, whose policy this is; ``setting`` is that of any."""
    search = search_of(policy)
    links, rule, edges = search.links, policy.rule, policy.make_edges()
    lists: tuple[IntArray, ...] = ()
    sums, slots = np.zeros(0), 0
    if setting.counted is not None:
        counted = policy.counted_search.counted()
        lists, sums, slots = _of_counted(counted), counted.joint_weight, len(counted.around)
    if setting.white is not None:
        white = search.whitened(len(setting.white.W), 0)
        lists, sums, slots = _of_whitened(white), make_objectives(policy), len(white.h)
    return Page(
        numbers=[
            links.start,
            links.other,
            links.table,
            links.back,
            links.bundle_start,
            links.bundle_table,
            links.bundle_group,
            links.bundle_size,
            links.used,
            rule.types,
            rule.blocks,
            rule.tuple_regressor,
            edges.indptr,
            edges.indices,
            edges.types,
            edges.adds_to,
            *lists,
        ],
        weights=[
            links.weight,
            links.bundle_weight,
            edges.weights,
            np.array([rule.offset]),
            rule.tuple_amount,
            sums,
        ],
        ends=policy.starts + policy.restarts,
        slots=slots,
        most=int(np.diff(links.start).max()),
        matrices=len(rule.types),
        radii=policy.radii,
    )


def _of_counted(counted: Counted) -> tuple[IntArray, ...]:
    return (
        counted.slot_start,
        counted.slot_table,
        counted.slot_mate,
        counted.slot,
        counted.back,
        counted.bundle_slot,
        counted.joint_table,
        counted.joint_own,
        counted.joint_other,
    )


def _of_whitened(white: Whitened) -> tuple[IntArray, ...]:
    return white.block, white.at, white.segment, white.entry, white.blocks


def bind(pages: Sequence[Page]) -> Book:
    """Pages as the kernels read them."""
    numbers, number_at = _one_after_another([page.numbers for page in pages], np.int64)
    weights, weight_at = _one_after_another([page.weights for page in pages], np.float64)
    ends = np.array([page.ends for page in pages], dtype=np.int64)
    return Book(numbers, weights, number_at, weight_at, ends)


def _one_after_another(
    pages: Sequence[Sequence[NDArray[Any]]], kind: type[np.number[Any]]
) -> tuple[NDArray[Any], IntArray]:
    sizes = np.array([[each.size for each in lists] for lists in pages], dtype=np.int64)
    whole = -(-sizes // WIDTH) * WIDTH
    first = (np.cumsum(whole) - whole.ravel()).reshape(sizes.shape)
    flat = aligned_zeros(max(1, int(whole.sum()))).view(kind)
    for page, lists in enumerate(pages):
        for number, each in enumerate(lists):
            place = int(first[page, number])
            flat[place : place + each.size] = each.ravel()
    return flat, np.ascontiguousarray(np.stack([first, sizes], axis=2))


def make_room(setting: Setting, pages: Sequence[Page]) -> Setting:
    """The setting with scratch space for any of these pages."""
    ends = max(page.ends for page in pages)
    slots, most = max(page.slots for page in pages), max(page.most for page in pages)
    room = setting.room
    room = room._replace(ends=np.zeros((ends, room.ends.shape[1]), dtype=np.int64))
    counted, white = setting.counted, setting.white
    if counted is not None:
        K = counted.mean.shape[1]
        counted = counted._replace(
            around=aligned_zeros(slots, padded(K)),
            crowd=np.zeros((slots, K), dtype=np.int64),
            rows=np.zeros(most, dtype=np.int64),
            shares=np.zeros(most),
        )
    if white is not None:
        white = white._replace(h=aligned_zeros(slots, *white.h.shape[1:]))
    return setting._replace(room=room, counted=counted, white=white)
