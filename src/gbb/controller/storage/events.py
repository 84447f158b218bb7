"""Events: what the log holds, each sealed with a checksum of all that stands before it."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

from gbb.controller.storage import codec
from gbb.controller.storage.errors import StorageError

Content = dict[str, Any]


class Draft(NamedTuple):
    """An event before it has its place in the log."""

    kind: str
    content: Content
    trial: int | None = None
    data: bytes = b""


class Row(NamedTuple):
    """An event as the table holds it."""

    seq: int
    kind: str
    trial: int | None
    time: float
    content: str
    data: bytes
    seal: int


class Event(NamedTuple):
    """An event as the fold reads it.

    Attributes
    ----------
    seq
        Its place in the log, counted from 1.
    kind
        What happened.
    trial
        The trial it is about, if any.
    time
        When it was written, in seconds since 1970 (UTC).
    content
        What happened in particular.
    data
        Bulky arrays as bytes.
    seal
        Checksum of this event and all before it.
    """

    seq: int
    kind: str
    trial: int | None
    time: float
    content: Content
    data: bytes
    seal: int


def make_row(draft: Draft, *, seq: int, time: float, before: int) -> Row:
    """The row of ``draft`` after an event with the seal ``before``."""
    text = codec.dumps(draft.content)
    row = Row(seq, draft.kind, draft.trial, time, text, draft.data, 0)
    return row._replace(seal=_seal(row, before))


def read_row(row: Row) -> Event:
    """The event of a row."""
    return Event(*row[:4], codec.loads(row.content), *row[5:])


def check_row(row: Row, *, after: int, before: int) -> Event:
    """The event of the row that must follow event ``after``, whose seal is ``before``."""
    if row.seq != after + 1 or row.seal != _seal(row, before):
        raise StorageError(
            f"The log is damaged: event {after + 1} is missing or is not what was written. "
            "Nothing was changed; restore the storage from a copy."
        )
    return read_row(row)


def _seal(row: Row, before: int) -> int:
    head = f"{before} {row.seq} {row.kind} {row.trial} {row.time!r} {row.content}"
    return zlib.crc32(row.data, zlib.crc32(head.encode("utf-8")))
