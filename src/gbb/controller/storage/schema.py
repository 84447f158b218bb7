"""The tables, their version, and how an older version becomes this one."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import sqlalchemy as sa

from gbb.controller.storage.errors import CURE, StorageError

VERSION = 4
"""The version of the tables, and of what their events say, that this program writes.

2: graphs may have the types and weights of their edges, problems a feedback and allowed arms, attached
rounds a key. A program of version 1 would not see them and choose otherwise.
3: a study's row says where its log ends, the storage how many studies it has, a first event its name.
4: events may say who wrote them and graphs where agents stand; answers to requests are kept.
"""

metadata = sa.MetaData()

about = sa.Table(
    "gbb_about",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.String(256), nullable=False),
)

studies = sa.Table(
    "gbb_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("head", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("seal", sa.BigInteger, nullable=False, server_default="0"),
)
"""``head`` is the last event's number and ``seal`` a checksum of the row and of that event's seal."""

events = sa.Table(
    "gbb_events",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("trial", sa.BigInteger),
    sa.Column("time", sa.Double, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("seal", sa.BigInteger, nullable=False),
    sa.Index("gbb_events_by_trial", "study", "trial"),
)

requests = sa.Table(
    "gbb_requests",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("by", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("time", sa.Double, nullable=False),
    sa.Column("body", sa.String(64), nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Index("gbb_requests_by_time", "study", "time"),
)
"""What was answered to requests that have a key, so that the same request is answered the same."""

snapshots = sa.Table(
    "gbb_snapshots",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
)


def version_of(connection: sa.Connection) -> int | None:
    """The version of the tables there, or None when there are none."""
    if not sa.inspect(connection).has_table(about.name):
        return None
    found = connection.execute(sa.select(about.c.value).where(about.c.key == "version")).scalar()
    if found is None:
        return None
    if not str(found).isdecimal() or int(found) < 1:
        raise StorageError(f"This storage is damaged: its version is {found!r}. {CURE}")
    return int(found)


def check(version: int) -> None:
    """Refuse tables from a newer program."""
    if version > VERSION:
        raise StorageError(
            f"This storage has version {version} and was written by a newer gbb; this one reads "
            f"versions up to {VERSION}. Install a newer gbb."
        )


def upgrade(connection: sa.Connection) -> None:
    """Make the tables where there are none, and bring older ones to this version."""
    version = version_of(connection)
    if version is None:
        metadata.create_all(connection)
        write_about(connection, "studies", 0)
        write_about(connection, "version", VERSION)
        return
    check(version)
    for old in range(version, VERSION):
        MIGRATIONS[old](connection)
    write_about(connection, "version", VERSION)


def write_about(connection: sa.Connection, key: str, value: int) -> None:
    """Say something of the whole storage."""
    connection.execute(sa.delete(about).where(about.c.key == key))
    connection.execute(sa.insert(about).values(key=key, value=str(value)))


def seal_head(study: int, name: str, head: int, seal: int) -> int:
    """The checksum of a study's row whose log ends with event ``head``, which has ``seal``."""
    return zlib.crc32(f"{study} {head} {seal} {name}".encode())


def _same_tables(_connection: sa.Connection) -> None:
    """Only what events may say has grown: what was written stays as it is."""


def _add_heads(connection: sa.Connection) -> None:
    """Write down where the logs end and how many there are."""
    for column in ("head", "seal"):
        connection.execute(
            sa.text(f"ALTER TABLE gbb_studies ADD COLUMN {column} BIGINT NOT NULL DEFAULT 0")
        )
    known = connection.execute(sa.select(studies.c.id, studies.c.name)).all()
    last = sa.select(events.c.seq, events.c.seal).order_by(events.c.seq.desc()).limit(1)
    for id, name in known:
        head, seal = connection.execute(last.where(events.c.study == id)).first() or (0, 0)
        row = {"head": head, "seal": seal_head(id, name, head, seal)}
        connection.execute(sa.update(studies).where(studies.c.id == id).values(row))
    write_about(connection, "studies", len(known))


def _add_requests(connection: sa.Connection) -> None:
    """Make room for the answers to requests."""
    requests.create(connection)


MIGRATIONS: dict[int, Callable[[sa.Connection], None]] = {
    1: _same_tables,
    2: _add_heads,
    3: _add_requests,
}
"""``MIGRATIONS[v](connection)`` turns the tables of version v into those of version v + 1."""
