"""The log of a controller: its events folded to its state, from a snapshot where there is one."""

from __future__ import annotations

from gbb._support.checks import InputError
from gbb.controller.log.events import Event, StorageError
from gbb.controller.log.log import Folding, Log, Transaction
from gbb.controller.log.store import Store, Study
from gbb.controller.state.fold import fold
from gbb.controller.state.snapshot import read_snapshot, write_snapshot
from gbb.controller.state.specs import decode_problem
from gbb.controller.state.state import State, begin
from gbb.problem import Problem

UNREADABLE = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, MemoryError)
"""What goes wrong when an event says what no program of this version wrote."""


def fold_read(state: State | None, event: Event) -> State:
    """Return the state after an event that was read; ``state`` is None before the first."""
    try:
        return begin(event) if state is None else fold(state, event)
    except (InputError, StorageError):
        raise
    except UNREADABLE as error:
        raise StorageError(
            f"Event {event.seq} says what this version of gbb cannot read ({error}). Use the version "
            "that wrote it, or a newer one."
        ) from None


def _read_snapshot(content: bytes, study: Study) -> State | None:
    try:
        return read_snapshot(content, study)
    except (ValueError, LookupError, TypeError):
        return None  # written by another version; the log itself says everything


FOLDING = Folding(fold_read, write_snapshot, _read_snapshot)


def open_log(store: Store, study: int, name: str, *, replay: bool = False) -> Log:
    """Open the log of a controller; with ``replay``, all of it is folded, whatever a snapshot says."""
    return Log(store, study, name, FOLDING, replay=replay)


def problem_at(view: Transaction, seq: int) -> Problem:
    """Return the problem on the graph in force at an event."""
    state = view.state
    place, setup = max(graph for graph in state.graphs if graph <= seq), state.setup
    if place == setup.graph_seq or place in state.past_problems:
        return state.problem_on(place)
    if place not in view.problems:
        graph = view.study.event(place).content["graph"]
        view.problems[place] = decode_problem(setup.base, graph)
    return view.problems[place]
