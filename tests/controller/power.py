"""A disk that loses power: what SQLite wrote since it last waited for the disk may be gone, or in part.

SQLite reaches its files through a table of functions. Here that table is one of ours, which hands every
call on and keeps a list of the writes, and of when they had to be on the disk.
"""

from __future__ import annotations

import _sqlite3
import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SECTOR = 512
"""What a disk writes all or nothing of."""

Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)  # SQLite keeps the name
Delete = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
Sync = CFUNCTYPE(c_int, c_void_p, c_int)


class Vfs(ctypes.Structure):
    """SQLite's ``sqlite3_vfs``, as far as it is needed."""

    _fields_ = [
        ("version", c_int),
        ("size", c_int),
        ("longest", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", Open),
        ("delete", Delete),
    ]


class Methods(ctypes.Structure):
    """SQLite's ``sqlite3_io_methods``."""

    _fields_ = [
        ("version", c_int),
        ("close", c_void_p),
        ("read", c_void_p),
        ("write", Write),
        ("truncate", Truncate),
        ("sync", Sync),
        ("rest", c_void_p * 13),
    ]


class Step(NamedTuple):
    """One thing that happened: a write, truncation, sync or removal of a file, or what was heard."""

    kind: str
    file: str = ""
    place: int = 0
    data: bytes = b""


class Disk:
    """Everything that SQLite does to the files of one folder, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.steps = folder, list[Step]()
        self._names: dict[int, str] = {}  # by address of the open file
        self._kept: list[Any] = []  # what C points to
        self._own: dict[int, Any] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Keep a list of the steps until the block ends."""
        library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        library.sqlite3_vfs_find.restype = POINTER(Vfs)
        vfs = library.sqlite3_vfs_find(None).contents
        # Copies of the addresses: the fields themselves are about to change.
        before = [ctypes.cast(each, c_void_p).value for each in (vfs.open, vfs.delete)]
        was_open, was_delete = Open(before[0]), Delete(before[1])

        def opened(owner: int, name: int | None, file: int, flags: int, out: int) -> int:
            answer = int(was_open(owner, name, file, flags, out))
            path = Path(ctypes.string_at(name).decode()) if name else None
            if answer == 0 and path is not None and path.parent == self.folder:
                self._names[file] = path.name
                slot = ctypes.cast(file, POINTER(c_void_p))
                slot[0] = self._wrap(slot[0])
            return answer

        def deleted(owner: int, name: bytes, sync: int) -> int:
            answer = int(was_delete(owner, name, sync))
            if answer == 0 and Path(name.decode()).parent == self.folder:
                self.steps.append(Step("delete", Path(name.decode()).name))
            return answer

        vfs.open, vfs.delete = Open(opened), Delete(deleted)
        self._kept += [vfs.open, vfs.delete]
        try:
            yield
        finally:
            vfs.open, vfs.delete = was_open, was_delete
            self._kept += [was_open, was_delete]

    def _wrap(self, address: int) -> int:
        """The functions of an open file, of which three are ours."""
        if address not in self._own:
            old = ctypes.cast(address, POINTER(Methods)).contents
            new = Methods.from_buffer_copy(old)
            new.write = Write(self._then(old.write, self._write))
            new.truncate = Truncate(self._then(old.truncate, self._truncate))
            new.sync = Sync(self._then(old.sync, self._sync))
            self._own[address] = new
            self._kept += [old, new.write, new.truncate, new.sync]
        return ctypes.addressof(self._own[address])

    def _then(self, function: Any, note: Callable[..., None]) -> Callable[..., int]:
        def call(file: int, *rest: Any) -> int:
            answer = int(function(file, *rest))
            if answer == 0:
                note(self._names[file], *rest)
            return answer

        return call

    def _write(self, file: str, data: int, size: int, place: int) -> None:
        self.steps.append(Step("write", file, place, ctypes.string_at(data, size)))

    def _truncate(self, file: str, size: int) -> None:
        self.steps.append(Step("truncate", file, size))

    def _sync(self, file: str, _flags: int) -> None:
        self.steps.append(Step("sync", file))

    def hear(self, what: str) -> None:
        """Note that a caller heard of something."""
        self.steps.append(Step("heard", what))

    def after_a_cut(self, place: int, rng: np.random.Generator) -> dict[str, bytes]:
        """The files that are there when the power goes before step ``place``.

        What was written since the last sync of its file is there, is not there, or is there in part.
        The folder is synced with the first sync of a new file, as SQLite does it; until then it may
        still list what was removed.
        """
        kept: dict[str, bytearray] = {}
        removed: dict[str, bytearray] = {}
        waiting: dict[str, list[Step]] = {}
        for step in self.steps[:place]:
            if step.kind == "sync":
                if step.file not in kept:
                    removed.clear()
                for each in waiting.pop(step.file, []):
                    apply(kept, each)
            elif step.kind == "delete":
                waiting.pop(step.file, None)
                if step.file in kept:
                    removed[step.file] = kept.pop(step.file)
            elif step.kind != "heard":
                waiting.setdefault(step.file, []).append(step)
        kept |= {file: data for file, data in removed.items() if rng.random() < 0.5}
        luck = rng.choice([0.0, 0.5, 1.0])
        for steps in waiting.values():
            for each in steps:
                if rng.random() < luck:
                    apply(kept, tear(each, rng))
        return {file: bytes(data) for file, data in kept.items()}


def apply(files: dict[str, bytearray], step: Step) -> None:
    """Do to the files on disk what a step says."""
    data = files.setdefault(step.file, bytearray())
    if step.kind == "truncate":
        del data[step.place :]
        return
    data.extend(bytes(max(0, step.place - len(data))))
    data[step.place : step.place + len(step.data)] = step.data


def tear(step: Step, rng: np.random.Generator) -> Step:
    """Some writes reach the disk in part."""
    sectors = len(step.data) // SECTOR
    if step.kind != "write" or sectors < 2 or rng.random() < 0.5:
        return step
    return step._replace(data=step.data[: SECTOR * int(rng.integers(1, sectors))])
