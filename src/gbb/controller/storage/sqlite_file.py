"""The file of an SQLite database: whole, made by gbb, and still the one that was opened."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from gbb.controller.storage.errors import StorageError

MAGIC = b"SQLite format 3\0"
TRIES = 3

OURS = "gbb_"
INDEXES = ("gbb_events_by_trial", "gbb_requests_by_time", "sqlite_autoindex_gbb_")
STRANGE = re.compile(r"\b(virtual|generated|as|check|conflict|references)\b", re.IGNORECASE)
"""What the tables that gbb makes never say: each may run or drop what a stranger wants."""

Identity = tuple[int, int] | None


def find_path(url: sa.URL) -> Path | None:
    """The file of an SQLite URL."""
    if url.get_backend_name() != "sqlite" or url.database is None:
        return None
    return Path(url.database)


def is_cut_short(path: Path) -> bool:
    """Whether an SQLite file ends before the last page that its header counts.

    SQLite itself notices a missing page, but only when it reads it, and not a last page cut in half.
    A write-ahead log that holds something may complete the file, and a file that another process is
    just growing is looked at again. An empty file is none that was cut: it holds nothing yet.
    """
    for _ in range(TRIES):
        waiting = _wal_of(path)
        with path.open("rb") as file:
            head = file.read(100)
        size = path.stat().st_size
        page = int.from_bytes(head[16:18], "big")
        page = 65536 if page == 1 else page
        pages = int.from_bytes(head[28:32], "big")
        whole = len(head) == 100 and size >= page * pages
        if not head or whole or not MAGIC.startswith(head[: len(MAGIC)]):
            return False
        if waiting.exists() and waiting.stat().st_size:
            return False
        time.sleep(0.05)
    return True


def check_tables(connection: sa.Connection) -> None:
    """Refuse tables that are more than tables, as a file from a stranger may have.

    A view or a generated column may never end, a trigger may write what it likes.
    """
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    for kind, name, table, sql in connection.exec_driver_sql(query):
        if not str(name).startswith(OURS) and not str(table).startswith(OURS):
            continue
        plain = kind == "table" and not STRANGE.search(str(sql))
        if not plain and not (kind == "index" and str(name).startswith(INDEXES)):
            raise StorageError(
                f"This storage was not made by gbb: {name!r} is no plain table of it. Nothing was "
                "changed; restore it from a copy."
            )


_opened: Counter[Identity] = Counter()
_gate = threading.RLock()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Within it, no other thread of this process opens an SQLite file."""
    with _gate:
        yield


def hold(path: Path) -> Identity:
    """Say that this process has connections to a file, until :func:`release`."""
    with _gate:
        identity = _identify(str(path))
        _opened[identity] += 1
        return identity


def release(identity: Identity) -> None:
    """The connections are closed."""
    with _gate:
        _opened[identity] -= 1
        if _opened[identity] <= 0:
            del _opened[identity]


def is_held(path: Path) -> bool:
    """Whether this process has connections to a file.

    Nobody else may open it then: closing it again, whoever does so, takes SQLite's locks off it, as
    POSIX has it, and another process would take its write-ahead file away.
    """
    return _opened[_identify(str(path))] > 0


class Watch:
    """Notices that a file was deleted or replaced while connections to it are open.

    They would go on reading and writing what nobody will find again.
    """

    def __init__(self, path: Path) -> None:
        self._path = str(path.absolute())  # wherever the process goes
        self._wal = str(_wal_of(path.absolute()))
        self._file = _identify(self._path)

    def check(self, connection: sa.Connection | None = None) -> None:
        """Refuse to go on with another file than the one that was opened.

        With a ``connection`` that writes, its write-ahead file must be there as well.
        """
        gone = self._path if _identify(self._path) != self._file else None
        if connection is not None:
            now = _identify(self._wal)
            if connection.info.setdefault("wal", now) not in (None, now):
                gone = gone or self._wal
        if gone is not None:
            raise StorageError(
                f"The file {gone!r} was deleted or replaced while it was open: what this call "
                "says is not kept. Put the file back or restore it from a copy, then open it again."
            )


def _wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _identify(path: str) -> Identity:
    try:
        found = os.stat(path)  # noqa: PTH116  (several times in every call)
    except OSError:
        return None
    return found.st_dev, found.st_ino
