"""The tables and every statement on them: studies, their events, snapshots, and kept responses."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.log.database import Connection, connect, nothing_there
from gbb.controller.log.events import Event, StorageError, damaged

VERSION = 5
"""The version of the tables, and of what their events say. Others are not read: none was released."""

FETCH = 1000
"""How many events, or events of how many trials, are fetched at most at once."""

FETCH_BYTES = 1 << 26
"""About how many bytes of events are fetched at once: a round of 10^6 edges has 8 MB."""

KEPT = 3600.0
"""For so many seconds a response is kept; a client must give up before."""

CLEANUP_PERIOD = 32
"""After about so many responses, those that are too old are let go."""

MAX_KEY = 200

TABLES = (
    "CREATE TABLE gbb_about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # `head` is the last event's number, `seal` a checksum of the row and of that event's seal.
    "CREATE TABLE gbb_studies (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " head BIGINT NOT NULL, seal BIGINT NOT NULL)",
    "CREATE TABLE gbb_events (study INTEGER NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL,"
    " trial BIGINT, time DOUBLE PRECISION NOT NULL, content TEXT NOT NULL, data BLOB NOT NULL,"
    " seal BIGINT NOT NULL, PRIMARY KEY (study, seq))",
    # With `seq`, or SQLite would rather scan the whole log for the events of a trial in order.
    "CREATE INDEX gbb_events_by_trial ON gbb_events (study, trial, seq)",
    "CREATE TABLE gbb_snapshots (study INTEGER PRIMARY KEY, seq BIGINT NOT NULL,"
    " content BLOB NOT NULL)",
    "CREATE TABLE gbb_responses (study INTEGER NOT NULL, caller TEXT NOT NULL, key TEXT NOT NULL,"
    " time DOUBLE PRECISION NOT NULL, request TEXT NOT NULL, response TEXT NOT NULL,"
    " PRIMARY KEY (study, caller, key))",
    "CREATE INDEX gbb_responses_by_time ON gbb_responses (study, time)",
)

COLUMNS = "seq, kind, trial, time, content, data, seal"
_ROW = attrgetter("seq", "kind", "trial", "time", "text", "data", "seal")


class Store:
    """A database of event logs.

    Parameters
    ----------
    url
        A file, ``sqlite:///file.db`` or ``postgresql://...``.
    create
        Make the tables (and the file) if they are not there.
    """

    def __init__(self, url: str | Path, *, create: bool = False) -> None:
        self.url = url
        self.database = connect(url, create=create)
        self.shown = self.database.shown
        with self.closed_on_error():
            if self._find_tables():
                return
            if not create:
                raise nothing_there(f"none in {self.shown!r}")
            self._make_tables()

    def _find_tables(self) -> bool:
        """Return whether the tables are there; refuse those of another version."""
        with self.database.read() as connection:
            if not self.database.check_tables(connection, TABLES):
                return False
            sql = "SELECT value FROM gbb_about WHERE key = 'version'"
            row = connection.execute(sql).fetchone()
        if row is None or not str(row[0]).isdecimal():
            raise damaged(f"the version of its tables is {row and row[0]!r}")
        if int(row[0]) != VERSION:
            newer = int(row[0]) > VERSION
            raise StorageError(
                f"This storage has version {row[0]} and was written by "
                f"{'a newer' if newer else 'an older'} gbb; this one reads version {VERSION}. "
                f"Install {'a newer' if newer else 'that'} gbb."
            )
        return True

    def _make_tables(self) -> None:
        self.database.prepare()
        with self.database.write() as connection:
            if self.database.check_tables(connection, TABLES):
                return  # another process was here first
            for statement in TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO gbb_about VALUES (?, ?)", ("version", str(VERSION)))

    def find_study(self, name: str | None) -> tuple[int, str]:
        """Return number and name of a study; of the only one if ``name`` is None."""
        with self.database.read() as connection:
            numbers = list_studies(connection)
        if name is None and len(numbers) == 1:
            (name,) = numbers
        if name is None:
            known = ", ".join(map(repr, sorted(numbers)))
            rule = f"several controllers: pass `name`, one of {known}" if known else "none"
            raise InputError(f"Cannot tell which controller is meant: this storage has {rule}.")
        return numbers[checks.choice("name", name, numbers)], name

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close it if the block fails: nobody else will, and files would be left behind."""
        try:
            yield
        except BaseException:
            self.database.discard()
            raise

    def close(self) -> None:
        """Let the connections go, for good."""
        self.database.close()


