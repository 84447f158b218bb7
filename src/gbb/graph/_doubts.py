"""What a file of edges may have meant otherwise: refused, or read with a warning that says how."""

from __future__ import annotations

import csv
import itertools
import warnings
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

import numpy as np

from gbb._support.checks import InputError, IntArray, is_number

SAMPLE = 1000
"""Rows that are looked at to tell a header from an edge."""


LONG = 100
"""Characters of a row that a message shows."""


POSITIONS = " Positions go with from_edges(positions=...), .json and .graphml."

HEADINGS = {
    "name",
    "node",
    "agent",
    "device",
    "station",
    "neighbour",
    "neighbor",
    "start",
    "end",
    "id",
}
"""Words of headers that gbb does not know, where they come up nowhere else."""


def doubt_first_row(body: bytes) -> None:
    """Refuse a first row of words above numbers, a header that is not known; warn of more columns."""
    text = body[: 1 << 20].decode("utf-8", errors="replace")
    reader = csv.reader(StringIO(text, newline=""), skipinitialspace=True)
    sample = [row for row in itertools.islice(reader, SAMPLE) if row]
    first, rest = sample[0], sample[1:]
    words = not any(map(is_number, first))
    for place in range(len(first) if words else 0):
        below = [row[place] for row in rest if place < len(row)]
        if first[place].strip() and below and all(map(is_number, below)):
            found = _shown(first)
            raise InputError(f"its first row, {found}, looks like a header: write source,target.")
    if len(first) > 2:
        _warn(
            f"Took the first two of {len(first)} columns as source and target, as there is no "
            "header. One that says source,target tells which they are."
        )


def doubt_columns(header: Sequence[str], used: Sequence[int]) -> None:
    """Warn of columns beside sources and targets, as a graph holds no more."""
    left = [word for place, word in enumerate(header) if place not in used]
    if left:
        taken = " and ".join(repr(header[place]) for place in used)
        _warn(
            f"Took the columns {taken} and left out {_shown(left)}, as a graph holds edges only. "
            "Pass types and weights to Problem as edge_types and edge_weights."
            + (POSITIONS if {"x", "y"} & {word.lower() for word in left} else "")
        )


def doubt_first_edge(edges: IntArray, names: Sequence[str]) -> None:
    """Warn of a first row whose two ends come up nowhere else, in a graph of more than pairs.

    Refuse it where both are words of a header.
    """
    alone = np.bincount(edges.ravel())[edges] == 1
    if len(edges) > 1 and alone[0].all() and not alone.all():
        first = _shown([names[agent] for agent in edges[0]])
        if all(names[agent].lower() in HEADINGS for agent in edges[0]):
            cure = "write source,target instead, or above it if it is an edge."
            raise InputError(f"its first row, {first}, looks like a header: {cure}")
        _warn(
            f"Took the first row, {first}, as an edge, though its ends come up nowhere else. "
            "If it is a header, write source,target instead."
        )


def refuse_blanks(names: Iterable[str]) -> None:
    """Refuse names that differ by blanks around them only."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.strip(), name)
        if other != name:
            raise InputError(f"the agents {other!r} and {name!r} differ by blanks only.")


def doubt_weights(weights: Iterable[Any]) -> None:
    """Warn of edges that weigh something else than 1, as a graph holds no weights."""
    if not all(is_number(weight) and float(weight) == 1.0 for weight in weights):
        _warn(
            "Left out the weights of the edges, as a graph holds none. "
            "Pass them to Problem as edge_weights."
        )


def _shown(cells: Sequence[str]) -> str:
    """A row on one line, the start of a long one."""
    text = repr(",".join(cells))[1:-1]
    return text if len(text) < LONG else f"{text[:LONG]}..."


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=6)  # where Graph.read was called
