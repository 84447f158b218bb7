"""The store: named studies in one database."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.storage import schema
from gbb.controller.storage.database import connect, explain_errors, hide_password, parse, prepare
from gbb.controller.storage.errors import CURE as RESTORE
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event, damaged
from gbb.controller.storage.schema import about, studies
from gbb.controller.storage.sqlite_file import (
    Watch,
    check_tables,
    find_path,
    hold,
    is_cut_short,
    is_held,
    one_at_a_time,
    release,
)
from gbb.controller.storage.study import FETCH, Study

LOCK = 0x676262
"""The advisory lock under which PostgreSQL's tables are made."""

CURE = "Make one with Controller.create or `gbb control create`."


class Store:
    """A database of event logs.

    Parameters
    ----------
    url
        ``sqlite:///file.db`` or ``postgresql://...``.
    create
        Make the tables (and the file) when they are not there.
    keep
        Whether what is made, and a study that is added, stays.
    """

    def __init__(self, url: str | sa.URL, *, create: bool = False, keep: bool = True) -> None:
        self.url = parse(url)
        self.shown = hide_password(self.url)
        self._closed = False
        self._keep = keep
        self._held: weakref.finalize[Any, Any] | None = None
        path = find_path(self.url)
        if path is None:
            self._open(create)
            self._watch: Watch | None = None
        else:
            with one_at_a_time():
                self._check_file(path, create)
                self._open(create)
                self._held = weakref.finalize(self, release, hold(path))
            self._watch = Watch(path)

    def _open(self, create: bool) -> None:
        self.engine = connect(self.url)
        self._writer = self.engine.execution_options(writes=True)
        self._reader: sa.Engine = self.engine
        if self.engine.dialect.name == "postgresql":  # several statements must see one moment
            self._reader = self.engine.execution_options(isolation_level="REPEATABLE READ")
        self._process = os.getpid()
        weakref.finalize(self, _let_go, self.engine, self._process)
        with explain_errors(self.url):
            self._prepare(create)

    def _check_file(self, path: Path, create: bool) -> None:
        if not create and not path.exists():
            raise checks.input_error("url", "lead to a controller", f"no file {str(path)!r}", CURE)
        if not create and not is_held(path) and is_cut_short(path):
            raise StorageError(
                f"Cannot use {self.shown!r}: the file is damaged, cut short. {RESTORE}"
            )
        if not create and path.stat().st_size == 0:
            got = f"{str(path)!r}, which is empty, as one that was being made when it was stopped"
            raise checks.input_error("url", "lead to a controller", got, CURE)
        if not path.parent.is_dir():
            got = f"no folder {str(path.parent)!r}"
            raise checks.input_error("url", "name a file in a folder", got)

    def _prepare(self, create: bool) -> None:
        with self.engine.connect() as connection, connection.begin():
            if self.engine.dialect.name == "sqlite":
                check_tables(connection)
            version = schema.version_of(connection)
        if version is not None:
            schema.check(version)
            if version == schema.VERSION:
                return
        elif not create:
            raise checks.input_error("url", "lead to a controller", f"none in {self.shown!r}", CURE)
        if not self._keep:
            return
        if version is None:
            prepare(self.engine)
        with self._writer.begin() as connection:
            self.lock_tables(connection)
            schema.upgrade(connection)  # unless another process was here first

    def lock_tables(self, connection: sa.Connection) -> None:
        """Let nobody else add, rename or remove studies until the transaction ends."""
        if self.engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment of the log."""
        self._check_open()
        if self._watch is not None:
            self._watch.check()
        with explain_errors(self.url), self._reader.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, study: int) -> Iterator[sa.Connection]:
        """A transaction that no other writer of ``study`` overlaps; committed when the block ends."""
        self._check_open()
        with explain_errors(self.url), self._writer.begin() as connection:
            if self.engine.dialect.name == "postgresql":
                lock = sa.select(studies.c.id).where(studies.c.id == study).with_for_update()
                connection.execute(lock)
            if self._watch is not None:
                self._watch.check(connection)
            yield connection
            if self._watch is not None:
                self._watch.check(connection)
        if self._watch is not None:
            self._watch.check()  # nobody may hear that what went nowhere was kept

    @contextmanager
    def adding(self) -> Iterator[sa.Connection]:
        """A transaction that adds studies, renames or removes them; no other overlaps it."""
        self._check_open()
        with explain_errors(self.url), self._writer.begin() as connection:
            self.lock_tables(connection)
            if not self._keep:
                schema.upgrade(connection)
            yield connection
            if not self._keep:
                connection.rollback()

    def add_study(self, name: str, first: Event) -> int:
        """A new study with its first event."""
        with self.adding() as connection:
            return insert_study(connection, name, [first])

    def find_study(self, name: str | None) -> tuple[int, str]:
        """Number and name of a study; of the only one when ``name`` is None."""
        with self.reading() as connection:
            numbers = list_studies(connection)
        if name is None and len(numbers) == 1:
            (name,) = numbers
        if name is None:
            known = ", ".join(map(repr, sorted(numbers)))
            rule = f"several controllers: pass `name`, one of {known}" if known else "none"
            raise InputError(f"Cannot tell which controller is meant: this storage has {rule}.")
        return numbers[checks.choice("name", name, numbers)], name

    def check_pages(self, connection: sa.Connection) -> bool:
        """Look at every page of an SQLite file; False where there are none to look at."""
        if self.engine.dialect.name != "sqlite":
            return False
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if found != "ok":
            raise damaged(f"SQLite says {' '.join(str(found).split())!r}")
        return True

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close it if the block fails: nobody else will, and files would be left beside the database."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the connections go, for good."""
        self._closed = True
        self.engine.dispose()
        if self._held is not None:
            self._held()

    def _check_open(self) -> None:
        """A connection must not be shared with the process it was inherited from, or outlive a close."""
        if self._closed:
            raise StorageError("The controller is closed. Open it again: Controller.open(url).")
        if os.getpid() != self._process:
            self.engine.dispose(close=False)
            self._process = os.getpid()