def list_studies(connection: Connection) -> dict[str, int]:
    """Return the numbers of all studies by name."""
    # The head as well, so that the rows are read and not the index of names alone.
    rows = connection.execute("SELECT name, id, head FROM gbb_studies").fetchall()
    return {name: id for name, id, _ in rows if isinstance(name, str)}


def refuse_taken(names: Collection[str], name: str) -> None:
    """Refuse a name that another study has."""
    if name in names:
        cure = "Open it, or give another name."
        raise checks.input_error("name", "be new", f"{name!r}, which is there already", cure)


def insert_study(connection: Connection, name: str, log: Iterable[Event]) -> int:
    """Add a study with its events, of which there is at least one, and return its number."""
    refuse_taken(list_studies(connection), name)
    sql = "INSERT INTO gbb_studies (name, head, seal) VALUES (?, 0, 0) RETURNING id"
    number = int(connection.execute(sql, (name,)).fetchall()[0][0])
    study, rest = Study(connection, number, name), iter(log)
    while batch := list(itertools.islice(rest, FETCH)):
        study.append(batch)
    return number


def delete_study(connection: Connection, study: int) -> None:
    """Remove a study with all that it has."""
    for table in ("gbb_snapshots", "gbb_responses", "gbb_events"):
        connection.execute(f"DELETE FROM {table} WHERE study = ?", (study,))
    connection.execute("DELETE FROM gbb_studies WHERE id = ?", (study,))


def seal_row(study: int, name: str, head: int, seal: int) -> int:
    """Return the checksum of a study's row whose log ends with event ``head``, which has ``seal``."""
    return zlib.crc32(f"{study} {head} {seal} {name}".encode())


class Head(NamedTuple):
    """Where a log ends: its last event's number, and the checksum of the study's row."""

    seq: int
    seal: int


