"""What was told, round by round, for the diagnosis of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.state.fold import is_partial
from gbb.controller.storage.bytes import allocation_size, unpack_allocation, unpack_rewards
from gbb.controller.storage.events import Event
from gbb.problem import Problem


class _Round(NamedTuple):
    """Where a round's graph was set, its allocation, and the event that holds its rewards."""

    graph: int
    allocation: bytes
    rewards: bytes
    partial: bool


def read_rounds(events: Iterable[Event], problem: Problem) -> tuple[IntArray, FloatArray]:
    """Allocations and rewards of all rounds told on the present graph, NaN where a reward is missing.

    What was retracted, and rounds on graphs that have been replaced, are left out.
    """
    size = allocation_size(problem.n, problem.K)
    graph, asked, rounds = 0, dict[int, tuple[int, bytes]](), dict[int, _Round]()
    for event in events:
        partial = is_partial(event)
        if event.kind in ("create", "graph"):
            graph = event.seq
        elif event.kind == "ask" and event.trial is not None:
            asked[event.trial] = (graph, event.data)
        elif event.kind == "tell" and event.trial is not None:
            rounds[event.seq] = _Round(*asked[event.trial], event.data, partial)
        elif event.kind == "attach":
            rounds[event.seq] = _Round(graph, event.data[:size], event.data[size:], partial)
        elif event.kind == "retract":
            rounds.pop(int(event.content["of"]), None)
    kept = [each for each in rounds.values() if each.graph == graph]
    played = np.zeros((len(kept), problem.n), dtype=np.int64)
    paid = np.full((len(kept), problem.observations), np.nan)
    for t, each in enumerate(kept):
        played[t] = unpack_allocation(each.allocation, problem.n, problem.K)
        seen = unpack_rewards(each.rewards, problem.observations, partial=each.partial)
        paid[t, slice(None) if seen.positions is None else seen.positions] = seen.values
    return played, paid
