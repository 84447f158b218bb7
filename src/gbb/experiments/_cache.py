"""Finished parts of a run, kept on disk so that a restart does not compute them again."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import gbb
from gbb._support import checks, files
from gbb.experiments._study import Settings, Where, to_json

if sys.platform != "win32":
    import fcntl


@cache
def source_digest() -> str:
    """A digest of the package's source: changed code does not meet parts computed by the old."""
    digest = hashlib.sha256(gbb.__version__.encode())
    root = Path(gbb.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class ResultStore:
    """The parts of the experiments written to one directory.

    A part's name holds a digest of the settings, the seed and the program's version and source. Files
    are written under a temporary name and renamed, so a part is there whole or not at all; one that
    is not what was written is computed again.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.parts = self.directory / "parts"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory for this run; sweep away what killed runs left behind."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if sys.platform == "win32":  # no such lock: runs into one directory are not kept apart
            yield
            return
        with (self.directory / ".lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                busy = f"Another run is writing to {str(self.directory)!r}."
                raise checks.conflict(f"{busy} Wait for it, or choose another `out`.") from None
            for place in (self.directory, self.parts):
                files.sweep(place)
            yield

    def places(self, experiment: str, settings: Settings, seed: int) -> Where:
        """Where the parts of one experiment with these settings and seed are kept."""
        text = "\n".join([experiment, to_json(settings), str(seed), source_digest()])
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        return lambda part: self.parts / f"{experiment}-{key}-{part}.nc"
