"""Databases behind a URL: how each is opened, made durable and locked for writing."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.storage.errors import StorageError

WAIT = 120
"""Seconds to wait for another process's transaction."""

IDLE = 600
"""Seconds after which PostgreSQL ends a transaction that stands still, and with it its lock."""

ISOLATION = "READ COMMITTED"
"""A writer that has waited for its lock must see what the one before it wrote."""

CHECKPOINT = 64
"""Pages in SQLite's write-ahead file after which they move to the database: about ten rounds' worth.

Until then it is the only place that has them.
"""

SCHEME = re.compile(r"[\w+]+:/*")
SECRET = re.compile(r"(password=)[^&]*", re.IGNORECASE)

CURE = "Write sqlite:///file.db or postgresql://user@host/database."
POSTGRES = "Install PostgreSQL's driver with: pip install 'graphical-bilinear-bandits[postgres]'."


def parse(url: str | sa.URL) -> sa.URL:
    """The URL, checked, with the driver that we use."""
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        raise checks.input_error(
            "url", "be a database URL", repr(_hide_secrets(str(url))), CURE
        ) from None
    name = parsed.get_backend_name()
    if name not in ("sqlite", "postgresql"):
        raise checks.input_error("url", "start with sqlite: or postgresql:", repr(name), CURE)
    if name == "sqlite" and (parsed.database in (None, "", ":memory:") or parsed.query):
        rule = "name a file, with no options"  # uri=true makes a file's name say anything
        raise checks.input_error("url", rule, repr(_hide_secrets(str(url))), CURE)
    return parsed.set(drivername="sqlite" if name == "sqlite" else "postgresql+psycopg")


def hide_password(url: sa.URL) -> str:
    """The URL without its password, wherever it has it."""
    query = {key: "hidden" if "password" in key else value for key, value in url.query.items()}
    return url.set(query=query).render_as_string(hide_password=True)


def _hide_secrets(url: str) -> str:
    """What is no URL, without what might be a password in it."""
    start = SCHEME.match(str(url))
    before, at, after = str(url).rpartition("@")
    hidden = f"{start[0] if start else ''}***@{after}" if at else before + after
    return SECRET.sub(r"\1***", hidden)


def connect(url: sa.URL) -> sa.Engine:
    """An engine whose transactions survive a crash once they are committed."""
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": WAIT})
        sa.event.listen(engine, "connect", _sqlite_connect)
        sa.event.listen(engine, "begin", _sqlite_begin)
        return engine
    try:
        engine = sa.create_engine(url, pool_pre_ping=True, isolation_level=ISOLATION)
    except ImportError:
        raise InputError(f"PostgreSQL needs the package psycopg. {POSTGRES}") from None
    sa.event.listen(engine, "connect", _postgres_connect)
    return engine


def prepare(engine: sa.Engine) -> None:
    """Settings that a new SQLite file keeps: a log ahead of writing, so that readers never wait."""
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()


@contextmanager
def explain_errors(url: sa.URL) -> Iterator[None]:
    """Turn what the database says into one line."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, UnicodeDecodeError) as error:
        # SQLite's own messages may quote bytes of a damaged file that are no text.
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = " ".join(str(cause).split()) or type(cause).__name__
        text = f"Cannot use {hide_password(url)!r}: {reason.rstrip('.')}.{_advice(cause)}"
        raise StorageError(text) from None


def _advice(error: BaseException | None) -> str:
    if "decode" in str(error):  # what SQLite has for text is none
        return " The file is damaged: restore it from a copy."
    code = getattr(error, "sqlite_errorname", "") or getattr(error, "sqlstate", "") or ""
    advice = {
        "55P03": f"Another process has held it for over {WAIT} s; nothing was changed, try again.",
        "25P03": f"This call stood still for over {IDLE} s; nothing of it was kept.",
        "SQLITE_FULL": "The disk is full: make room and try again.",
        "SQLITE_IOERR": "The disk may be full or failing; what was acknowledged is kept.",
        "SQLITE_CORRUPT": "The file is damaged or cut short: restore it from a copy.",
        "SQLITE_NOTADB": "The file is damaged, or is something else: give one of gbb, or a new one.",
        "SQLITE_BUSY": f"Another process has held it for over {WAIT} s.",
        "SQLITE_CANTOPEN": "Look at its folder and permissions.",
        "SQLITE_READONLY": "Look at its folder and permissions.",
    }
    found = next((text for name, text in advice.items() if code.startswith(name)), "")
    return f" {found}" if found else ""


def _sqlite_connect(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where _sqlite_begin says
    connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
    connection.execute("PRAGMA cell_size_check = ON")


def _sqlite_begin(connection: sa.Connection) -> None:
    # On the driver's own connection: every turn begins here, and SQLAlchemy takes ten times as long.
    file = connection.connection.driver_connection
    assert isinstance(file, sqlite3.Connection)
    if not connection.get_execution_options().get("writes", False):
        file.execute("BEGIN")
        return
    # SQLite's own waiting backs off to 100 ms, which leaves the file idle while many wait for it.
    deadline = time.monotonic() + WAIT
    file.execute("PRAGMA busy_timeout = 3")
    while True:
        try:
            file.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            busy = str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY")
            if not busy or time.monotonic() > deadline:
                raise
    file.execute(f"PRAGMA busy_timeout = {1000 * WAIT}")


def _postgres_connect(connection: Any, _record: Any) -> None:
    """Settings of our sessions, whatever the server's, the database's or the role's are."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")  # a commit returns when the disk has it
        cursor.execute("SET default_transaction_read_only = off")
        cursor.execute("SET statement_timeout = 0")  # WAIT and IDLE are the limits
        cursor.execute(f"SET lock_timeout = '{WAIT}s'")
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{IDLE}s'")
    connection.commit()
