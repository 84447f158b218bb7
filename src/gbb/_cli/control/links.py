"""What is known of each link, from a CSV file: its type and its weight."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from gbb._cli.control import files
from gbb._cli.given.graphs import GraphOptions, graph_of
from gbb._cli.options import INSTANCE, option
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.csv_files import cannot_read, place_in
from gbb.graph import Graph, find
from gbb.problem.edges import max_types

if TYPE_CHECKING:
    import pandas as pd

LinksFile = Annotated[
    Path | None,
    option(
        "A CSV with the columns source, target, and type and/or weight.",
        metavar="FILE",
        panel=INSTANCE,
    ),
]

LINK_WORDS = {"`edge_types`": "`--links`", "`edge_weights`": "`--links`"}

COLUMNS = ("source", "target")
KINDS = {"type": 0.0, "weight": 1.0}
"""What the file may say of a link, and what holds for links that it does not name."""


def graph_beside(spec: str, given: GraphOptions, links: Path | None) -> Graph:
    """The graph that ``spec`` names; where that is the file of its ``links``, all columns are read."""
    with warnings.catch_warnings():
        if links is not None and links == Path(spec):
            warnings.filterwarnings("ignore", "Left out .* as a graph holds edges only")
        return graph_of(spec, given)


def links_of(
    path: Path | None, graph: Graph, *, undirected: bool
) -> tuple[IntArray | None, FloatArray | None]:
    """The types and the weights of all directed edges; None for what the file does not hold.

    A row stands for one directed edge, or for both directions of a link with ``undirected``. Edges
    without a row have type 0 and weight 1.
    """
    if path is None:
        return None, None
    table = files.table_from("--links", str(path), COLUMNS)
    _check_columns(table, path)
    ends = table["source"].tolist(), table["target"].tolist()
    places = find.edges("--links", graph, ends, place_in(table))
    if undirected:
        places = _both(graph, places, ends, path)
    found: dict[str, FloatArray] = {}
    for name, default in KINDS.items():
        if name in table.columns:
            values = _numbers(table[name], path, max_types(graph))
            found[name] = np.full(graph.m, default)
            found[name][places] = np.tile(values, 2) if undirected else values
    types = found.get("type")
    return None if types is None else types.astype(np.int64), found.get("weight")


def _check_columns(table: pd.DataFrame, path: Path) -> None:
    """Refuse a file that says nothing, or whose columns may be meant for what they are not called."""
    given = [name for name in table.columns if name not in COLUMNS]
    more = [name for name in given if name not in KINDS]
    cure = checks.suggest(more[0], KINDS.keys() - set(given)) if more else ""
    if len(more) == len(given) or cure:
        rule = "have a column type, a column weight or both"
        found = f"{', '.join(table.columns)} in {str(path)!r}"
        raise checks.input_error("--links", rule, found, cure)
    if not len(table):
        raise cannot_read("--links", path, "it holds a header only")
    if more:
        left = ", ".join(map(repr, more))
        warnings.warn(
            f"Left out {left} of `--links` {str(path)!r}: only types and weights are read.",
            stacklevel=3,
        )


def _both(
    graph: Graph, places: IntArray, ends: tuple[list[str], list[str]], path: Path
) -> IntArray:
    """The edges and their reverse edges, none of them twice."""
    both = np.concatenate([places, graph.reverse[places]])
    if (twice := find.first_repeat(both)) is not None:
        row = twice[1] % len(places)
        pair = f"({ends[0][row]!r}, {ends[1][row]!r}) twice in {str(path)!r}"
        cure = "With --undirected a row stands for both directions."
        raise checks.input_error("--links", "name no link twice", pair, cure)
    return both


def _numbers(cells: pd.Series[str], path: Path, types: int) -> FloatArray:
    """The numbers of a column; a type is one of so many ``types``."""
    whole = cells.name == "type"
    rule = f"a whole number from 0 to {types - 1}" if whole else "a finite number"
    numbers = np.empty(len(cells))
    for row, (line, cell) in enumerate(cells.items()):
        number = checks.number_in(cell)
        good = number is not None and math.isfinite(number)
        if whole:
            good = good and cell.isascii() and cell.isdigit() and int(cell) < types
        if number is None or not good:
            found = f"line {line}, column {cells.name!r} holds {cell!r}, which is not {rule}"
            cure = "" if cell else f"; write {KINDS[str(cells.name)]:g} for a link like most"
            raise cannot_read("--links", path, found + cure)
        numbers[row] = number
    return numbers
