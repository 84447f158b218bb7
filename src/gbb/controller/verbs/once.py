"""Calls that are made once: what they do and what they answer is one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gbb.controller.log.events import Event
from gbb.controller.log.log import Log
from gbb.controller.log.store import KeyedRequest, Store, Study, insert_study, list_studies
from gbb.controller.queries.status import read_status
from gbb.controller.state.state import begin

Answer = dict[str, Any]


@dataclass
class Call:
    """A call: what it answers, and whether that was answered before."""

    answer: Answer | None = None
    repeated: bool = False


@contextmanager
def as_one(log: Log, by: str | None, request: KeyedRequest | None) -> Iterator[Call]:
    """Make the block one transaction, with its answer; see :meth:`gbb.Controller.as_one`."""
    with log.whole(by) as turn:
        before = None if request is None else turn.study.response(request)
        call = Call(before, before is not None)
        yield call
        if call.repeated or call.answer is None:
            return
        if turn.warnings:
            call.answer = {**call.answer, "warnings": list(dict.fromkeys(turn.warnings))}
        if request is not None:
            turn.study.keep_response(request, call.answer)


def create_once(url: str | Path, name: str, first: Event, request: KeyedRequest | None) -> Call:
    """Start a controller unless the same request did so before; the answer is its status then."""
    store = Store(url, create=True)
    try:
        with store.database.write() as connection:
            there = list_studies(connection).get(name)
            if there is not None and request is not None:
                before = Study(connection, there, name).response(request)
                if before is not None:
                    return Call(before, repeated=True)
            number = insert_study(connection, name, [first])
            answer = {"name": name, **read_status(begin(first))}
            if request is not None:
                Study(connection, number, name).keep_response(request, answer)
            return Call(answer)
    finally:
        store.close()
