"""The tables, their version, and how an older version becomes this one."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from gbb.controller.storage.errors import StorageError

VERSION = 2
"""The version of the tables, and of what their events say, that this program writes.

2: graphs may have the types and weights of their edges, problems a feedback and allowed arms, attached
rounds a key. A program of version 1 would not see them and choose otherwise.
"""


def _same_tables(_connection: sa.Connection) -> None:
    """Only what events may say has grown: what was written stays as it is."""


MIGRATIONS: dict[int, Callable[[sa.Connection], None]] = {1: _same_tables}
"""``MIGRATIONS[v](connection)`` turns the tables of version v into those of version v + 1."""

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
)

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
    return None if found is None else int(found)


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
        connection.execute(sa.insert(about).values(key="version", value=str(VERSION)))
        return
    check(version)
    for old in range(version, VERSION):
        MIGRATIONS[old](connection)
    write = sa.update(about).where(about.c.key == "version").values(value=str(VERSION))
    connection.execute(write)
