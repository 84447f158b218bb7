"""Graph files: CSV edge lists, GraphML, node-link JSON and the Gset form."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from gbb._support.checks import InputError, input_error, suggest
from gbb._support.csv_files import no_utf8
from gbb._support.files import atomic
from gbb.graph._rows import Rows

if TYPE_CHECKING:
    from gbb.graph._graph import Graph

CSV = "A list of links can be a .csv file with a row source,target for each."
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
BROKEN = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
    ParseError,
    csv.Error,
)


@contextmanager
def explain_errors(verb: str, path: str | Path) -> Iterator[None]:
    """Turn whatever goes wrong with a file into one line that names it."""
    try:
        yield
    except _file_errors() as error:
        raise InputError(f"Cannot {verb} `path` {str(path)!r}: {_reason(error)}") from None


def load(path: Path, undirected: bool) -> Rows:
    """Rows of the graph in the file at ``path``."""
    reader = _find(path, READERS)
    if path.stat().st_size == 0:
        raise InputError("the file is empty.")
    rows: Rows = reader(path, undirected)
    return rows


def save(graph: Graph, path: Path) -> None:
    """Write ``graph`` to ``path`` atomically."""
    writer = _find(path, WRITERS)
    if path.suffix.lower() != ".json":
        bad = [name for name in graph.names or () if CONTROL.search(name)]
        if bad:
            cure = "Rename it, or write a .json file."
            raise input_error("names", "hold no control characters", repr(bad[0]), cure)
    with atomic(path) as temporary:
        writer(graph, temporary)


READERS = {
    ".csv": "_csv.read_csv",
    ".graphml": "_networkx.read_graphml",
    ".json": "_networkx.read_json",
    ".txt": "_csv.read_gset",
    ".gset": "_csv.read_gset",
}
WRITERS = {
    ".csv": "_csv.write_csv",
    ".graphml": "_networkx.write_graphml",
    ".json": "_networkx.write_json",
}
"""The function for each kind of file; its module, and pandas or networkx with it, loads on use."""


def _find(path: Path, known: dict[str, str]) -> Any:
    extension = path.suffix.lower()
    if extension not in known:
        cure = suggest(extension, known, cutoff=0.6) or CSV
        raise input_error("path", f"end in {', '.join(known)}", repr(path.suffix), cure)
    module, name = known[extension].split(".")
    return getattr(import_module(f"gbb.graph.{module}"), name)


def _file_errors() -> tuple[type[Exception], ...]:
    """What a broken file can raise: networkx's own errors only where it is loaded."""
    networkx = sys.modules.get("networkx")
    return BROKEN if networkx is None else (*BROKEN, networkx.NetworkXException)


def _reason(error: BaseException) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    if isinstance(error, UnicodeDecodeError):
        return f"{no_utf8(error)}."
    if isinstance(error, KeyError):
        return f"{error} is missing."
    first = str(error).strip().split("\n", maxsplit=1)[0]
    return f"it is malformed ({first or type(error).__name__})."
