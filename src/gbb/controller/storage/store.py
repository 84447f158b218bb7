"""The store: events and snapshots of named studies in one database."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

from gbb._support import checks
from gbb.controller.storage import schema
from gbb.controller.storage.database import (
    connect,
    explained,
    is_cut_short,
    parse,
    path_of,
    prepare,
    shown,
)
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Row
from gbb.controller.storage.schema import events, snapshots, studies

LOCK = 0x676262
"""The advisory lock under which PostgreSQL's tables are made."""


class Store:
    """A database of event logs.

    Parameters
    ----------
    url
        ``sqlite:///file.db`` or ``postgresql://...``.
    create
        Make the tables (and the file) when they are not there.
    """

    def __init__(self, url: str | sa.URL, *, create: bool = False) -> None:
        self.url = parse(url)
        self.shown = shown(self.url)
        path = path_of(self.url)
        if path is not None and not create and not path.exists():
            cure = "Make one with Controller.create or `gbb control create`."
            raise checks.input_error("url", "lead to a controller", f"no file {str(path)!r}", cure)
        if path is not None and not create and is_cut_short(path):
            cure = "Nothing was changed; restore it from a copy."
            raise StorageError(f"Cannot use {self.shown!r}: the file is damaged, cut short. {cure}")
        if path is not None and not path.parent.is_dir():
            raise checks.input_error(
                "url", "name a file in a folder", f"no folder {str(path.parent)!r}"
            )
        self.engine = connect(self.url)
        self._writer = self.engine.execution_options(writes=True)
        self._process = os.getpid()
        weakref.finalize(self, _let_go, self.engine, self._process)
        with explained(self.url):
            self._prepare(create)

    def _prepare(self, create: bool) -> None:
        with self.reading() as connection:
            version = schema.version_of(connection)
        if version is not None:
            schema.check(version)
            if version == schema.VERSION:
                return
        elif not create:
            cure = "Make one with Controller.create or `gbb control create`."
            raise checks.input_error("url", "lead to a controller", f"none in {self.shown!r}", cure)
        if version is None:
            prepare(self.engine)
        with self._writer.begin() as connection:
            if self.engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
            version = schema.version_of(connection)  # another process may have been here
            if version is None:
                schema.create(connection)
            elif version != schema.VERSION:
                schema.check(version)
                schema.upgrade(connection, version)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment of the log."""
        self._after_fork()
        with explained(self.url), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, study: int) -> Iterator[sa.Connection]:
        """A transaction that no other writer of ``study`` overlaps; committed when the block ends."""
        self._after_fork()
        with explained(self.url), self._writer.begin() as connection:
            if self.engine.dialect.name == "postgresql":
                lock = sa.select(studies.c.id).where(studies.c.id == study).with_for_update()
                connection.execute(lock)
            yield connection

    def add_study(self, name: str, first: Row) -> int:
        """A new study with its first event."""
        with explained(self.url), self._writer.begin() as connection:
            if self.engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
            if self._study(connection, name) is not None:
                cure = "Open it, or give another name."
                raise checks.input_error(
                    "name", "be new", f"{name!r}, which is there already", cure
                )
            new = sa.insert(studies).values(name=name).returning(studies.c.id)
            study = int(connection.execute(new).scalar_one())
            self.append(connection, study, [first])
        return study

    def study(self, name: str | None) -> tuple[int, str]:
        """Number and name of a study; of the only one when ``name`` is None."""
        with self.reading() as connection:
            names = connection.execute(sa.select(studies.c.name)).scalars().all()
            if name is None and len(names) == 1:
                name = names[0]
            if name is None:
                raise checks.input_error("name", "say which controller", f"none of {sorted(names)}")
            found = self._study(connection, checks.choice("name", name, names))
        if found is None:
            raise StorageError(f"The controller {name!r} has gone from {self.shown!r}.")
        return found, name

    @staticmethod
    def _study(connection: sa.Connection, name: str) -> int | None:
        found = connection.execute(sa.select(studies.c.id).where(studies.c.name == name)).scalar()
        return None if found is None else int(found)

    @staticmethod
    def rows(
        connection: sa.Connection, study: int, *, after: int = 0, most: int = 1000
    ) -> Iterator[Row]:
        """The events after number ``after``, in order, fetched ``most`` at a time."""
        size = most
        while size == most:
            place = {"study": study, "after": after, "most": most}
            rows = connection.execute(_AFTER, place).all()
            size = len(rows)
            for row in rows:
                yield Row(*row)
            after += size

    @staticmethod
    def rows_of(connection: sa.Connection, study: int, trials: Sequence[int]) -> list[Row]:
        """The events of some trials, in order."""
        found = []
        for start in range(0, len(trials), 1000):
            some = events.c.trial.in_(trials[start : start + 1000])
            query = _ROWS.where(events.c.study == study, some).order_by(events.c.seq)
            found += [Row(*row) for row in connection.execute(query)]
        return found

    @staticmethod
    def rows_of_kind(connection: sa.Connection, study: int, kind: str) -> list[Row]:
        """The events of a kind, in order."""
        query = _ROWS.where(events.c.study == study, events.c.kind == kind).order_by(events.c.seq)
        return [Row(*row) for row in connection.execute(query)]

    @staticmethod
    def row(connection: sa.Connection, study: int, seq: int) -> Row | None:
        """One event."""
        found = connection.execute(_ONE, {"study": study, "seq": seq}).first()
        return None if found is None else Row(*found)

    @staticmethod
    def graph_at(connection: sa.Connection, study: int, seq: int) -> int:
        """The event that holds the graph in force at event ``seq``."""
        query = sa.select(sa.func.max(events.c.seq)).where(
            events.c.study == study, events.c.seq <= seq, events.c.kind.in_(["create", "graph"])
        )
        return int(connection.execute(query).scalar_one())

    @staticmethod
    def append(connection: sa.Connection, study: int, rows: Sequence[Row]) -> None:
        """Write events at the end of the log."""
        values = [{"study": study, **row._asdict()} for row in rows]
        connection.execute(_APPEND, values)

    @staticmethod
    def snapshot(connection: sa.Connection, study: int) -> str | None:
        """The latest snapshot; None when there is none that can be read."""
        query = sa.select(snapshots.c.content).where(snapshots.c.study == study)
        try:
            return connection.execute(query).scalar()
        except sa.exc.OperationalError as error:
            if "decode" in str(error.orig):  # SQLite keeps bytes that are no text
                return None
            raise

    @staticmethod
    def keep_snapshot(connection: sa.Connection, study: int, seq: int, content: str) -> None:
        """Put a snapshot in place of the one before."""
        connection.execute(sa.delete(snapshots).where(snapshots.c.study == study))
        connection.execute(sa.insert(snapshots).values(study=study, seq=seq, content=content))

    def close(self) -> None:
        """Let the connections go."""
        self.engine.dispose()

    def _after_fork(self) -> None:
        """A connection must not be shared with the process it was inherited from."""
        if os.getpid() != self._process:
            self.engine.dispose(close=False)
            self._process = os.getpid()


def _let_go(engine: sa.Engine, process: int) -> None:
    """Close the connections of a store that nobody closed; a fork leaves its parent's alone."""
    if os.getpid() == process:
        engine.dispose()


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
