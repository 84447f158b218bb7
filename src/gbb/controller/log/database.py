"""SQLite and PostgreSQL behind one interface: how each is opened, made durable and locked for writing.

Statements are written for SQLite (``?``, ``BLOB``); PostgreSQL's connection translates what differs.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.log.events import RESTORE, StorageError

WAIT = 120
"""Seconds to wait for another process's transaction."""

IDLE = 600
"""Seconds after which PostgreSQL ends a transaction that stands still, and with it its lock."""

CHECKPOINT = 64
"""Pages in SQLite's write-ahead file after which they move to the database: about ten rounds' worth.

Until then it is the only place that has them.
"""

LOCK = 0x676262
"""The advisory lock under which PostgreSQL's tables and the names of controllers change."""

SCHEME = re.compile(r"(sqlite|postgres\w*)(\+\w+)?([:/])")
"""What starts like a URL is meant as one, and not as a file whose name may hold a password."""

SECRET = re.compile(r"(\w*password=)[^&]*", re.IGNORECASE)

EXAMPLES = "Write sqlite:///file.db or postgresql://user@host/database."
CREATE = "Make one with Controller.create or `gbb control create`."
DRIVER = "Install PostgreSQL's driver with: pip install 'graphical-bilinear-bandits[postgres]'."

ADVICE = {
    "55P03": "Another process has held it for over {wait} s; nothing was changed, try again.",
    "25P03": "This call stood still for over {idle} s; nothing of it was kept.",
    "SQLITE_BUSY": "Another process has held it for over {wait} s.",
    "SQLITE_FULL": "The disk is full: make room and try again.",
    "SQLITE_IOERR": "The disk may be full or failing; what was acknowledged is kept.",
    "SQLITE_CORRUPT": "The file is damaged or cut short: restore it from a copy.",
    "SQLITE_NOTADB": "The file is damaged, or is something else: give one of gbb, or a new one.",
    "SQLITE_CANTOPEN": "Look at its folder and permissions.",
    "SQLITE_READONLY": "Look at its folder and permissions.",
}
"""What to do, by the beginning of a database's own code."""


class NoStorageError(InputError):
    """There is no storage where a URL leads; it might be made there."""


class Connection(Protocol):
    """A connection of either driver, as far as it is used."""

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        """Run a statement and return its cursor."""

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]], /) -> Any:
        """Run a statement once for each row."""

    def close(self) -> None:
        """Let the connection go."""


def connect(url: str | Path, *, create: bool) -> Database:
    """Return the database of a URL or a path; ``create`` makes a file that is not there."""
    text, scheme = str(url), SCHEME.match(str(url))
    if isinstance(url, Path) or (scheme is None and "://" not in text and text.strip()):
        return Sqlite(Path(url), create=create)
    shown = repr(hide_secrets(text))
    if scheme is None or scheme[3] != ":":
        rule = "be a file, or start with sqlite: or postgresql:"
        raise checks.input_error("url", rule, shown, EXAMPLES)
    rest = text[scheme.end() :]
    if scheme[1] != "sqlite":
        return Postgres(f"postgresql:{rest}")
    path, _, options = rest.removeprefix("///").partition("?")
    # An option such as uri=true would make a file's name say anything.
    if not rest.startswith("///") or path in ("", ":memory:") or options:
        raise checks.input_error("url", "name a file, with no options", shown, EXAMPLES)
    return Sqlite(Path(path), create=create)


def nothing_there(got: str) -> NoStorageError:
    """Return the error for a URL that leads to no controller."""
    return NoStorageError(str(checks.input_error("url", "lead to a controller", got, CREATE)))


def hide_secrets(url: str) -> str:
    """Return a URL, or what should be one, without the passwords in it."""
    before, at, after = url.rpartition("@")
    scheme = re.match(r"[\w+]+:/*", before)
    start = scheme.end() if scheme else 0
    user, colon, _ = before[start:].partition(":")
    hidden = f"{before[:start]}{user}{colon and ':***'}{at}{after}"
    return SECRET.sub(r"\1***", hidden)


