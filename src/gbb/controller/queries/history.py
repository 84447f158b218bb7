"""The history: events by names, and all rounds told on the present graph."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.log.store import FETCH, Study
from gbb.controller.messages import Entry, RoundReward, name_arms
from gbb.controller.state.context import name_row, problem_in, row_of
from gbb.controller.state.fold import LEARNT, read_arms, read_told
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import names_of
from gbb.problem import Problem

INNER = {
    "name",
    "problem",
    "seed",
    "ask",
    "ask_graph",
    "N",
    "Y",
    "gram",
    "moment",
    "count",
    "squares",
    "paired",
    "far",
    "heading",
    "counted",
    "last",
}
"""What the history leaves out: what only the fold needs."""

FIRST = 4
"""How many agents an allocation names in brief."""


def read_history(
    view: Transaction, events: Iterable[Event], *, brief: bool = False
) -> Iterator[Entry]:
    """Some events, the oldest first, with their content by names; ``brief`` as in Controller.history."""
    for some in _in_batches(events):
        asked = asked_at(view, some)
        for event in some:
            problem = problem_at(view, event.seq)
            played = problem_at(view, asked.get(event.trial, event.seq))
            content = _name(event, problem, played, brief=brief)
            time = datetime.fromtimestamp(event.time, UTC)
            yield Entry(event.seq, event.kind, time, event.trial, content, event.by)


def find_events(
    study: Study,
    kinds: set[str] | None,
    most: int | None,
    after: int | None = None,
    before: int | None = None,
) -> Iterable[Event]:
    """The events of some kinds, or all; ``most`` of them by :meth:`Study.page`, or every one."""
    if most is not None:
        return study.page(most, kinds=kinds, after=after, before=before)
    low, high = after or 0, math.inf if before is None else before
    within = (event for event in study.events() if low < event.seq < high)
    return within if kinds is None else (event for event in within if event.kind in kinds)


def _in_batches(events: Iterable[Event]) -> Iterator[list[Event]]:
    rest = iter(events)
    while some := list(itertools.islice(rest, FETCH)):
        yield some


def asked_at(view: Transaction, events: Iterable[Event]) -> dict[int | None, int]:
    """The number of the event that asked for each trial, where graphs have been replaced."""
    if len(view.state.graphs) == 1:
        return {}
    trials = {event.trial for event in events if event.trial is not None}
    return {e.trial: e.seq for e in view.study.events_of(*trials) if e.kind == "ask"}


def _name(event: Event, problem: Problem, played: Problem, *, brief: bool) -> dict[str, Any]:
    """An event's content by names; ``problem`` is in force, and its round was ``played`` on another."""
    content = event.content
    plain = {key: value for key, value in content.items() if key not in INNER}
    if "policy" in plain:
        settings = content["policy"]["settings"]
        shown = {k: v for k, v in settings.items() if isinstance(v, int | float | str)}
        plain["policy"] = {"kind": content["policy"]["kind"], "settings": shown}
    if "graph" in plain:
        types = {"types": problem.types} if "edge_types" in content["graph"] else {}
        shards = {} if problem.edge_counts is None else {"shards": len(problem.edge_counts)}
        plain["graph"] = {"n": problem.n, "m": problem.link_count, **types, **shards}
    if "contexts" in content.get("problem", {}):
        plain["contexts"] = content["problem"]["contexts"]
    if "context" in content:
        plain["context"] = name_row(played, row_of(event))
    if event.kind in ("ask", "attach"):
        arms = read_arms(event, problem)
        if brief:
            plain["agents"] = int((arms >= 0).sum())
            arms = arms[:FIRST]
        plain["allocation"] = name_arms(problem.graph, arms, problem.arm_names)
        plain.pop("played", None)  # as many as are named
    if event.kind in ("tell", "attach"):
        plain |= _sum_rewards(played, event) if brief else {"rewards": _name_rewards(played, event)}
    return plain


