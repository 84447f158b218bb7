"""A context that says something of every edge: rows of source, target, and a type or features."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.csv_files import cannot_read
from gbb.contexts import EdgeFeatures, EdgeTypes
from gbb.graph import Graph, find

if TYPE_CHECKING:
    import pandas as pd

    from gbb.problem import Problem

Source = str | Path


def read_edges(option: str, source: Source, problem: Problem, table: pd.DataFrame) -> Any:
    """The types of all edges, with weights if the table has them; or their features.

    Every edge has a row; one is enough for a link whose directions are always equal.
    """
    contexts, graph = problem.contexts, problem.graph
    assert isinstance(contexts, EdgeTypes | EdgeFeatures)
    for name in ("source", "target"):
        if name not in table.columns:
            raise cannot_read(option, source, f"it has no column {name!r}")
    places = find.edges(option, graph, (table["source"].tolist(), table["target"].tolist()))
    names = contexts.names or tuple(map(str, range(contexts.size)))
    if isinstance(contexts, EdgeTypes):
        types = np.array(_types(option, source, table, names), dtype=np.int64)
        found = _spread(option, source, graph, places, types, symmetric=contexts.symmetric)
        if "weight" not in table.columns:
            return found.astype(np.int64)
        weights = _numbers(option, source, table, "weight")
        spread = _spread(option, source, graph, places, weights, symmetric=contexts.symmetric)
        return found.astype(np.int64), spread
    columns = [_numbers(option, source, table, name) for name in names]
    parts = [
        _spread(option, source, graph, places, column, symmetric=contexts.symmetric)
        for column in columns
    ]
    return np.stack(parts, axis=1)


def _types(option: str, source: Source, table: pd.DataFrame, names: tuple[str, ...]) -> list[int]:
    """The types by number; blank or -1 for an edge that pays nothing."""
    if "type" not in table.columns:
        raise cannot_read(option, source, "it has no column 'type'")
    known = {"": -1, "-1": -1, **{name: place for place, name in enumerate(names)}}
    found = []
    for line, cell in table["type"].items():
        if cell not in known:
            cure = checks.suggest(cell, names)
            why = f"line {line} has the type {cell!r}, which is none of {', '.join(names[:8])}"
            raise cannot_read(option, source, f"{why} ({cure})" if cure else why)
        found.append(known[cell])
    return found


def _numbers(option: str, source: Source, table: pd.DataFrame, column: str) -> FloatArray:
    if column not in table.columns:
        raise cannot_read(option, source, f"it has no column {column!r}")
    numbers = np.empty(len(table))
    for row, (line, cell) in enumerate(table[column].items()):
        number = checks.number_in(cell)
        if number is None or not math.isfinite(number):
            why = f"line {line}, column {column!r} holds {cell!r}, which is not a finite number"
            raise cannot_read(option, source, why)
        numbers[row] = number
    return numbers


def _spread(
    option: str,
    source: Source,
    graph: Graph,
    places: IntArray,
    values: FloatArray | IntArray,
    *,
    symmetric: bool,
) -> FloatArray:
    """The values of rows in the graph's edge order, none missing."""
    found, known = np.zeros(graph.m), np.zeros(graph.m, dtype=bool)
    if symmetric:
        found[graph.reverse[places]], known[graph.reverse[places]] = values, True
    found[places], known[places] = values, True
    if not known.all():
        edge = int(np.argmin(known))
        ends = graph.label(int(graph.sources[edge])), graph.label(int(graph.indices[edge]))
        raise cannot_read(
            option,
            source,
            f"it has no row for the edge {ends[0]} -> {ends[1]} (every edge needs one)",
        )
    return found
