"""Taking back how a trial was closed: the log keeps both, the record neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gbb._support import checks
from gbb.controller._log import Turn
from gbb.controller._tell import closing_of, known_trial
from gbb.controller.state.fold import fold
from gbb.controller.state.network import graph_to
from gbb.controller.state.records import record_to
from gbb.controller.state.state import State, begin
from gbb.controller.storage.bytes import pack_allocation
from gbb.controller.storage.events import Draft, Event


def retract(turn: Turn, trial: int, reason: str) -> None:
    """Open ``trial`` again as if it had never been closed; the same again changes nothing.

    The event holds the record that the log gives without what was told: summed anew in the
    log's order, since a number taken off a sum leaves its rounding behind.
    """
    known_trial(turn, trial)
    events = turn.events_of(trial)
    if trial in turn.state.open:
        if any(event.kind == "retract" for event in events):
            return
        raise checks.input_error("trial", "be closed", f"trial {trial}, which is open")
    closing = closing_of(events)
    if closing.kind == "tell":
        asked = next(event.seq for event in events if event.kind == "ask")
        state, round = without(turn, closing, asked)
        ask = state.open[trial]._replace(round=round)
    else:
        state = before(turn, closing)
        ask = state.open[trial]
    content = {
        "of": closing.seq,
        "closed_by": closing.kind,
        "ask": [ask.round, ask.setup, ask.graph, ask.couple],
    }
    if reason:
        content["reason"] = reason
    if ask.graph not in turn.state.networks:
        content["ask_graph"] = graph_to(state.networks[ask.graph])
    if closing.kind == "tell":
        content |= record_to(state.record)
        if state.paired is not state.record:
            content["paired"] = list(state.paired)
        content["far"] = sum(e.kind == "warning" and e.seq > closing.seq for e in events)
    data = pack_allocation(ask.allocation, turn.state.setup.problem.K)
    turn.append(Draft("retract", content, trial, data))


def before(turn: Turn, closing: Event) -> State:
    """The state just before ``closing``, in which its trial is open as it was asked."""
    return _folded(event for event in turn.events() if event.seq < closing.seq)


def without(turn: Turn, closing: Event, asked: int) -> tuple[State, int]:
    """The state that the log gives without ``closing`` and all that was taken back before.

    And the round that event ``asked`` was asked in, of which what was taken back later is a part.
    """
    gone, round = {closing.seq}, 1
    for event in turn.events_of_kind("retract"):
        gone |= {event.seq, event.content["of"]}

    def counted() -> Iterator[Event]:
        nonlocal round
        for event in turn.events():
            if event.seq < asked:
                round += (event.kind in ("tell", "attach")) - (
                    event.kind == "retract" and event.content["closed_by"] == "tell"
                )
            if event.seq not in gone:
                yield event

    return _folded(counted()), round


def _folded(events: Iterable[Event]) -> State:
    rest = iter(events)
    state = begin(next(rest))
    for event in rest:
        state = fold(state, event)
    return state
