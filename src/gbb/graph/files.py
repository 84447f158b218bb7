"""Graph files: CSV edge lists, GraphML, node-link JSON and the Gset form; graphs of networkx."""

from __future__ import annotations

import csv
import json
import sys
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks, csv_files
from gbb._support.checks import FloatArray, InputError, IntArray, input_error
from gbb.graph import build
from gbb.graph.build import Rows

if TYPE_CHECKING:
    import pandas as pd

    from gbb.graph.graph import Graph

CSV = "A list of links can be a .csv file with a header source,target and a row for each."


def read(path: Path, undirected: bool) -> Rows:
    """Read the rows of the graph in the file at ``path``."""
    reader = READERS[checks.choice("path's suffix", path.suffix.lower(), READERS)]
    if path.stat().st_size == 0:
        raise InputError("the file is empty.")
    return reader(path, undirected)


@contextmanager
def one_line_errors(verb: str, path: str | Path) -> Iterator[None]:
    """Turn whatever goes wrong with a file into one line that names it."""
    try:
        yield
    except _file_errors() as error:
        first = f"{type(error).__name__}: {error}".strip().split("\n", maxsplit=1)[0]
        reason = f"{getattr(error, 'strerror', None) or f'it is malformed ({first})'}."
        if isinstance(error, UnicodeDecodeError):
            reason = f"{csv_files.no_utf8(error)}."
        if isinstance(error, InputError):
            reason = str(error)
        raise InputError(f"Cannot {verb} `path` {str(path)!r}: {reason}") from None


def _file_errors() -> tuple[type[Exception], ...]:
    """Return what a broken file can raise, so that no fault of another kind passes for one."""
    text = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
    # SyntaxError is XML's; JSON may be nested too deeply.
    broken = (OSError, SyntaxError, RecursionError, *text)
    networkx = sys.modules.get("networkx")  # its own errors exist only once it is loaded
    return broken if networkx is None else (*broken, networkx.NetworkXException)


def read_csv(path: Path, undirected: bool) -> Rows:
    """Read the rows of a CSV edge list.

    Labels that are exactly 0..n-1 are the agents' numbers. Any others are names, numbered in their
    order of first appearance: among the sources if both directions are listed (the order in
    which ``write_csv`` put them), row by row otherwise.
    """
    data = path.read_bytes()
    data.decode("utf-8-sig")  # its error says which line is no UTF-8, that of pandas does not
    first = _read_cells(data, dtype=str, nrows=1).iloc[0]
    columns = csv_files.name_columns(first.str.strip().tolist())
    header = {"source", "target"} <= set(columns)
    if not header and not (len(columns) > 1 and all(map(str.isdecimal, columns[:2]))):
        raise input_error("path", "have the columns source and target", ",".join(columns), CSV)
    both = [columns.index("source"), columns.index("target")] if header else [0, 1]
    _warn_left_out([name for i, name in enumerate(columns) if i not in both])
    numbers: IntArray | None = None
    form: dict[str, Any] = {"names": range(len(columns)), "skiprows": int(header)}
    with suppress(ValueError, OverflowError):  # most large files: ten times as quick as text
        cells = _read_cells(data, dtype=dict.fromkeys(both, np.int64), **form)[both]
        numbers = _as_numbers(cells.to_numpy())
    if numbers is None:
        cells = _read_cells(data, dtype=str, **form)[both]
        cells = cells.apply(lambda column: column.str.strip())
        cells = cells[(cells != "").any(axis=1)]  # without blank lines
        with suppress(ValueError, OverflowError):
            numbers = _as_numbers(cells.to_numpy())
    names: list[str] | None = None
    labels: NDArray[Any] | None = numbers
    if labels is None:
        labels = cells.to_numpy(dtype=object)
        if (labels == "").any():
            row, end = np.argwhere(labels == "")[0]
            raise InputError(f"line {cells.index[row]} has no {('source', 'target')[end]}.")
        names = None if undirected else list(dict.fromkeys(labels.T.ravel().tolist()))
    if not labels.size:
        raise InputError("it holds no edge.")
    rows = build.number_rows(labels, n=None, names=names, undirected=undirected)
    return rows._replace(lines=cells.index.to_numpy())


def _as_numbers(labels: NDArray[Any]) -> IntArray | None:
    """The labels as numbers if they are exactly 0..n-1; ValueError if any is none."""
    numbers: IntArray = labels.astype(np.int64)
    inside = numbers.size and numbers.min() == 0 and numbers.max() < numbers.size
    return numbers if inside and np.bincount(numbers.ravel()).all() else None


def _read_cells(data: bytes, skiprows: int = 0, **options: Any) -> pd.DataFrame:
    """The cells of text; the index has the lines of the file, from 1, and counts blank ones."""
    import pandas as pd  # noqa: PLC0415

    options |= {"header": None, "skiprows": skiprows, "skip_blank_lines": False}
    options |= {"na_filter": False, "skipinitialspace": True, "encoding": "utf-8-sig"}
    cells: pd.DataFrame = pd.read_csv(BytesIO(data), **options)
    if not isinstance(cells.index, pd.RangeIndex):  # pandas takes what is too much for an index
        cure = "Write names with a comma in quotation marks."
        raise InputError(f"its rows have more cells than its header. {cure}")
    cells.index += 1 + skiprows
    return cells


