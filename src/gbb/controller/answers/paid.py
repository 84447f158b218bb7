"""What the last rounds paid, read from the end of the log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from gbb.controller.answers.history import asked_at
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.state.fold import LEARNT, read_told
from gbb.controller.state.replay import problem_at


class Paid(NamedTuple):
    """A round that was told.

    Attributes
    ----------
    seq
        The event that tells it.
    time
        When it was told (UTC).
    round
        Which of the rounds that count it is, from 1 on.
    trial
        Its trial; None if it was attached.
    reward
        The sum of the rewards that were told.
    told, of
        How many rewards were told, and how many there can be.
    """

    seq: int
    time: datetime
    round: int
    trial: int | None
    reward: float
    told: int
    of: int


def read_paid(view: Transaction, last: int) -> list[Paid]:
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
    return [_read(view, event, asked, first + i) for i, event in enumerate(found)]


def _taken_back(view: Transaction, after: int) -> set[int]:
    late = view.study.page(view.state.seq, kinds={"retract"}, after=after)
    return {event.content["of"] for event in late}


def _read(view: Transaction, event: Event, asked: dict[int | None, int], number: int) -> Paid:
    problem = problem_at(view, asked.get(event.trial, event.seq))
    values = read_told(event, problem).values
    time, total = datetime.fromtimestamp(event.time, UTC), float(values.sum())
    return Paid(event.seq, time, number, event.trial, total, len(values), problem.observations)
