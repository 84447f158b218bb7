"""A digest of a file's bytes at its own end, where readers of netCDF (HDF5) do not look."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

SEAL = re.compile(rb"\n#gbb sha256 ([0-9a-f]{64})\n")
LENGTH = 78


def seal(path: Path) -> None:
    """Append the digest of all bytes of the file."""
    digest = _digest(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(b"\n#gbb sha256 %b\n" % digest.encode())


def is_intact(path: Path) -> bool | None:
    """Whether the bytes are those that were sealed; None where there is no seal."""
    length = path.stat().st_size - LENGTH
    with path.open("rb") as file:
        file.seek(max(0, length))
        found = SEAL.fullmatch(file.read())
    return None if found is None else found[1].decode() == _digest(path, length)


def _digest(path: Path, length: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while length > 0 and (block := file.read(min(length, 1 << 20))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest()