def _sum_rewards(problem: Problem, event: Event) -> dict[str, Any]:
    values = read_told(event, problem).values
    return {"told": len(values), "total": float(values.sum())}


def _name_rewards(problem: Problem, event: Event) -> list[list[Any]]:
    """Rows of source, target and reward, of an edge or a link; of agent and reward; or one, the sum."""
    seen = read_told(event, problem)
    names = names_of(problem, seen.positions)
    return [[*each, value] for each, value in zip(names, seen.values.tolist(), strict=True)]


class LoggedRounds(NamedTuple):
    """Rounds that were told.

    Attributes
    ----------
    played
        An arm index per agent, a row per round (T x n).
    rewards
        What was reported, NaN where it is missing (T x observations).
    rows
        Their contexts, a row each; None where there are none.
    """

    played: IntArray
    rewards: FloatArray
    rows: FloatArray | None = None

    def contexts(self, problem: Problem) -> list[Any] | None:
        """Their contexts as they are written."""
        return None if self.rows is None else [name_row(problem, row) for row in self.rows]

    def problem_at(self, problem: Problem, t: int) -> Problem:
        """The problem of round ``t``, counted from 0."""
        return problem_in(problem, None if self.rows is None else self.rows[t])


def read_rounds(events: Iterable[Event], problem: Problem, *, unknown: int = 0) -> LoggedRounds:
    """All rounds told on the present graph.

    What was retracted, and rounds on graphs that have been replaced, are left out. Agents of whom
    nobody knows what they played have the arm ``unknown``: no reward of their round depends on it.
    """
    asked: dict[int | None, Event] = {}
    kept: dict[int, tuple[Event, Event]] = {}
    for event in events:
        if event.kind in ("create", "graph"):
            asked, kept = {}, {}
        elif event.kind == "ask":
            asked[event.trial] = event
        elif event.kind == "tell" and event.trial in asked:
            kept[event.seq] = (asked[event.trial], event)
        elif event.kind == "attach":
            kept[event.seq] = (event, event)
        elif event.kind == "retract":
            kept.pop(event.content["of"], None)
    played = np.zeros((len(kept), problem.n), dtype=np.int64)
    paid = np.full((len(kept), problem.observations), np.nan)
    rows = [row_of(ask) for ask, _ in kept.values()]
    for t, (ask, told) in enumerate(kept.values()):
        arms = read_arms(ask, problem)
        played[t] = np.where(arms < 0, unknown, arms)
        seen = read_told(told, problem)
        paid[t, slice(None) if seen.positions is None else seen.positions] = seen.values
    known = [row for row in rows if row is not None]
    return LoggedRounds(played, paid, np.stack(known) if known else None)


def read_rewards(view: Transaction, last: int) -> list[RoundReward]:
    """The ``last`` rounds that count, the oldest first; not those that shards told in tables."""
    found: list[Event] = []
    before = None
    while len(found) < last:
        some = view.study.page(last, kinds=LEARNT, before=before)
        if not some:
            break
        before = some[0].seq
        gone = _taken_back(view, before)  # what takes an event back comes after it
        found = [event for event in some if event.seq not in gone] + found
    found = found[-last:]
    asked = asked_at(view, found)
    first = view.state.rounds - len(found) + 1
    return [_sum_round(view, event, asked, first + i) for i, event in enumerate(found)]


def _taken_back(view: Transaction, after: int) -> set[int]:
    late = view.study.page(view.state.seq, kinds={"retract"}, after=after)
    return {event.content["of"] for event in late}


def _sum_round(
    view: Transaction, event: Event, asked: dict[int | None, int], number: int
) -> RoundReward:
    problem = problem_at(view, asked.get(event.trial, event.seq))
    values = read_told(event, problem).values
    time, total = datetime.fromtimestamp(event.time, UTC), float(values.sum())
    return RoundReward(
        event.seq, time, number, event.trial, total, len(values), problem.observations
    )