class Database(ABC):
    """The connections of this process to one database; each transaction takes one of its own.

    Parameters
    ----------
    shown
        The URL as messages show it, without a password.
    """

    _lost: tuple[type[Exception], ...] = ()
    """What the first statement raises where the connection is gone, so that another may do."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self._closed = False
        self._own()

    def _own(self) -> None:
        """Start without connections: those of the process that was forked belong to it alone."""
        self._idle: list[Connection] = []
        self._process = os.getpid()
        weakref.finalize(self, _close_all, self._idle, self._process)

    @abstractmethod
    def _connect(self) -> Connection:
        """Return a new connection whose transactions survive a crash once they are committed."""

    @abstractmethod
    def _begin(self, connection: Connection, *, writes: bool) -> None:
        """Begin a transaction."""

    @abstractmethod
    def lock(self, connection: Connection, study: int | None) -> None:
        """Wait until no other transaction writes to a study; to any tables and names if None."""

    @abstractmethod
    def check_tables(self, connection: Connection, tables: Sequence[str]) -> bool:
        """Return whether there are tables; refuse others than those that gbb makes."""

    @abstractmethod
    def check_pages(self, connection: Connection) -> bool:
        """Have the database look at all of its pages; False where that is the server's business."""

    @abstractmethod
    def _check_place(self, connection: Connection | None = None) -> None:
        """Refuse to go on where what was opened is not there any more."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the settings that a new database keeps."""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Return a transaction that sees one moment of the log."""
        with self._explained():
            self._check_place()
            with self._transaction(writes=False) as connection:
                yield connection

    @contextmanager
    def write(self, study: int | None = None) -> Iterator[Connection]:
        """Return a transaction that no other writer of ``study``, or of names, overlaps."""
        with self._explained():
            with self._transaction(writes=True) as connection:
                self.lock(connection, study)
                self._check_place(connection)
                yield connection
                self._check_place(connection)
            # After the commit too: nobody may hear that what went nowhere was kept.
            self._check_place()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        connection = self._take(writes=writes)
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            try:
                self._roll_back(connection)
            except Exception:  # whatever it says, the connection is of no use
                with suppress(Exception):
                    connection.close()
            else:
                self._put_back(connection)
            raise
        self._put_back(connection)

    def _roll_back(self, connection: Connection) -> None:
        connection.execute("ROLLBACK")

    def _put_back(self, connection: Connection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.release()

    def _take(self, *, writes: bool) -> Connection:
        """Return a connection on which a transaction has begun."""
        if self._closed:
            raise StorageError("The controller is closed. Open it again: Controller.open(url).")
        if os.getpid() != self._process:
            self._own()
        try:
            connection, new = self._idle.pop(), False
        except IndexError:
            connection, new = self._connect(), True
        try:
            self._begin(connection, writes=writes)
        except Exception as error:
            with suppress(Exception):
                connection.close()
            # A server may have ended the session since: that shows at the first statement only.
            if new or not isinstance(error, self._lost):
                raise
            return self._take(writes=writes)
        return connection

    def close(self) -> None:
        """Let the connections go, for good."""
        self._closed = True
        self.release()

    def discard(self) -> None:
        """Close it after an error, and leave nothing of a new one that holds no controller."""
        self.close()

    def release(self) -> None:
        """Close the connections that are not in use."""
        _close_all(self._idle, self._process)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the database says into one line."""
        try:
            yield
        except Exception as error:
            code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None)
            # SQLite's own messages may quote bytes of a damaged file that are no text.
            is_ours = isinstance(error, sqlite3.Error | UnicodeDecodeError)
            if not is_ours and not hasattr(error, "sqlstate"):
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            found = next(
                (text for name, text in ADVICE.items() if (code or "").startswith(name)), ""
            )
            if "decode" in reason:  # SQLite has bytes that are no text
                found = ADVICE["SQLITE_CORRUPT"]
            advice = f" {found.format(wait=WAIT, idle=IDLE)}" if found else ""
            raise StorageError(
                f"Cannot use {self.shown!r}: {reason.rstrip('.')}.{advice}"
            ) from None


def _close_all(idle: list[Connection], process: int) -> None:
    """Close what this process opened; a fork leaves its parent's connections alone."""
    while os.getpid() == process and idle:
        with suppress(Exception):
            idle.pop().close()


