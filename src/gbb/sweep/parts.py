"""The file of a finished task: there whole or not at all, and known to be what was written."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support import files, seal

Arrays = Mapping[str, NDArray[Any]]


def path_of(folder: Path, name: str) -> Path:
    """Where the part of a task is kept."""
    return folder / "parts" / f"{name}.npz"


def is_done(folder: Path, name: str) -> bool:
    """Whether the part is there and is what was written for this task."""
    path = path_of(folder, name)
    try:
        return path.is_file() and bool(seal.is_intact(path)) and _is_of(path, name)
    except OSError:
        return False


def _is_of(path: Path, name: str) -> bool:
    """Whether an intact part says that it is this task's, and was not renamed to be."""
    said = _said(name)
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - seal.LENGTH - len(said)))
        return file.read(len(said)) == said


def _said(name: str) -> bytes:
    """What a part says of itself, before its seal and behind what readers look at."""
    return f"\n#gbb task {name}\n".encode()


def write(folder: Path, name: str, arrays: Arrays) -> None:
    """Keep a part."""
    with files.atomic(path_of(folder, name)) as temporary:
        with temporary.open("wb") as file:
            np.savez(file, **dict(arrays))  # type: ignore[arg-type]
            file.write(_said(name))
        seal.seal(temporary)


def read(folder: Path, name: str, blocks: int) -> Iterator[dict[str, NDArray[Any]]]:
    """What a part holds of each of its blocks, one at a time; ``OSError`` where it is damaged."""
    path = path_of(folder, name)
    if not is_done(folder, name):
        raise OSError(f"{path} is not what was written.")
    try:
        with np.load(path, allow_pickle=False) as content:
            for number in range(blocks):
                end = f"_{number}"
                own = [key for key in content.files if key.endswith(end)]
                yield {key.removesuffix(end): content[key] for key in own}
    except (ValueError, zipfile.BadZipFile) as error:
        raise OSError(f"{path} cannot be read: {error}") from error
