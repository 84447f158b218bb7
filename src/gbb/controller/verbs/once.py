"""Calls that are made once: what they do and what they answer is one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from gbb.controller.answers.status import read_status
from gbb.controller.state.log import Log
from gbb.controller.state.state import begin
from gbb.controller.storage.events import Event
from gbb.controller.storage.notes import Answer, Request, find_answer, keep_answer
from gbb.controller.storage.store import Store, insert_study, list_studies


@dataclass
class Call:
    """A call: what it answers, and whether that was answered before."""

    answer: Answer | None = None
    repeated: bool = False


@contextmanager
def as_one(log: Log, by: str | None, request: Request | None) -> Iterator[Call]:
    """Make the block one transaction, with its answer; see :meth:`gbb.Controller.as_one`."""
    with log.whole(by) as turn:
        here = turn.study.connection
        before = None if request is None else find_answer(here, log.study, request)
        call = Call(before, before is not None)
        yield call
        if call.repeated or call.answer is None:
            return
        if turn.notices:
            call.answer = {**call.answer, "warnings": list(dict.fromkeys(turn.notices))}
        if request is not None:
            keep_answer(here, log.study, request, call.answer)


def create_once(url: str | sa.URL, name: str, first: Event, request: Request | None) -> Call:
    """Start a controller unless the same request did so before; the answer is its status then."""
    store = Store(url, create=True)
    try:
        with store.adding() as connection:
            there = list_studies(connection).get(name)
            if there is not None and request is not None:
                before = find_answer(connection, there, request)
                if before is not None:
                    return Call(before, repeated=True)
            number = insert_study(connection, name, [first])
            answer = {"name": name, **read_status(begin(first))}
            if request is not None:
                keep_answer(connection, number, request, answer)
            return Call(answer)
    finally:
        store.close()