def rehearse_study(url: str | sa.URL, name: str, first: Event) -> None:
    """Add a study as :meth:`Store.add_study` does, in a transaction that is taken back.

    A file that is not there yet is made beside its place, and removed.
    """
    parsed = parse(url)
    path = find_path(parsed)
    with ExitStack() as stack:
        if path is not None and not path.exists() and os.access(path.parent, os.W_OK):
            folder = stack.enter_context(TemporaryDirectory(dir=path.parent))
            parsed = parsed.set(database=str(Path(folder) / path.name))
        store = Store(parsed, create=True, keep=False)
        stack.callback(store.close)
        store.add_study(name, first)


def insert_study(connection: sa.Connection, name: str, log: Iterable[Event]) -> int:
    """A new study with its events, of which there is at least one."""
    known = list_studies(connection)
    refuse_taken(known, name)
    new = sa.insert(studies).values(name=name).returning(studies.c.id)
    number = int(connection.execute(new).scalar_one())
    schema.write_about(connection, "studies", len(known) + 1)
    study, rest = Study(connection, number, name), iter(log)
    while some := list(itertools.islice(rest, FETCH)):
        study.append(some)
    return number


def refuse_taken(known: Iterable[str], name: str) -> None:
    """Refuse a name that another study has."""
    if name in known:
        cure = "Open it, or give another name."
        raise checks.input_error("name", "be new", f"{name!r}, which is there already", cure)


def list_studies(connection: sa.Connection) -> dict[str, int]:
    """The numbers of all studies by name, as many as were made."""
    rows = connection.execute(_STUDIES).all()
    found = {name: id for _, id, name, _ in rows if id is not None and isinstance(name, str)}
    if not rows or rows[0][0] != str(len(found)):
        raise damaged(f"{len(found)} controllers are there, which is not how many were made")
    return found


# The head as well, which the index of names has not: the rows themselves say their names.
_STUDIES = (
    sa.select(about.c.value, studies.c.id, studies.c.name, studies.c.head)
    .select_from(about.outerjoin(studies, sa.true()))
    .where(about.c.key == "studies")
)


def _let_go(engine: sa.Engine, process: int) -> None:
    """Close the connections of a store that nobody closed; a fork leaves its parent's alone."""
    if os.getpid() == process:
        engine.dispose()