def write_csv(graph: Graph, path: Path) -> None:
    """Write a header and both directions of every edge, in the graph's edge order."""
    import pandas as pd  # noqa: PLC0415

    labels = np.array(graph.labels, dtype=np.int64 if graph.names is None else object)
    table = pd.DataFrame({"source": labels[graph.sources], "target": labels[graph.indices]})
    quoting: Literal[0, 1] = csv.QUOTE_MINIMAL if graph.names is None else csv.QUOTE_ALL
    table.to_csv(path, index=False, quoting=quoting, encoding="utf-8")


def read_gset(path: Path, undirected: bool) -> Rows:  # noqa: ARG001
    """Read the rows of a Gset file: ``n m``, then ``i j [weight]``, agents from 1, each edge once."""
    head, _, body = path.read_bytes().partition(b"\n")
    words = head.decode(errors="replace").split()[:2]
    sizes = [int(word) for word in words if word.isdecimal() and len(word) < 16]
    cells = np.loadtxt(BytesIO(body), ndmin=2) if body.strip() else np.empty((0, 2))
    if len(sizes) < 2 or cells.shape[1] < 2 or len(cells) != sizes[1]:
        rule = "a Gset file starts with `n m`, then has a row `i j [weight]` for each of m edges"
        raise InputError(f"{rule}, but after {' '.join(words)!r} come {len(cells)} rows. {CSV}")
    _warn_left_out(["weight"] if (cells[:, 2:] != 1).any() else [])
    agents = cells[:, :2]
    valid = ((agents >= 1) & (agents <= sizes[0]) & (agents == np.floor(agents))).all(axis=1)
    if not valid.all():
        row = agents[int(np.argmin(valid))].tolist()
        raise InputError(f"agents must be numbers from 1 to {sizes[0]}, but one row has {row}.")
    return Rows(agents.astype(np.int64) - 1, sizes[0], None, undirected=True)


def from_networkx(g: Any, *, undirected: bool = False) -> Rows:
    """Return the rows of a networkx graph; ``undirected``: an edge of a DiGraph stands for both ways."""
    import networkx as nx  # noqa: PLC0415

    if not isinstance(g, nx.Graph) or g.is_multigraph():
        cure = "Convert a multigraph with networkx.Graph(g) or networkx.DiGraph(g)."
        raise input_error("g", "be a networkx Graph or DiGraph", type(g).__name__, cure)
    nodes, names = list(g), None
    if set(nodes) == set(range(len(nodes))):
        nodes.sort()
    else:
        names = checks.names("node labels", nodes, length=len(nodes))
    number: dict[Hashable, int] = {node: i for i, node in enumerate(nodes)}
    weights = (weight for _, _, weight in g.edges(data="weight", default=1))
    _warn_left_out(["weight"] if any(checks.number_in(weight) != 1 for weight in weights) else [])
    edges = [(number[i], number[j]) for i, j in g.edges()]
    directed = g.is_directed() and not undirected
    rows = build.number_rows(edges, n=len(nodes), names=names, undirected=not directed)
    return rows._replace(positions=_positions([g.nodes[node] for node in nodes]))


def _positions(nodes: list[dict[str, Any]]) -> FloatArray | None:
    """The coordinates of the nodes, if all of them have two finite numbers."""
    pairs = [(node["x"], node.get("y")) if "x" in node else node.get("pos") for node in nodes]
    try:
        positions = np.array(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    complete = positions.shape == (len(nodes), 2) and bool(np.isfinite(positions).all())
    return positions if complete else None


def read_graphml(path: Path, undirected: bool) -> Rows:
    """Read the rows of a GraphML file."""
    import networkx as nx  # noqa: PLC0415

    g = nx.read_graphml(path)
    # GraphML has no whole-number node ids, so named graphs say that theirs are names.
    if g.graph.get("agents") != "named" and set(g) == {str(i) for i in range(len(g))}:
        g = nx.relabel_nodes(g, int)
    return from_networkx(g, undirected=undirected)


def write_graphml(graph: Graph, path: Path) -> None:
    """Write an undirected GraphML file whose node ids are the labels."""
    import networkx as nx  # noqa: PLC0415

    g = graph.to_networkx()
    if graph.names is not None:
        g.graph["agents"] = "named"
    nx.write_graphml(g, path)


def read_json(path: Path, undirected: bool) -> Rows:
    """Read the rows of a node-link JSON file, whose edges stand under ``edges`` or ``links``."""
    import networkx as nx  # noqa: PLC0415

    data = json.loads(path.read_text(encoding="utf-8-sig"))
    key = "links" if "links" in data else "edges"
    g = nx.node_link_graph({"multigraph": False, **data}, edges=key)
    if g.number_of_nodes() != len(data["nodes"]):
        raise InputError("node ids must be distinct and edges must join listed nodes.")
    return from_networkx(g, undirected=undirected)


def write_json(graph: Graph, path: Path) -> None:
    """Write node-link JSON whose ids are the labels."""
    import networkx as nx  # noqa: PLC0415

    data = nx.node_link_data(graph.to_networkx(), edges="edges")
    path.write_text(json.dumps(data), encoding="utf-8")


def _warn_left_out(columns: list[str]) -> None:
    """Warn of columns beside sources and targets, as a graph holds edges only."""
    if columns:
        warnings.warn(
            f"Left out {', '.join(map(repr, columns))}, as a graph holds edges only. "
            "Pass types and weights to Problem as edge_types and edge_weights. "
            "Positions go with from_edges(positions=...), .json and .graphml.",
            stacklevel=5,  # where Graph.read was called
        )


# The function for each kind of file.
READERS = {".csv": read_csv, ".graphml": read_graphml, ".json": read_json}
READERS |= {".txt": read_gset, ".gset": read_gset}
WRITERS = {".csv": write_csv, ".graphml": write_graphml, ".json": write_json}
