"""Output paths are tried before a long simulation starts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gbb import _checks
from gbb._checks import InputError


def check_output(name: str, path: Path | None, suffixes: Sequence[str]) -> None:
    """Refuse a path that could not be written in the end; leaves nothing behind."""
    if path is None:
        return
    if path.is_dir():
        raise _checks.fail(name, "name a file", f"the directory {str(path)!r}")
    if path.suffix.lower() not in suffixes:
        raise _checks.fail(name, f"end in {' or '.join(suffixes)}", repr(str(path)))
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"Cannot write `{name}` {str(path)!r}: Permission denied.")
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"Cannot write `{name}` {str(path)!r}: {error.strerror}.") from None