class Study(NamedTuple):
    """A study's log, snapshot and responses within one transaction.

    Attributes
    ----------
    connection
        The transaction.
    id, name
        The study's number and name.
    """

    connection: Connection
    id: int
    name: str

    def head(self) -> Head:
        """Return where the study's row says that its log ends."""
        sql = "SELECT name, head, seal FROM gbb_studies WHERE id = ?"
        row = self.connection.execute(sql, (self.id,)).fetchone()
        if row is None:
            raise StorageError(
                f"The controller {self.name!r} is not there any more: it was deleted, or its row is "
                "lost. Nothing was changed."
            )
        name, head = row[0], Head(*row[1:])
        if not isinstance(name, str) or not all(isinstance(each, int) for each in head):
            raise damaged(f"the row of {self.name!r} is not what was written")
        if name != self.name:
            # A name that fits the checksum was written by a rename, any other by nobody.
            if head.seal == seal_row(self.id, name, head.seq, self._seal_of(head.seq)):
                raise StorageError(
                    f"The controller {self.name!r} is called {name!r} now. Nothing was changed; open "
                    "it under that name."
                )
            raise damaged(f"the row of {self.name!r} is not what was written")
        return head

    def events(self, *, after: int = 0, seal: int = 0) -> Iterator[Event]:
        """Iterate over the events after number ``after``, which has ``seal``; each is checked, and all.

        The log may go on beyond its head, as others write meanwhile, but it may not end before.
        """
        head = self.head()
        if head.seq < after and self.event(after).seal != seal:
            raise damaged(f"event {after} is not what it was")
        if head.seq <= after:
            self._check_head(head, seal if head.seq == after else self._seal_of(head.seq))
        if head.seq == after:
            return
        sql = f"SELECT {COLUMNS} FROM gbb_events WHERE study = ? AND seq > ? ORDER BY seq LIMIT ?"
        limit = 4  # nobody knows yet how large they are
        while True:
            rows = self.connection.execute(sql, (self.id, after, limit)).fetchall()
            size = 1
            for row in rows:
                event = Event(*row).check(after, seal)
                after, seal, size = event.seq, event.seal, max(size, event.size)
                if after == head.seq:
                    self._check_head(head, seal)
                yield event
            if len(rows) < limit:
                break
            limit = max(4, min(FETCH, 4 * limit, FETCH_BYTES // size))
        if after < head.seq:
            raise damaged(f"it ends with event {after}, but event {head.seq} was written")

    def _check_head(self, head: Head, seal: int) -> None:
        """Refuse a row that does not belong to the event with ``seal``."""
        if head.seal != seal_row(self.id, self.name, head.seq, seal):
            raise damaged(f"its end at event {head.seq}, or its name, is not what was written")

    def _seal_of(self, seq: int) -> int:
        return self.event(seq).seal if seq > 0 else 0

    def event(self, seq: int) -> Event:
        """Return one event, checked against the seal of the one before it."""
        sql = f"SELECT {COLUMNS} FROM gbb_events WHERE study = ? AND seq IN (?, ?) ORDER BY seq"
        rows = self.connection.execute(sql, (self.id, seq - 1, seq)).fetchall()
        found = [Event(*row) for row in rows]
        if [event.seq for event in found] != list(range(max(1, seq - 1), seq + 1)):
            raise damaged(f"event {seq} or the one before it is missing")
        return found[-1].check(seq - 1, found[0].seal if seq > 1 else 0)

    def events_of(self, *trials: int) -> list[Event]:
        """Return all events of some trials, in order, each checked."""
        found: list[Event] = []
        for start in range(0, len(trials), FETCH):
            some = trials[start : start + FETCH]
            found += self._select(f"trial IN ({_marks(some)}) ORDER BY trial, seq", some)
        return sorted(found, key=lambda event: event.seq)

    def events_of_kind(self, kind: str) -> list[Event]:
        """Return the events of a kind, in order, each checked."""
        return self._select("kind = ? ORDER BY seq", (kind,))

    def page(
        self,
        limit: int,
        *,
        kinds: Iterable[str] | None = None,
        after: int | None = None,
        before: int | None = None,
    ) -> list[Event]:
        """Return at most so many events, of some kinds or all, in order, each checked.

        The last of them, ``before`` one if that is given; or, with ``after``, the first after one.
        """
        kinds = None if kinds is None else list(kinds)
        of_kind = "" if kinds is None else f"kind IN ({_marks(kinds)}) AND "
        order = "" if after is not None else " DESC"
        ends = (after or 0, before or self.head().seq + 1)
        where = f"{of_kind}seq > ? AND seq < ? ORDER BY seq{order} LIMIT ?"
        found = self._select(where, (*(kinds or ()), *ends, limit))
        return found if after is not None else found[::-1]

    def _select(self, where: str, values: Sequence[Any]) -> list[Event]:
        """Return the events that a condition chooses, each checked against the one before it."""
        sql = f"SELECT {COLUMNS} FROM gbb_events WHERE study = ? AND {where}"
        found = [Event(*row) for row in self.connection.execute(sql, (self.id, *values)).fetchall()]
        if not all(type(event.seq) is int for event in found):  # a damaged table may hold anything
            raise damaged("an event has no number")
        seals = {0: 0}
        for start in range(0, len(found), FETCH):
            places = [event.seq - 1 for event in found[start : start + FETCH]]
            sql = f"SELECT seq, seal FROM gbb_events WHERE study = ? AND seq IN ({_marks(places)})"
            seals |= dict(self.connection.execute(sql, (self.id, *places)).fetchall())
        return [event.check(event.seq - 1, seals.get(event.seq - 1, -1)) for event in found]

    def append(self, new: Sequence[Event]) -> None:
        """Write events at the end of the log."""
        sql = f"INSERT INTO gbb_events (study, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        rows = [(self.id, *_ROW(event)) for event in new]
        if len(rows) == 1:
            self.connection.execute(
                sql, rows[0]
            )  # psycopg sends many rows without waiting for errors
        else:
            self.connection.executemany(sql, rows)
        self._write_row(new[-1].seq, new[-1].seal)

    def rename(self, name: str, seq: int, seal: int) -> Study:
        """Give the study a name that no other has; its log ends with event ``seq`` and its ``seal``."""
        refuse_taken(list_studies(self.connection), name)
        renamed = self._replace(name=name)
        renamed._write_row(seq, seal)
        return renamed

    def _write_row(self, head: int, seal: int) -> None:
        sql = "UPDATE gbb_studies SET name = ?, head = ?, seal = ? WHERE id = ?"
        row = seal_row(self.id, self.name, head, seal)
        self.connection.execute(sql, (self.name, head, row, self.id))

    def snapshot(self) -> bytes | None:
        """Return the latest snapshot, if there is one."""
        sql = "SELECT content FROM gbb_snapshots WHERE study = ?"
        row = self.connection.execute(sql, (self.id,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def keep_snapshot(self, seq: int, content: bytes) -> None:
        """Put a snapshot in place of the one before."""
        self.connection.execute("DELETE FROM gbb_snapshots WHERE study = ?", (self.id,))
        sql = "INSERT INTO gbb_snapshots (study, seq, content) VALUES (?, ?, ?)"
        self.connection.execute(sql, (self.id, seq, content))

    def response(self, request: KeyedRequest) -> dict[str, Any] | None:
        """Return the response to the same request, if it came before."""
        sql = (
            "SELECT request, response FROM gbb_responses WHERE study = ? AND caller = ? AND key = ?"
        )
        place = (self.id, request.by, request.key)
        row = self.connection.execute(sql, place).fetchone()
        if row is None:
            return None
        if row[0] != request.digest:
            raise KeyReusedError(
                f"The key {request.key!r} was used for another request. Nothing was changed; take a "
                "new key."
            )
        response: dict[str, Any] = json.loads(row[1])
        return response

    def keep_response(self, request: KeyedRequest, response: dict[str, Any]) -> None:
        """Keep the response to a request; now and then let go of those that are too old."""
        now = time.time()
        if zlib.crc32(request.key.encode()) % CLEANUP_PERIOD == 0:
            sql = "DELETE FROM gbb_responses WHERE study = ? AND time < ?"
            self.connection.execute(sql, (self.id, now - KEPT))
        sql = "INSERT INTO gbb_responses VALUES (?, ?, ?, ?, ?, ?)"
        row = (self.id, request.by, request.key, now, request.digest, json.dumps(response))
        self.connection.execute(sql, row)


def _marks(values: Collection[Any]) -> str:
    return ", ".join("?" * len(values))


class KeyReusedError(InputError):
    """A key was used before, for a request that says something else."""


class KeyedRequest(NamedTuple):
    """A request that is to be done once, however often it comes.

    Attributes
    ----------
    by
        Who makes it; everybody has keys of their own.
    key
        Says that it is the same request.
    body
        The request itself.
    """

    by: str
    key: str
    body: bytes

    @classmethod
    def of(cls, by: str | None, key: str, body: bytes) -> KeyedRequest:
        """Return the request, whose key must be plain text."""
        if not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
            rule = f"be 1 to {MAX_KEY} printable ASCII characters"
            raise checks.input_error("key", rule, ascii(key))
        return cls(by or "", key, body)

    @property
    def digest(self) -> str:
        """What stands for the body."""
        return hashlib.sha256(self.body).hexdigest()
