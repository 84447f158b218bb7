"""Edge lists as text, a source and a target per row: CSV and the Gset form."""

from __future__ import annotations

import csv
import itertools
import re
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gbb._support import csv_files
from gbb._support.checks import InputError, IntArray, input_error
from gbb._support.csv_files import HEADERS
from gbb.graph._doubts import (
    doubt_columns,
    doubt_first_edge,
    doubt_first_row,
    doubt_weights,
    refuse_blanks,
)
from gbb.graph._io import CSV
from gbb.graph._rows import Rows, check_gaps

if TYPE_CHECKING:
    from gbb.graph._graph import Graph

BLANKS = re.compile(rb"(?<=[,\n])[ \t]+|(?<![ \t])[ \t]+(?=,|\n|\Z)")
COMMENT = re.compile(rb"^#.*", re.MULTILINE)

DIGITS = 15
"""Of the numbers in the first line of a Gset file."""

WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def read_csv(path: Path, undirected: bool) -> Rows:
    """Rows of a CSV edge list.

    The first row is a header when it holds a pair of ``csv_files.HEADERS``: ``source,target`` always
    is one, another pair when rows follow in which its words are no agents. Other columns are left out
    with a warning.

    Blanks around a label do not count, unless the file has quotation marks.

    Labels that are exactly 0..n-1 are the agents' numbers. Any others are names, numbered in their
    order of first appearance: among the sources when both directions are listed (the order in
    which ``write_csv`` put them), row by row otherwise.
    """
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data.isascii():
        data.decode("utf-8")  # the error says where it is none
    if b"#" in data:
        data = COMMENT.sub(b"", data)
    first = 1 + data[: len(data) - len(data.lstrip())].count(b"\n")
    data = data.lstrip()
    if not data:
        raise InputError("it holds no edge.")
    columns, words = _columns(data, first)
    header = words is not None
    _check_cells(data, first)
    body = data.partition(b"\n")[2] if header else data
    line_of = partial(_line_of, body, first + header)
    quoted = b'"' in body
    body = body if quoted else BLANKS.sub(b"", body)
    if words is None:
        doubt_first_row(body)
    else:
        doubt_columns(words, columns)
    edges = _read_numbers(body, columns)
    if edges is not None:
        return Rows(edges, int(edges.max()) + 1, None, undirected, line_of)
    table = _read_columns(body, columns, str)
    empty = ((table[0] == "") | (table[1] == "")).to_numpy()
    if empty.any():
        row = int(np.argmax(empty))
        missing = "source" if table[0].iloc[row] == "" else "target"
        raise InputError(f"line {line_of(row)} has no {missing}.")
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
    return Rows(rows, len(agents), agents, undirected, line_of)


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
        rule = "its first line must be `n m`, the numbers of agents and edges of a Gset file."
        raise InputError(f"{rule} {CSV}")
    if max(map(len, head[:2])) > DIGITS:
        raise InputError(f"the numbers of agents and edges must have at most {DIGITS} digits.")
    n, count = int(head[0]), int(head[1])
    line_of = partial(_line_of, body, 2)
    edges = np.empty((0, 2), dtype=np.int64)
    if body.strip():
        edges = _read_columns(body, (0, 1), np.int64, separator=r"\s+").to_numpy()
        if len(body.lstrip().partition(b"\n")[0].split()) > 2:
            weights = _read_columns(body, (0, 2), str, separator=r"\s+")[1]
            doubt_weights(weights.unique())
    if len(edges) != count:
        promise = f"promises {count} edge{'s' * (count != 1)}, but {len(edges)} follow"
        raise InputError(f"its first line, `n m` of a Gset file, {promise}. {CSV}")
    check_gaps(n, count, "Graph.from_edges takes as many agents as it is told.")
    bad = ((edges < 1) | (edges > n)).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"agents must be from 1 to {n}, but line {line_of(row)} has {edges[row]}.")
    return Rows(edges - 1, n, None, undirected=True, line_of=line_of)


def _columns(data: bytes, start: int) -> tuple[tuple[int, int], list[str] | None]:
    """Positions of the source and the target, and the header if the first line is one."""
    head, _, body = data.partition(b"\n")
    line = head.decode("utf-8")
    words = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
    cells = [word.lower() for word in words]
    for pair in HEADERS:
        if set(pair) <= set(cells):
            first, second = map(cells.index, pair)
            agents = not body.strip() or _holds(body, (words[first], words[second]))
            if pair == HEADERS[0] or not agents:
                return (first, second), words
    if len(cells) < 2:
        rule = "each row needs a source and a target with a comma between"
        raise InputError(f"{rule}, but line {start} is {line!r}.")
    return (0, 1), None


def _check_cells(data: bytes, first: int) -> None:
    """Refuse rows with more cells than the first: a comma in a name would make another agent of it."""
    if b'"' not in data:
        text = np.frombuffer(data, dtype=np.uint8)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        commas = np.searchsorted(np.flatnonzero(text == ord(",")), ends)
        counts = np.diff(commas, prepend=0)
        if (counts <= counts[0]).all():
            return
    rows = csv_files.number_lines(data.decode("utf-8"), first)
    head = next(rows)
    for row in rows:
        if len(row) > len(head):
            cure = "Write names with a comma in quotation marks."
            raise InputError(f"{csv_files.other_length(row, head)}. {cure}")


def _line_of(body: bytes, first: int, row: int) -> int:
    """The line of the file that an edge stands on, where ``body`` starts with line ``first``."""
    rows = csv_files.number_lines(body.decode("utf-8"), first)
    edges = (each.line for each in rows if len(each) > 1 or any(each))
    return next(itertools.islice(edges, row, None), first)


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
