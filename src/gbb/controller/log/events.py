"""Events: what the log holds, each sealed with a checksum of all that stands before it."""

from __future__ import annotations

import errno
import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from gbb.controller.log import codec

Content = dict[str, Any]

RESTORE = "Nothing was changed; restore the storage from a copy."


class StorageError(OSError):
    """The log cannot be read or written; what was acknowledged before is untouched."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EIO, text)

    def __str__(self) -> str:
        return str(self.strerror)


@dataclass(frozen=True, eq=False)
class Event:
    """An event as the table holds it.

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
    text
        The content, as JSON.
    data
        Bulky arrays as bytes.
    seal
        Checksum of this event and all before it.
    """

    seq: int
    kind: str
    trial: int | None
    time: float
    text: str
    data: bytes
    seal: int

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return len(self.text) + len(self.data)

    @cached_property
    def content(self) -> Content:
        """What happened in particular."""
        return {key: value for key, value in self._decoded.items() if key != "by"}

    @property
    def by(self) -> str | None:
        """The caller who wrote it, where a service names one."""
        name = self._decoded.get("by")
        return None if name is None else str(name)

    @cached_property
    def _decoded(self) -> Content:
        try:
            return cast(Content, {**codec.loads(self.text)})
        except (ValueError, LookupError, TypeError, RecursionError):
            raise damaged(f"event {self.seq} has no content that can be read") from None

    def check(self, after: int, before: int) -> Event:
        """Return the event, which must follow event ``after``, whose seal is ``before``."""
        # A damaged table may hold anything, and checksums are of bytes only.
        is_bytes = isinstance(self.data, bytes)
        if self.seq != after + 1 or not is_bytes or self.seal != _checksum(self, before):
            raise damaged(f"event {after + 1} is missing or is not what was written")
        return self


def seal(event: Event, before: int) -> Event:
    """Return the event with its seal; the one before it has the seal ``before``."""
    return replace(event, seal=_checksum(event, before))


def _checksum(event: Event, before: int) -> int:
    # The time by its repr: the database must give back every bit of the double.
    head = f"{before} {event.seq} {event.kind} {event.trial} {event.time!r} {event.text}"
    return zlib.crc32(event.data, zlib.crc32(head.encode("utf-8")))


def damaged(how: str) -> StorageError:
    """Return the error for a log that is not what was written."""
    return StorageError(f"The log is damaged: {how}. {RESTORE}")
