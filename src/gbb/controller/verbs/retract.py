"""Taking back how a trial was closed: the log keeps both, the record neither."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from gbb._support import checks
from gbb.controller.state.fold import fold
from gbb.controller.state.log import Turn
from gbb.controller.state.problem import encode_graph
from gbb.controller.state.state import State, begin
from gbb.controller.storage.bytes import pack_allocation
from gbb.controller.storage.events import Draft, Event
from gbb.controller.verbs.trials import find_closing


def retract(turn: Turn, trial: int, reason: str) -> None:
    """Open ``trial`` again as if it had never been closed; the same again changes nothing.

    The event holds the record that the log gives without what was told: summed anew in the
    log's order, since a number taken off a sum leaves its rounding behind.
    """
    if turn.state.setup.problem.parts is not None:
        rule = "be of a graph that is at hand"
        raise checks.input_error("trial", rule, f"trial {trial}, which shards tell in tables")
    if trial in turn.state.open:
        if any(event.kind == "retract" for event in turn.study.events_of(trial)):
            return
        raise checks.input_error("trial", "be closed", f"trial {trial}, which is open")
    asked, closing = find_closing(turn, trial)
    if closing.kind == "tell":
        state, round = _replay_without(turn, closing, asked.seq)
        ask = state.open[trial]._replace(round=round)
    else:
        state = _replay(event for event in turn.study.events() if event.seq < closing.seq)
        ask = state.open[trial]
    content = {
        "of": closing.seq,
        "closed_by": closing.kind,
        "ask": [ask.round, ask.setup, ask.graph, ask.couple],
    }
    if reason:
        content["reason"] = reason
    if ask.graph not in {turn.state.setup.graph_seq, *turn.state.past_problems}:
        content["ask_graph"] = encode_graph(state.problem_on(ask.graph))
    if closing.kind == "tell":
        content |= _encode_rest(turn, state, closing)
    data = pack_allocation(ask.allocation, turn.state.setup.problem.K)
    turn.append(Draft("retract", content, trial, data))


def _encode_rest(turn: Turn, state: State, closing: Event) -> dict[str, object]:
    """What is known without ``closing``, as the fold reads it."""
    events = turn.study.events_of(closing.trial or 0)
    warnings = sum(event.kind == "warning" and event.seq > closing.seq for event in events)
    two_way = state.own_two_way_record
    own = {} if two_way is None else {"paired": [*two_way.to_dict().values()]}
    return {**state.record.to_dict(), **own, "far": warnings}


def _replay_without(turn: Turn, closing: Event, asked: int) -> tuple[State, int]:
    """The state that the log gives without ``closing`` and all that was taken back before.

    And the round that event ``asked`` was asked in, of which what was taken back later is a part.
    """
    gone, round = {closing.seq}, 1
    for event in turn.study.events_of_kind("retract"):
        gone |= {event.seq, event.content["of"]}

    def count_and_filter() -> Iterator[Event]:
        nonlocal round
        for event in turn.study.events():
            if event.seq < asked:
                round += (event.kind in ("tell", "attach")) - (
                    event.kind == "retract" and event.content["closed_by"] == "tell"
                )
            if event.seq not in gone:
                yield event

    return _replay(count_and_filter()), round


def _replay(events: Iterable[Event]) -> State:
    rest = iter(events)
    return functools.reduce(fold, rest, begin(next(rest)))
