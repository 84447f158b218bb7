"""Edge lists as text, a source and a target per row: CSV and the Gset form."""

from __future__ import annotations

import csv
import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gbb._support.checks import InputError, IntArray, input_error
from gbb.graph._doubts import doubt_first_edge, doubt_first_row, doubt_weights, refuse_blanks
from gbb.graph._rows import Rows, check_gaps

if TYPE_CHECKING:
    from gbb.graph._graph import Graph

BLANKS = re.compile(rb"(?<=[,\n])[ \t]+|(?<![ \t])[ \t]+(?=,|\n|\Z)")
COMMENT = re.compile(rb"^#.*(?:\n|\Z)", re.MULTILINE)
HEADERS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("u", "v"),
    ("i", "j"),
    ("node1", "node2"),
    ("agent1", "agent2"),
)
"""Names of the columns of sources and targets, in small or capital letters."""

DIGITS = 15
"""Of the numbers in the first line of a Gset file."""

WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def read_csv(path: Path, undirected: bool) -> Rows:
    """Rows of a CSV edge list.

    The first line is a header when it holds a pair of :data:`HEADERS`; other columns are left out.
    ``source,target`` always is one, another pair when rows follow in which its words are no agents.

    Blanks around a label do not count, unless the file has quotation marks.

    Labels that are exactly 0..n-1 are the agents' numbers. Any others are names, numbered in their
    order of first appearance: among the sources when both directions are listed (the order in
    which ``write_csv`` put them), row by row otherwise.
    """
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"#" in data:
        data = COMMENT.sub(b"", data)
    data = data.lstrip()
    if not data:
        raise InputError("it holds no edge.")
    columns, header = _columns(data)
    _check_cells(data)
    body = data.partition(b"\n")[2] if header else data
    quoted = b'"' in body
    body = body if quoted else BLANKS.sub(b"", body)
    if not header:
        doubt_first_row(body)
    edges = _read_numbers(body, columns)
    if edges is not None:
        return Rows(edges, int(edges.max()) + 1, None, undirected)
    table = _read_columns(body, columns, str)
    empty = ((table[0] == "") | (table[1] == "")).to_numpy()
    if empty.any():
        row = int(np.argmax(empty))
        raise InputError(f"row {row} has no {'source' if table[0].iloc[row] == '' else 'target'}.")
    if undirected:
        codes, names = pd.factorize(table.to_numpy(dtype=object).ravel())
        rows = np.asarray(codes, dtype=np.int64).reshape(-1, 2)
    else:
        both = pd.concat([table[0], table[1]], ignore_index=True)
        codes, names = pd.factorize(both.to_numpy(dtype=object))
        rows = np.asarray(codes, dtype=np.int64).reshape(2, -1).T
    agents = tuple(map(str, names))
    if quoted:
        refuse_blanks(agents)
    if not header:
        doubt_first_edge(rows, agents)
    return Rows(rows, len(agents), agents, undirected)


def write_csv(graph: Graph, path: Path) -> None:
    """Write a header and both directions of every edge, in the graph's edge order."""
    cure = "Write a .graphml or .json file instead."
    alone = graph.degrees == 0
    if alone.any():
        value = f"agent {graph.label(int(np.argmax(alone)))!r} without edges"
        raise input_error(
            "graph", "have an edge at every agent, as a CSV holds edges only", value, cure
        )
    if graph.names is None:
        table = pd.DataFrame({"source": graph.sources, "target": graph.indices})
        table.to_csv(path, index=False)
        return
    if all(map(WHOLE.fullmatch, graph.names)) and set(map(int, graph.names)) == set(range(graph.n)):
        rule = "be told from the agents' numbers 0..n-1 in a CSV"
        raise input_error("names", rule, "exactly those numbers", cure)
    try:
        refuse_blanks(graph.names)
    except InputError as error:
        raise InputError(f"{error} {cure}") from None
    names = np.array(graph.names, dtype=object)
    table = pd.DataFrame({"source": names[graph.sources], "target": names[graph.indices]})
    table.to_csv(path, index=False, quoting=csv.QUOTE_ALL, encoding="utf-8")


