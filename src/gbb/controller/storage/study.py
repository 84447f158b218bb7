"""One study of a store, read and written within one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import NamedTuple

import sqlalchemy as sa

from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event, check_event
from gbb.controller.storage.schema import events, snapshots

FETCH = 1000
"""How many events, or events of how many trials, are fetched at once."""


class Study(NamedTuple):
    """A study's log and snapshot.

    Attributes
    ----------
    connection
        The transaction.
    id
        The study's number.
    most
        How many events are fetched at once.
    """

    connection: sa.Connection
    id: int
    most: int = FETCH

    def events(self, *, after: int = 0, seal: int = 0) -> Iterator[Event]:
        """The events after number ``after``, which has ``seal``, in order and each checked."""
        size = self.most
        while size == self.most:
            place = {"study": self.id, "after": after, "most": self.most}
            rows = self.connection.execute(_AFTER, place).all()
            size = len(rows)
            for row in rows:
                event = check_event(Event(*row), after=after, before=seal)
                after, seal = event.seq, event.seal
                yield event

    def event(self, seq: int) -> Event:
        """One event, checked against the seal of the one before it."""
        place = {"study": self.id, "after": max(0, seq - 2), "most": min(seq, 2)}
        found = [Event(*row) for row in self.connection.execute(_AFTER, place)]
        if [event.seq for event in found] != list(range(max(1, seq - 1), seq + 1)):
            raise StorageError(f"The log is damaged: event {seq} or the one before it is missing.")
        return check_event(found[-1], after=seq - 1, before=found[0].seal if seq > 1 else 0)

    def events_of(self, *trials: int) -> list[Event]:
        """The events of some trials, in order."""
        found: list[Event] = []
        for start in range(0, len(trials), FETCH):
            found += self._events_where(events.c.trial.in_(trials[start : start + FETCH]))
        return found

    def events_of_kind(self, kind: str) -> list[Event]:
        """The events of a kind, in order."""
        return self._events_where(events.c.kind == kind)

    def _events_where(self, condition: sa.ColumnElement[bool]) -> list[Event]:
        query = _ROWS.where(events.c.study == self.id, condition).order_by(events.c.seq)
        return [Event(*row) for row in self.connection.execute(query)]

    def graph_at(self, seq: int) -> int:
        """The event that holds the graph in force at event ``seq``."""
        query = sa.select(sa.func.max(events.c.seq)).where(
            events.c.study == self.id, events.c.seq <= seq, events.c.kind.in_(["create", "graph"])
        )
        return int(self.connection.execute(query).scalar_one())

    def append(self, new: Sequence[Event]) -> None:
        """Write events at the end of the log."""
        rows = [dict(zip(_COLUMNS, (self.id, *astuple(event)), strict=True)) for event in new]
        self.connection.execute(_APPEND, rows)

    def snapshot(self) -> str | None:
        """The latest snapshot; None when there is none that can be read."""
        query = sa.select(snapshots.c.content).where(snapshots.c.study == self.id)
        try:
            return self.connection.execute(query).scalar()
        except sa.exc.OperationalError as error:
            if "decode" in str(error.orig):  # SQLite keeps bytes that are no text
                return None
            raise

    def keep_snapshot(self, seq: int, content: str) -> None:
        """Put a snapshot in place of the one before."""
        self.connection.execute(sa.delete(snapshots).where(snapshots.c.study == self.id))
        new = sa.insert(snapshots).values(study=self.id, seq=seq, content=content)
        self.connection.execute(new)


# Built once: making a statement costs more than running it.
_COLUMNS = events.c.keys()  # the study, then the fields of an event
_ROWS = sa.select(*events.c[1:])
_AFTER = (
    _ROWS.where(events.c.study == sa.bindparam("study"), events.c.seq > sa.bindparam("after"))
    .order_by(events.c.seq)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_APPEND = sa.insert(events)
