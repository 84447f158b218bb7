"""One study of a store, read and written within one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import NamedTuple

import sqlalchemy as sa

from gbb.controller.storage import schema
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event, check_event, damaged
from gbb.controller.storage.schema import events, snapshots, studies

FETCH = 1000
"""How many events, or events of how many trials, are fetched at once."""


class Head(NamedTuple):
    """Where a log ends: its last event's number, and the checksum of the study's row."""

    seq: int
    seal: int


class Study(NamedTuple):
    """A study's log and snapshot.

    Attributes
    ----------
    connection
        The transaction.
    id, name
        The study's number and name.
    most
        How many events are fetched at once.
    """

    connection: sa.Connection
    id: int
    name: str
    most: int = FETCH

    def head(self) -> Head:
        """Where the study's row says that its log ends."""
        row = self.connection.execute(_HEAD, {"study": self.id}).first()
        if row is None:
            raise StorageError(
                f"The controller {self.name!r} is not there any more: it was deleted, or its row is "
                "lost. Nothing was changed."
            )
        if row[0] != self.name:
            self._refuse_other_name(row[0], Head(*row[1:]))
        if row[0] != self.name or not all(isinstance(x, int) for x in row[1:]):
            raise damaged(f"the row of {self.name!r} is not what was written")
        return Head(*row[1:])

    def _refuse_other_name(self, name: object, head: Head) -> None:
        """Say so where the controller has been renamed, and nothing else is wrong."""
        whole = isinstance(name, str) and isinstance(head.seq, int)
        if whole and head.seal == schema.seal_head(
            self.id, str(name), head.seq, self._seal_of(head.seq)
        ):
            raise StorageError(
                f"The controller {self.name!r} is called {name!r} now. Nothing was changed; open it "
                "under that name."
            )

    def events(self, *, after: int = 0, seal: int = 0) -> Iterator[Event]:
        """The events after number ``after``, which has ``seal``, in order, each checked, and all.

        The log may go on beyond its head, as others write meanwhile, but it may not end before.
        """
        head = self.head()
        if head.seq < after and self.event(after).seal != seal:
            raise damaged(f"event {after} is not what it was")
        if head.seq <= after:
            self._check_head(head, seal if head.seq == after else self._seal_of(head.seq))
        if head.seq == after:
            return
        size = self.most
        while size == self.most:
            place = {"study": self.id, "after": after, "most": self.most}
            rows = self.connection.execute(_AFTER, place).all()
            size = len(rows)
            for row in rows:
                event = check_event(Event(*row), after=after, before=seal)
                after, seal = event.seq, event.seal
                if after == head.seq:
                    self._check_head(head, seal)
                yield event
        if after < head.seq:
            raise damaged(f"it ends with event {after}, but event {head.seq} was written")

    def _check_head(self, head: Head, seal: int) -> None:
        """Refuse a row that does not belong to the event with ``seal``."""
        if head.seal != schema.seal_head(self.id, self.name, head.seq, seal):
            raise damaged(f"its end at event {head.seq}, or its name, is not what was written")

    def _seal_of(self, seq: int) -> int:
        return self.event(seq).seal if seq > 0 else 0

    def event(self, seq: int) -> Event:
        """One event, checked against the seal of the one before it."""
        place = {"study": self.id, "after": max(0, seq - 2), "most": min(seq, 2)}
        found = [Event(*row) for row in self.connection.execute(_AFTER, place)]
        if [event.seq for event in found] != list(range(max(1, seq - 1), seq + 1)):
            raise damaged(f"event {seq} or the one before it is missing")
        return check_event(found[-1], after=seq - 1, before=found[0].seal if seq > 1 else 0)

    def events_of(self, *trials: int) -> list[Event]:
        """All events of some trials, in order, each checked."""
        if self.connection.execute(_COUNT, {"study": self.id}).scalar_one() < self.head().seq:
            raise damaged("its list of trials is not what was written")
        found: list[Event] = []
        for start in range(0, len(trials), FETCH):
            found += self._events_where(events.c.trial.in_(trials[start : start + FETCH]))
        return found

    def page(
        self,
        most: int,
        *,
        kinds: Iterable[str] | None = None,
        after: int | None = None,
        before: int | None = None,
    ) -> list[Event]:
        """At most so many events, of some kinds or all, in order, each checked.

        The last of them, ``before`` one if that is given; or, with ``after``, the first after one.
        """
        limits = [events.c.seq > (after or 0), events.c.seq < (before or self.head().seq + 1)]
        of = sa.true() if kinds is None else events.c.kind.in_(kinds)
        return self._events_where(sa.and_(*limits, of), most=most, first=after is not None)

    def events_of_kind(self, kind: str) -> list[Event]:
        """The events of a kind, in order, each checked."""
        return self._events_where(events.c.kind == kind)

    def _events_where(
        self, condition: sa.ColumnElement[bool], *, most: int | None = None, first: bool = True
    ) -> list[Event]:
        here = events.c.study == self.id
        order = events.c.seq if first else events.c.seq.desc()
        query = _ROWS.where(here, condition).order_by(order).limit(most)
        found = [Event(*row) for row in self.connection.execute(query)]
        found = found if first else found[::-1]
        seals = {0: 0}
        for start in range(0, len(found), FETCH):
            places = [event.seq - 1 for event in found[start : start + FETCH]]
            before = sa.select(events.c.seq, events.c.seal).where(here, events.c.seq.in_(places))
            seals |= {row.seq: row.seal for row in self.connection.execute(before)}
        return [
            check_event(event, after=event.seq - 1, before=seals.get(event.seq - 1, -1))
            for event in found
        ]

    def append(self, new: Sequence[Event]) -> None:
        """Write events at the end of the log."""
        rows = [dict(zip(_COLUMNS, (self.id, *_FIELDS(event)), strict=True)) for event in new]
        self.connection.execute(_APPEND, rows if len(rows) > 1 else rows[0])
        head, seal = new[-1].seq, new[-1].seal
        row = {"head": head, "seal": schema.seal_head(self.id, self.name, head, seal)}
        self.connection.execute(_WRITE_HEAD, {"study": self.id, **row})

    def snapshot(self) -> str | None:
        """The latest snapshot; None when there is none that can be read."""
        query = sa.select(snapshots.c.content).where(snapshots.c.study == self.id)
        try:
            found = self.connection.execute(query).scalar()
            return found if isinstance(found, str) else None
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
_FIELDS = attrgetter(*(field.name for field in fields(Event)))
_ROWS = sa.select(*events.c[1:])
_AFTER = (
    _ROWS.where(events.c.study == sa.bindparam("study"), events.c.seq > sa.bindparam("after"))
    .order_by(events.c.seq)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_APPEND = sa.insert(events)
_HERE = studies.c.id == sa.bindparam("study")
_HEAD = sa.select(studies.c.name, studies.c.head, studies.c.seal).where(_HERE)
_WRITE_HEAD = (
    sa.update(studies).where(_HERE).values(head=sa.bindparam("head"), seal=sa.bindparam("seal"))
)


def _count_where(condition: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
    here = events.c.study == sa.bindparam("study")
    return sa.select(sa.func.count()).select_from(events).where(here, condition).scalar_subquery()


# As the index by trial has them: SQLite reads nothing else for it.
_COUNT = sa.select(_count_where(events.c.trial.is_(None)) + _count_where(events.c.trial >= 0))
