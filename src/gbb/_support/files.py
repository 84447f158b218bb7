"""Files appear whole or not at all: written in a hidden folder beside them, then renamed."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

HIDDEN = ".gbb-"
"""How the names of the hidden folders start."""


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path, ``path``'s name in a hidden folder; rename it when the block succeeds.

    What was written is on the disk when the block ends, its name too. A file that is replaced keeps
    its mode. A symbolic link is followed: what it leads to is replaced, and the link stays. What a
    killed process left in the same folder is swept away.
    """
    target = follow_link(path)
    new = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target.parent)
    with _hidden_folder(target.parent) as folder:
        temporary = folder / target.name
        temporary.touch()
        yield temporary
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        _sync(temporary)
        temporary.replace(target)
    for changed in (target.parent, *(folder.parent for folder in new)):
        _sync(changed)


def sweep(folder: Path) -> None:
    """Remove the hidden folders in ``folder`` whose writers are gone."""
    if sys.platform == "win32":  # no such lock: nobody can tell
        return
    for hidden in folder.glob(f"{HIDDEN}*"):
        with suppress(OSError):  # somebody else's, or swept by another process
            handle = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(hidden)
            finally:
                os.close(handle)


@contextmanager
def _hidden_folder(place: Path) -> Iterator[Path]:
    """A new folder in ``place``, locked as long as the block runs and removed with what it holds."""
    folder, lock = _make_hidden(place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _make_hidden(place: Path) -> tuple[Path, int | None]:
    """The folder and the open handle whose lock says that its writer lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=HIDDEN, dir=place))
        if sys.platform == "win32":
            return folder, None
        with suppress(FileNotFoundError):  # swept before it was locked
            lock = os.open(folder, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks: nothing is swept there
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and sys.platform == "win32":  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def follow_link(path: str | Path) -> Path:
    """``path``, or where it leads if it is a symbolic link."""
    return Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
