"""Graph files: CSV edge lists, GraphML, node-link JSON and the Gset form."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import numpy as np

from gbb._support.checks import InputError, input_error
from gbb._support.files import atomic
from gbb.graph._convert import from_networkx, to_networkx
from gbb.graph._csv import read_columns, read_csv, write_csv
from gbb.graph._rows import Rows, suggest

if TYPE_CHECKING:
    from gbb.graph._graph import Graph

# GraphML has no whole-number node ids, so named graphs say that theirs are names.
NAMED = {"agents": "named"}
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, ParseError)


@contextmanager
def explain_errors(verb: str, path: str | Path) -> Iterator[None]:
    """Turn whatever goes wrong with a file into one line that names it."""
    try:
        yield
    except _file_errors() as error:
        raise InputError(f"Cannot {verb} `path` {str(path)!r}: {_reason(error)}") from None


def load(path: Path, undirected: bool) -> Rows:
    """Rows of the graph in the file at ``path``."""
    reader = READERS[_extension(path, READERS)]
    if path.stat().st_size == 0:
        raise InputError("the file is empty.")
    return reader(path, undirected)


def save(graph: Graph, path: Path) -> None:
    """Write ``graph`` to ``path`` atomically."""
    writer = WRITERS[_extension(path, WRITERS)]
    if writer is not write_json:
        bad = [name for name in graph.names or () if CONTROL.search(name)]
        if bad:
            cure = "Rename it, or write a .json file."
            raise input_error("names", "hold no control characters", repr(bad[0]), cure)
    with atomic(path) as temporary:
        writer(graph, temporary)


def read_graphml(path: Path, undirected: bool) -> Rows:
    """Rows of a GraphML file."""
    import networkx as nx  # noqa: PLC0415

    g = nx.read_graphml(path)
    ids = set(g)
    if g.graph.get("agents") != "named" and ids == {str(i) for i in range(len(ids))}:
        g = nx.relabel_nodes(g, int)
    return from_networkx(g, undirected=undirected)


def write_graphml(graph: Graph, path: Path) -> None:
    """Write an undirected GraphML file whose node ids are the labels."""
    import networkx as nx  # noqa: PLC0415

    g = to_networkx(graph)
    g.graph.update(NAMED if graph.names is not None else {})
    nx.write_graphml(g, path)


def read_json(path: Path, undirected: bool) -> Rows:
    """Rows of a node-link JSON file, whose edges stand under ``edges`` or ``links``."""
    import networkx as nx  # noqa: PLC0415

    data = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise InputError("it is not node-link JSON: an object with 'nodes' and 'edges' is needed.")
    key = next((key for key in ("edges", "links") if isinstance(data.get(key), list)), None)
    if key is None:
        raise InputError("it is not node-link JSON: there is no list 'edges' or 'links'.")
    g = nx.node_link_graph({"multigraph": False, **data}, edges=key)
    if g.number_of_nodes() != len(data["nodes"]):
        raise InputError("node ids must be distinct and edges must join listed nodes.")
    return from_networkx(g, undirected=undirected)


def write_json(graph: Graph, path: Path) -> None:
    """Write node-link JSON whose ids are the labels."""
    import networkx as nx  # noqa: PLC0415

    data = nx.node_link_data(to_networkx(graph), edges="edges")
    path.write_text(json.dumps(data), encoding="utf-8")


def read_gset(path: Path, _undirected: bool) -> Rows:
    """Rows of a Gset file: ``n m``, then ``i j [weight]``, agents from 1, each edge once."""
    first, _, body = path.read_bytes().partition(b"\n")
    head = first.decode("utf-8").split()
    if len(head) < 2 or not (head[0].isdecimal() and head[1].isdecimal()):
        raise InputError("its first line must be `n m`, the numbers of agents and edges.")
    n, count = int(head[0]), int(head[1])
    edges = np.empty((0, 2), dtype=np.int64)
    if body.strip():
        edges = read_columns(body, (0, 1), np.int64, separator=r"\s+").to_numpy()
    if len(edges) != count:
        raise InputError(f"its first line promises {count} edges, but {len(edges)} follow.")
    bad = ((edges < 1) | (edges > n)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"agents must be from 1 to {n}, but line {row + 2} has {edges[row]}.")
    return Rows(edges - 1, n, None, undirected=True)


READERS: dict[str, Callable[[Path, bool], Rows]] = {
    ".csv": read_csv,
    ".graphml": read_graphml,
    ".json": read_json,
    ".txt": read_gset,
    ".gset": read_gset,
}
WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    ".csv": write_csv,
    ".graphml": write_graphml,
    ".json": write_json,
}


def _extension(path: Path, known: dict[str, Any]) -> str:
    extension = path.suffix.lower()
    if extension not in known:
        cure = suggest(extension, known)
        raise input_error("path", f"end in {', '.join(known)}", repr(path.suffix), cure)
    return extension


def _file_errors() -> tuple[type[Exception], ...]:
    """What a broken file can raise: networkx's own errors only where it is loaded."""
    networkx = sys.modules.get("networkx")
    return BROKEN if networkx is None else (*BROKEN, networkx.NetworkXException)


def _reason(error: BaseException) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    if isinstance(error, KeyError):
        return f"{error} is missing."
    first = str(error).strip().split("\n", maxsplit=1)[0]
    return f"it is malformed ({first or type(error).__name__})."