class _File(sqlite3.Connection):
    """A connection that knows which write-ahead file it writes to."""

    wal: tuple[int, int] | None = None


class Sqlite(Database):
    """A file of SQLite: it is looked at by its name alone, and never opened beside SQLite.

    Closing it again, whoever does so, would take SQLite's locks off it, as POSIX has it, and another
    process would take its write-ahead file away.

    Parameters
    ----------
    path
        The file.
    create
        Whether it may be a new one.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        super().__init__(f"sqlite:///{path}")
        self._given, self._path = str(path), str(path.absolute())  # wherever the process goes
        self._wal = f"{self._path}-wal"
        self._is_new = _identify(self._path) is None
        if not path.parent.is_dir():
            got = f"no folder {str(path.parent)!r}"
            raise checks.input_error("url", "name a file in a folder", got)
        if self._is_new and not create:
            raise nothing_there(f"no file {self._given!r}")
        if path.is_dir():
            raise checks.input_error("url", "name a file", f"the folder {self._given!r}", EXAMPLES)
        if not create and os.stat(self._path).st_size == 0:  # noqa: PTH116
            got = f"{self._given!r}, which is empty, as one that was being made when it was stopped"
            raise nothing_there(got)
        with self._explained():
            self._idle.append(self._connect())
        self._file = _identify(self._path)

    def _connect(self) -> Connection:
        connection = sqlite3.connect(
            self._path, WAIT, isolation_level=None, check_same_thread=False, factory=_File
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
            connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
            connection.execute("PRAGMA cell_size_check = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: Connection, *, writes: bool) -> None:
        if not writes:
            connection.execute("BEGIN")
            return
        # SQLite's own waiting backs off to 100 ms, which leaves the file idle while many wait for it.
        deadline = time.monotonic() + WAIT
        connection.execute("PRAGMA busy_timeout = 3")
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
                if not busy or time.monotonic() > deadline:
                    raise
        connection.execute(f"PRAGMA busy_timeout = {1000 * WAIT}")

    def _roll_back(self, connection: Connection) -> None:
        # A full disk has rolled back by itself. Closing would move the write-ahead file instead.
        if getattr(connection, "in_transaction", True):
            connection.execute("ROLLBACK")

    def lock(self, connection: Connection, study: int | None) -> None:
        """Do nothing: ``BEGIN IMMEDIATE`` lets one writer in."""

    def check_tables(self, connection: Connection, tables: Sequence[str]) -> bool:
        """Return whether there are tables; anything else of our names is a stranger's.

        A view or a generated column may never end, a trigger may write what it likes.
        """
        # The name of a trigger is free, but not that of its table.
        query = "SELECT name, sql FROM sqlite_master WHERE tbl_name LIKE 'gbb%' OR name LIKE 'gbb%'"
        found = connection.execute(query).fetchall()
        for name, sql in found:
            if sql is not None and sql not in tables:  # an automatic index has none
                raise StorageError(
                    f"This storage was not made by gbb, or by another version of it: {name!r} is no "
                    f"table of this one. {RESTORE}"
                )
        # SQLite misses pages by itself, but not the last one cut in half.
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        waiting = _size(self._wal)
        if found and _size(self._path) % page and not waiting:
            raise StorageError(
                f"Cannot use {self.shown!r}: the file is damaged, cut short. {RESTORE}"
            )
        return bool(found)

    def check_pages(self, connection: Connection) -> bool:
        """Have SQLite look at all pages and indexes."""
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            said = " ".join(str(found).split())
            raise StorageError(f"The log is damaged: SQLite says {said!r}. {RESTORE}")
        return True

    def prepare(self) -> None:
        """Have a log ahead of writing, so that readers never wait."""
        with self._explained():
            connection = self._connect()
            connection.execute("PRAGMA journal_mode = WAL")
            self._put_back(connection)

    def discard(self) -> None:
        """Close it, and remove a file that this process made and that holds no controller."""
        self.close()
        if not self._is_new:
            return
        with suppress(OSError, sqlite3.Error), closing(sqlite3.connect(self._path, 0)) as alone:
            # Refused where others have it open; and on a full disk there is no room for shared memory.
            alone.execute("PRAGMA locking_mode = EXCLUSIVE")
            tables = alone.execute("SELECT name FROM sqlite_master").fetchall()
            if tables and alone.execute("SELECT count(*) FROM gbb_studies").fetchone()[0]:
                return
            for path in (self._path, self._wal, f"{self._path}-shm"):
                Path(path).unlink(missing_ok=True)

    def _check_place(self, connection: Connection | None = None) -> None:
        """Notice that a file was deleted or replaced while connections to it are open.

        They would go on reading and writing what nobody will find again.
        """
        gone = self._given if _identify(self._path) != self._file else None
        if isinstance(connection, _File) and gone is None:
            now = _identify(self._wal)
            connection.wal = connection.wal or now
            gone = None if connection.wal == now else self._wal
        if gone is not None:
            raise StorageError(
                f"The file {gone!r} was deleted or replaced while it was open: what this call "
                "says is not kept. Put the file back or restore it from a copy, then open it again."
            )


def _identify(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  (several times in every call)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0


class _Session:
    """A session of PostgreSQL that takes the statements of SQLite."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        return self._session.execute(_translate(sql), values)

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]], /) -> Any:
        with self._session.cursor() as cursor:
            cursor.executemany(_translate(sql), rows)

    def close(self) -> None:
        self._session.close()


