"""Where commands write; paths are tried before a long simulation starts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from gbb._support import checks, files
from gbb._support.checks import InputError


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Of a command that fills a folder with data, pictures and a report."""

    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0
    quick: Annotated[bool, typer.Option(help="A smaller and faster version.")] = False


def folder_option(default: str, note: str = "") -> Any:
    """The option for the folder that a command fills."""
    help = f"Where data, pictures and the report go{note}."
    return typer.Option(metavar="DIR", show_default=default, help=help)


def check_output(name: str, path: Path | None, suffixes: Sequence[str]) -> None:
    """Refuse a path that could not be written in the end; leaves nothing behind."""
    if path is None:
        return
    with _explain(name, path):
        if path.is_dir():
            raise checks.input_error(name, "name a file", f"the directory {str(path)!r}")
        if path.suffix.lower() not in suffixes:
            raise checks.input_error(name, f"end in {' or '.join(suffixes)}", repr(str(path)))
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(0, "Permission denied")
        _try(files.follow_link(path).parent)


def check_directory(name: str, path: Path) -> None:
    """Refuse a directory that files could not be written to; leaves nothing behind."""
    with _explain(name, path):
        if path.exists() and not path.is_dir():
            raise checks.input_error(name, "name a directory", f"the file {str(path)!r}")
        _try(path)


def _try(folder: Path) -> None:
    """Write a file to ``folder``, or to what is there of it, that vanishes at once."""
    while not folder.exists():
        folder = folder.parent
    with tempfile.TemporaryFile(dir=folder):
        pass


@contextmanager
def _explain(name: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"Cannot write `{name}` {str(path)!r}: {error.strerror}.") from None
