"""What shards tell of a round: how often each pair of arms was played there, and what it paid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.log.events import Event
from gbb.controller.state.learn import count_rounds, take_in
from gbb.controller.state.state import Ask, State
from gbb.learning.record import ROUNDING, Counts, Record, played
from gbb.policies import Choice
from gbb.problem import Problem


class Told(NamedTuple):
    """The tables of some shards, where the round's allocation can have played anything.

    Attributes
    ----------
    shards
        The shards' numbers, increasing.
    counts, paid
        Of each shard and of each type and edge-arm that is played: how many directed edges (the sum
        of their squared weights), and the sum of their rewards (shards x places).
    """

    shards: list[int]
    counts: Counts
    paid: FloatArray

    def only(self, which: NDArray[np.bool_]) -> Told:
        """The tables of those shards alone."""
        shards = [shard for shard, kept in zip(self.shards, which, strict=True) if kept]
        return Told(shards, self.counts[which], self.paid[which])


def pack_tables(told: Told) -> bytes:
    """The counts, then the sums, 8 bytes each."""
    kind = "<i8" if told.counts.dtype.kind == "i" else "<f8"
    return told.counts.astype(kind).tobytes() + told.paid.astype("<f8").tobytes()


def unpack_tables(event: Event, problem: Problem, places: IntArray) -> Told:
    """What :func:`pack_tables` was given for an allocation that plays ``places``."""
    shards = event.content["shards"]
    shape, size = (len(shards), len(places)), 8 * len(shards) * len(places)
    kind = "<f8" if problem.weighted else "<i8"  # whole numbers, unless links have weights
    counts: Any = np.frombuffer(event.data[:size], kind).reshape(shape)
    paid = np.frombuffer(event.data[size:], "<f8").reshape(shape)
    return Told(shards, counts.astype(kind[1:]), paid.astype(np.float64))


def shards_of(events: Iterable[Event]) -> frozenset[int]:
    """The shards that told their tables in some events of one trial."""
    lists = (event.content["shards"] for event in events if event.kind == "tables")
    return frozenset(shard for shards in lists for shard in shards)


def learn_tables(
    state: State, choice: Choice | None, problem: Problem, ask: Ask, event: Event
) -> State:
    """The state after some shards told their tables of a round, which counts with the first of them.

    Shards that saw both directions of every pair of arms equally often teach symmetric halves as well.
    """
    places, now = played(problem, ask.allocation), state.setup.problem
    told = unpack_tables(event, problem, places)
    even = _are_even(told.counts, problem, places)
    record = _sum(told, problem, places)
    if not even.all():
        record = replace(record, paired=_sum(told.only(even), problem, places))
    record = record.resize(now)
    first = int(not ask.shards)  # with it the round is counted, whoever else will come
    here = ask.graph == state.setup.graph_seq
    worth = first if here else count_rounds(record, now, first)
    return take_in(state, choice, record, new=first, worth=worth)


def _sum(told: Told, problem: Problem, places: IntArray) -> Record:
    """The tables of all shards together, summed in their order."""
    counts: Any = np.zeros(problem.types * problem.K**2, dtype=told.counts.dtype)
    paid = np.zeros(counts.size)
    if told.shards:
        counts[places] = told.counts.sum(axis=0)
        paid[places] = np.cumsum(told.paid, axis=0)[-1]
    shape = (problem.types, problem.K, problem.K)
    return Record(counts.reshape(shape), paid.reshape(shape))


def _are_even(counts: Counts, problem: Problem, places: IntArray) -> NDArray[np.bool_]:
    """Which shards saw both directions of every pair of arms equally often."""
    if not problem.symmetric:
        return np.zeros(len(counts), dtype=np.bool_)
    kind, pair = np.divmod(places, problem.K**2)
    a, b = np.divmod(pair, problem.K)
    back = counts[:, np.searchsorted(places, (kind * problem.K + b) * problem.K + a)]
    slack = ROUNDING if problem.weighted else 0.0
    even: Any = np.abs(counts - back) <= slack * (counts + back)
    return np.asarray(even.all(axis=1), dtype=np.bool_)
