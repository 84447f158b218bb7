"""Where agents stand, from a CSV file, for pictures of the network."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np

from gbb._cli.control import files
from gbb._cli.options import GRAPH, option
from gbb._support import checks
from gbb._support.csv_files import cannot_read, place_in
from gbb.graph import Graph, find

COLUMNS = ("agent", "x", "y")

PositionsFile = Annotated[
    Path | None,
    option(
        "Where the agents stand, for the page: a CSV with the columns agent, x and y.",
        metavar="FILE",
        panel=GRAPH,
    ),
]


def graph_at(path: Path | None, graph: Graph) -> Graph:
    """The graph with its agents where the file says, each of them in one row."""
    if path is None:
        return graph
    table = files.table_from("--positions", str(path), COLUMNS)
    agents, where = table["agent"].tolist(), place_in(table)
    places = find.agents("--positions", graph, agents, where)
    if (twice := find.first_repeat(places)) is not None:
        got = f"{agents[twice[1]]!r} again{where(twice[1])}"
        raise checks.input_error("--positions", "name no agent twice", got)
    if len(places) < graph.n:
        missing = np.setdiff1d(np.arange(graph.n), places)
        got = f"none for {graph.label(int(missing[0]))!r} in {str(path)!r}"
        raise checks.input_error("--positions", "have a row for each agent", got)
    stand = np.empty((graph.n, 2))
    for place, (line, cells) in zip(
        places.tolist(), table[list(COLUMNS[1:])].iterrows(), strict=True
    ):
        for axis, cell in enumerate(cells):
            number = checks.number_in(cell)
            if number is None or not math.isfinite(number):
                why = f"line {line} holds {cell!r}, which is not a finite number"
                raise cannot_read("--positions", path, why)
            stand[place, axis] = number
    return replace(graph, positions=stand)
