"""One study of a store, read and written within one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event, Row, check_row, read_row
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
    """

    connection: sa.Connection
    id: int

    def rows(self, *, after: int = 0, most: int = FETCH) -> Iterator[Row]:
        """The rows after number ``after``, in order, fetched ``most`` at a time."""
        size = most
        while size == most:
            place = {"study": self.id, "after": after, "most": most}
            rows = self.connection.execute(_AFTER, place).all()
            size = len(rows)
            for row in rows:
                yield Row(*row)
            after += size

    def events(self, *, after: int = 0, seal: int = 0, most: int = FETCH) -> Iterator[Event]:
        """The events after number ``after``, which has ``seal``, in order and each checked."""
        for row in self.rows(after=after, most=most):
            event = check_row(row, after=after, before=seal)
            after, seal = event.seq, event.seal
            yield event

    def event(self, seq: int) -> Event:
        """One event, checked against the seal of the one before it."""
        row, before = self._row(seq), self._row(seq - 1) if seq > 1 else None
        if row is None or (seq > 1 and before is None):
            raise StorageError(f"The log is damaged: event {seq} or the one before it is missing.")
        return check_row(row, after=seq - 1, before=0 if before is None else before.seal)

    def _row(self, seq: int) -> Row | None:
        found = self.connection.execute(_ONE, {"study": self.id, "seq": seq}).first()
        return None if found is None else Row(*found)

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
        return [read_row(Row(*row)) for row in self.connection.execute(query)]

    def graph_at(self, seq: int) -> int:
        """The event that holds the graph in force at event ``seq``."""
        query = sa.select(sa.func.max(events.c.seq)).where(
            events.c.study == self.id, events.c.seq <= seq, events.c.kind.in_(["create", "graph"])
        )
        return int(self.connection.execute(query).scalar_one())

    def append(self, rows: Sequence[Row]) -> None:
        """Write events at the end of the log."""
        values = [{"study": self.id, **row._asdict()} for row in rows]
        self.connection.execute(_APPEND, values)

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
_ROWS = sa.select(*(events.c[name] for name in Row._fields))
_HERE = _ROWS.where(events.c.study == sa.bindparam("study"))
_AFTER = (
    _HERE.where(events.c.seq > sa.bindparam("after"))
    .order_by(events.c.seq)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_ONE = _HERE.where(events.c.seq == sa.bindparam("seq"))
_APPEND = sa.insert(events)
