"""Backups: controllers with all their events as lines of JSON, and a digest of it all.

The first line says what the file is. Each controller has a line with its name and the number of its
events, and then a line for each event, as the table holds it. The last line has the SHA-256 of all
lines before it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from gbb._support import checks
from gbb._support.checks import InputError
from gbb._support.files import atomic
from gbb.controller.log.events import Event
from gbb.controller.log.store import Store, Study, list_studies

VERSION = 1
"""The version of the lines that this program writes."""

TITLE = {"gbb": "backup", "version": VERSION}
TAIL = 200
"""The last line is shorter than this, in bytes."""


def write_backup(store: Store, path: str | Path, name: str | None = None) -> dict[str, int]:
    """Write one controller, or all, as they are at one moment; their names and numbers of events."""
    written = {}
    _refuse_other(Path(path))
    with store.database.read() as connection:
        known = list_studies(connection)
        wanted = sorted(known) if name is None else [checks.choice("name", name, known)]
        with atomic(path) as temporary, temporary.open("wb") as file:
            digest = hashlib.sha256()
            _write(file, digest, TITLE)
            for each in wanted:
                study = Study(connection, known[each], each)
                written[each] = study.head().seq
                _write(file, digest, {"controller": each, "events": written[each]})
                for event in study.events():
                    _write(file, digest, _encode(event))
            _write(file, hashlib.sha256(), {"sha256": digest.hexdigest()})
    return written


def _refuse_other(path: Path) -> None:
    """Refuse to write over what is no backup, a database above all."""
    try:
        with path.open("rb") as file:
            first = file.readline(TAIL)
    except OSError:  # there is none, or writing it will say what is wrong
        return
    title = _parse(first) if first else TITLE
    if title is None or title.get("gbb") != TITLE["gbb"]:
        rule = "be a new file, or a backup to write over"
        raise checks.input_error("path", rule, f"{str(path)!r}, which is something else")


def _write(file: BinaryIO, digest: Any, line: Mapping[str, Any]) -> None:
    data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    digest.update(data)
    file.write(data)


def _encode(event: Event) -> dict[str, Any]:
    plain = {field.name: getattr(event, field.name) for field in fields(event)}
    return {**plain, "data": base64.b64encode(event.data).decode("ascii")}


class Backup:
    """A backup that is whole.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._check()
        except OSError as error:
            raise self._wrong(error.strerror or type(error).__name__) from None

    def _check(self) -> None:
        """Refuse a file that is no backup, or not all of one."""
        with self.path.open("rb") as file:
            title = _parse(file.readline(TAIL))
            if title is None or title.get("gbb") != TITLE["gbb"]:
                raise self._wrong("it is no backup of gbb")
            if title.get("version") != VERSION:
                raise self._wrong(
                    f"it has version {title.get('version')!r} and this gbb reads {VERSION}; install "
                    "a newer gbb"
                )
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            last = file.read().splitlines(keepends=True)[-1]
            end = _parse(last)
            if end is None or "sha256" not in end or not last.endswith(b"\n"):
                raise self._wrong("it is cut short; take another copy")
            file.seek(0)
            digest, left = hashlib.sha256(), size - len(last)
            while left > 0 and (some := file.read(min(left, 1 << 20))):
                digest.update(some)
                left -= len(some)
        if digest.hexdigest() != end["sha256"]:
            raise self._wrong("it is damaged: its digest is another; take another copy")

    def _wrong(self, why: str) -> InputError:
        return InputError(f"Cannot read `path` {str(self.path)!r}: {why}.")

    def names(self) -> dict[str, int]:
        """The controllers in it, and how many events each has."""
        return {name: count for name, count, _ in self.controllers()}

    def controllers(self) -> Iterator[tuple[str, int, Iterator[Event]]]:
        """The name, the number of events and the events of each, to be read in transaction."""
        with self.path.open("rb") as file:
            file.readline()
            while True:
                head = _parse(file.readline()) or {}
                if "sha256" in head:
                    return
                name: Any = head.get("controller")
                count: Any = head.get("events")
                if not _is_name(name) or type(count) is not int or count < 1:
                    raise self._wrong("it has a line that is neither a controller nor its event")
                events = self._events(file, count)
                yield name, count, events
                for _ in events:  # what the caller did not read
                    pass

    def _events(self, file: BinaryIO, count: int) -> Iterator[Event]:
        """The events of one controller, each checked against the one before."""
        seal = 0
        for after in range(count):
            line = _parse(file.readline())
            try:
                event = Event(**{**(line or {}), "data": base64.b64decode((line or {})["data"])})
                checked = _check_types(event).check(after, seal)
            except (TypeError, LookupError, ValueError):
                raise self._wrong(f"event {after + 1} has no line that can be read") from None
            yield checked
            seal = event.seal


def _is_name(name: Any) -> bool:
    try:
        return isinstance(name, str) and bool(name.strip()) and bool(name.encode())
    except UnicodeEncodeError:
        return False


def _check_types(event: Event) -> Event:
    """Refuse what the table cannot hold."""
    whole = [event.seq, event.seal, 0 if event.trial is None else event.trial]
    if not all(type(each) is int and 0 <= each < 1 << 63 for each in whole):
        raise TypeError
    if not all(isinstance(each, str) for each in (event.kind, event.text)):
        raise TypeError
    if type(event.time) not in (int, float) or not 0.0 <= event.time < 1e11:
        raise TypeError
    return event


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