def _translate(sql: str) -> str:
    """Return a statement as PostgreSQL has it."""
    sql = sql.replace("INTEGER PRIMARY KEY", "SERIAL PRIMARY KEY").replace(" BLOB", " BYTEA")
    return sql.replace("?", "%s")


class Postgres(Database):
    """A database of a PostgreSQL server.

    Parameters
    ----------
    url
        A URL of libpq.
    """

    def __init__(self, url: str) -> None:
        super().__init__(hide_secrets(url))
        self._url = url
        try:
            import psycopg  # noqa: PLC0415  (an extra)
        except ImportError:
            raise InputError(f"PostgreSQL needs the package psycopg. {DRIVER}") from None
        self._driver = psycopg
        self._lost = (psycopg.OperationalError, psycopg.InterfaceError)
        try:
            psycopg.conninfo.conninfo_to_dict(url)
            _ = urlsplit(url).port  # must be a number
        except (psycopg.ProgrammingError, ValueError):  # whose message may hold the password
            raise checks.input_error(
                "url", "be a database URL", repr(self.shown), EXAMPLES
            ) from None

    def _connect(self) -> Connection:
        session = self._driver.connect(self._url, autocommit=True)
        # Whatever the server's, the database's or the role's settings are.
        session.execute("SET synchronous_commit = on")  # a commit returns when the disk has it
        session.execute("SET default_transaction_read_only = off")
        session.execute("SET extra_float_digits = 1")  # doubles come back to the last bit
        session.execute("SET statement_timeout = 0")  # WAIT and IDLE are the limits
        session.execute(f"SET lock_timeout = '{WAIT}s'")
        session.execute(f"SET idle_in_transaction_session_timeout = '{IDLE}s'")
        return _Session(session)

    def _begin(self, connection: Connection, *, writes: bool) -> None:
        # A writer that has waited for its lock must see what the one before it wrote; a reader must
        # see one moment in all of its statements.
        level = "READ COMMITTED" if writes else "REPEATABLE READ"
        connection.execute(f"BEGIN ISOLATION LEVEL {level}")

    def lock(self, connection: Connection, study: int | None) -> None:
        """Lock the study's row, or what all names and tables share."""
        if study is None:
            connection.execute("SELECT pg_advisory_xact_lock(?)", (LOCK,))
        else:
            connection.execute("SELECT id FROM gbb_studies WHERE id = ? FOR UPDATE", (study,))

    def check_tables(self, connection: Connection, tables: Sequence[str]) -> bool:  # noqa: ARG002
        """Return whether there are tables; who may write to the server is its owner's business."""
        return connection.execute("SELECT to_regclass('gbb_about')").fetchone()[0] is not None

    def check_pages(self, connection: Connection) -> bool:  # noqa: ARG002
        """Leave it to the server."""
        return False

    def prepare(self) -> None:
        """Do nothing: our sessions set what they need."""

    def _check_place(self, connection: Connection | None = None) -> None:
        """Do nothing: a server is found by its address."""
