"""Events: what the log holds, each sealed with a checksum of all that stands before it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

from gbb.controller.storage import codec
from gbb.controller.storage.errors import CURE, StorageError

Content = dict[str, Any]


class Draft(NamedTuple):
    """An event before it has its place in the log."""

    kind: str
    content: Content
    trial: int | None = None
    data: bytes = b""


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
        What happened in particular, as JSON.
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
        return {key: value for key, value in self._said.items() if key != "by"}

    @property
    def by(self) -> str | None:
        """Who wrote it, where somebody said so."""
        name = self._said.get("by")
        return None if name is None else str(name)

    @cached_property
    def _said(self) -> Content:
        try:
            return cast(Content, {**codec.loads(self.text)})
        except (ValueError, LookupError, TypeError, RecursionError):
            raise damaged(f"event {self.seq} has no content that can be read") from None


def seal_draft(draft: Draft, *, seq: int, time: float, before: int, by: str | None = None) -> Event:
    """The event of ``draft`` that follows one with the seal ``before``, written ``by`` somebody."""
    text = codec.dumps(draft.content if by is None else {**draft.content, "by": by})
    event = Event(seq, draft.kind, draft.trial, time, text, draft.data, 0)
    return replace(event, seal=_seal(event, before))


def check_event(event: Event, *, after: int, before: int) -> Event:
    """``event``, which must follow event ``after``, whose seal is ``before``."""
    bytes_kept = isinstance(event.data, bytes)  # a damaged table may hold anything
    if event.seq != after + 1 or not bytes_kept or event.seal != _seal(event, before):
        raise damaged(f"event {after + 1} is missing or is not what was written")
    return event


def damaged(how: str) -> StorageError:
    """The error for a log that is not what was written, to be raised by the caller."""
    return StorageError(f"The log is damaged: {how}. {CURE}")


def _seal(event: Event, before: int) -> int:
    head = f"{before} {event.seq} {event.kind} {event.trial} {event.time!r} {event.text}"
    return zlib.crc32(event.data, zlib.crc32(head.encode("utf-8")))
