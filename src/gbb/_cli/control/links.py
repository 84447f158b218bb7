"""What is known of each link, from a CSV file: its type and its weight."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gbb._cli.control import files
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.csv_files import cannot_read
from gbb.graph import Graph, lookup

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("source", "target")


def links_of(
    path: Path | None, graph: Graph, *, undirected: bool
) -> tuple[IntArray | None, FloatArray | None]:
    """The types and the weights of all directed edges; None for what the file does not hold.

    A row stands for one directed edge, or for both directions of a link with ``undirected``. Edges
    without a row, and empty cells, have type 0 and weight 1.
    """
    if path is None:
        return None, None
    table = files.table_from("--links", str(path), COLUMNS)
    if not {"type", "weight"} & set(table.columns):
        rule = "have a column type, a column weight or both"
        raise checks.input_error("--links", rule, f"{', '.join(table.columns)} in {str(path)!r}")
    ends = [table[name].tolist() for name in COLUMNS]
    places = lookup.find_edges("--links", graph, *ends)
    if undirected:
        places = _both(graph, places, ends, path)
    found: dict[str, FloatArray] = {}
    for name, default in (("type", 0.0), ("weight", 1.0)):
        if name in table.columns:
            values = _numbers(table[name], default, path)
            found[name] = np.full(graph.m, default)
            found[name][places] = np.tile(values, 2) if undirected else values
    types = found.get("type")
    return None if types is None else types.astype(np.int64), found.get("weight")


def _both(graph: Graph, places: IntArray, ends: list[list[str]], path: Path) -> IntArray:
    """The edges and their reverse edges, none of them twice."""
    both = np.concatenate([places, graph.reverse[places]])
    if (twice := lookup.find_repeat(both)) is not None:
        row = twice[1] % len(places)
        pair = f"({ends[0][row]!r}, {ends[1][row]!r}) twice in {str(path)!r}"
        cure = "With --undirected a row stands for both directions."
        raise checks.input_error("--links", "name every link once", pair, cure)
    return both


def _numbers(cells: pd.Series[str], default: float, path: Path) -> FloatArray:
    """The numbers of a column; types are whole and from 0 on."""
    name, numbers = cells.name, np.full(len(cells), default)
    for row, (line, cell) in enumerate(cells.items()):
        if not cell:
            continue
        if name == "type":
            good = cell.isascii() and cell.isdigit() and len(cell) < 10
            rule = "a whole number from 0 on"
        else:
            good, rule = _finite(cell), "a finite number"
        if not good:
            found = f"line {line}, column {name!r} holds {cell!r}, which is not {rule}"
            raise cannot_read("--links", path, found)
        numbers[row] = float(cell)
    return numbers


def _finite(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