def read_gset(path: Path, _undirected: bool) -> Rows:
    """Rows of a Gset file: ``n m``, then ``i j [weight]``, agents from 1, each edge once."""
    first, _, body = path.read_bytes().partition(b"\n")
    head = first.decode("utf-8").split()
    if len(head) < 2 or not (head[0].isdecimal() and head[1].isdecimal()):
        raise InputError("its first line must be `n m`, the numbers of agents and edges.")
    if max(map(len, head[:2])) > DIGITS:
        raise InputError(f"the numbers of agents and edges must have at most {DIGITS} digits.")
    n, count = int(head[0]), int(head[1])
    edges = np.empty((0, 2), dtype=np.int64)
    if body.strip():
        edges = _read_columns(body, (0, 1), np.int64, separator=r"\s+").to_numpy()
        if len(body.lstrip().partition(b"\n")[0].split()) > 2:
            weights = _read_columns(body, (0, 2), str, separator=r"\s+")[1]
            doubt_weights(weights.unique())
    if len(edges) != count:
        raise InputError(f"its first line promises {count} edges, but {len(edges)} follow.")
    check_gaps(n, count, "Graph.from_edges takes as many agents as it is told.")
    bad = ((edges < 1) | (edges > n)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"agents must be from 1 to {n}, but line {row + 2} has {edges[row]}.")
    return Rows(edges - 1, n, None, undirected=True)


def _columns(data: bytes) -> tuple[tuple[int, int], bool]:
    """Positions of the source and the target, and whether the first line is a header."""
    head, _, body = data.partition(b"\n")
    line = head.decode("utf-8")
    words = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
    cells = [word.lower() for word in words]
    for pair in HEADERS:
        if set(pair) <= set(cells):
            first, second = map(cells.index, pair)
            agents = not body.strip() or _holds(body, (words[first], words[second]))
            if pair == HEADERS[0] or not agents:
                return (first, second), True
    if len(cells) < 2:
        raise InputError(f"each row needs a source and a target with a comma between: {line!r}.")
    return (0, 1), False


def _check_cells(data: bytes) -> None:
    """Refuse rows with more cells than the first: a comma in a name would make another agent of it."""
    if b'"' in data:
        counts = np.array([len(row) for row in csv.reader(data.decode("utf-8").splitlines())])
    else:
        text = np.frombuffer(data, dtype=np.uint8)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        commas = np.searchsorted(np.flatnonzero(text == ord(",")), ends)
        counts = np.diff(commas, prepend=0) + 1
    longer = counts > counts[0]
    if longer.any():
        row = int(np.argmax(longer))
        cure = "Write names with a comma in quotation marks."
        raise InputError(f"row {row + 1} has {counts[row]} cells and row 1 has {counts[0]}. {cure}")


def _holds(body: bytes, words: tuple[str, str]) -> bool:
    """Whether one of the words is a whole cell of the rows."""
    either = b"|".join(re.escape(word.encode()) for word in words)
    return re.search(rb'(?m)(?:^|,)[ \t]*"?(?:' + either + rb')"?[ \t]*(?:,|$)', body) is not None


def _read_columns(
    data: bytes, columns: tuple[int, int], dtype: Any, separator: str = ","
) -> pd.DataFrame:
    """The two columns of text without a header; an error that says so when there is no row."""
    try:
        table = pd.read_csv(
            BytesIO(data),
            sep=separator,
            header=None,
            usecols=list(columns),
            dtype=dtype,
            na_filter=False,
            skipinitialspace=True,
            encoding="utf-8",
        )
    except pd.errors.EmptyDataError:
        raise InputError("it holds no edge.") from None
    return table[list(columns)].set_axis([0, 1], axis=1)


def _read_numbers(data: bytes, columns: tuple[int, int]) -> IntArray | None:
    """The labels as numbers when they are exactly 0..n-1."""
    try:
        edges: IntArray = _read_columns(data, columns, np.int64).to_numpy()
    except InputError:
        raise
    except (ValueError, OverflowError):
        return None
    if not edges.size or edges.min() < 0 or edges.max() >= edges.size:
        return None
    return edges if np.bincount(edges.ravel()).all() else None
