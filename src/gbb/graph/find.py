"""Agents, edges, links and other things by name or number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError, IntArray

if TYPE_CHECKING:
    from gbb.graph.graph import Graph

Where = Callable[[int], str]
"""What a message adds of where a row stands: `` on line 3 of 'rewards.csv'``."""


MAX_DIGITS = 18
"""No number in text is longer."""


def nowhere(_row: int) -> str:
    """Return nothing: rows that are not of a file."""
    return ""


def index(name: str, value: object, names: Sequence[str] | None, size: int, cure: str = "") -> int:
    """Return the number of one of ``names``, or of ``size`` things, given by name or number."""
    if names is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
        return names.index(checks.choice(name, value, names, cure=cure))
    # Tables and addresses of requests have numbers as text.
    if isinstance(value, str) and value.isdecimal() and len(value) <= MAX_DIGITS:
        value = int(value)
    return checks.integer(name, value, low=0, high=size - 1, cure=cure)


def edges(
    name: str,
    graph: Graph,
    endpoints: tuple[list[Any], list[Any]],
    where: Where = nowhere,
    links: IntArray | None = None,
) -> IntArray:
    """Return the positions of the edges from the first of ``endpoints`` to the second, each once.

    With ``links``, the number of each edge's link, return those of the links between them instead.
    Errors call the argument that holds them ``name``, and say ``where`` in it.
    """
    i, j = (agents(name, graph, labels, where) for labels in endpoints)
    # Edges are sorted by source, then target: their keys rise.
    keys = graph.sources.astype(np.int64) * graph.n + graph.indices
    positions = np.searchsorted(keys, i * graph.n + j)
    linked = keys[np.minimum(positions, graph.m - 1)] == i * graph.n + j
    pairs = list(zip(*endpoints, strict=True))
    if not linked.all():
        row = int(np.argmin(linked))
        got = f"{pairs[row]!r}{where(row)}, which are not linked"
        raise checks.input_error(name, "name links of the graph", got)
    positions = positions if links is None else links[positions]
    if (twice := first_repeat(positions)) is not None:
        one, other = (pairs[row] for row in twice)
        got = f"{one!r} again" if one == other else f"{one!r} and {other!r}"
        cure = "" if links is None else "One reward is that of both directions."
        raise checks.input_error(name, "name no link twice", got + where(twice[1]), cure)
    return positions


def agents(name: str, graph: Graph, labels: list[Any], where: Where = nowhere) -> IntArray:
    """Return the numbers of agents given by name or number; blanks around a name do not count."""
    numbers = np.empty(len(labels), dtype=np.int64)
    for row, label in enumerate(labels):
        try:
            numbers[row] = graph.index(label.strip() if isinstance(label, str) else label)
        except InputError as error:
            text = str(error).replace("`agent`", f"`{name}`{where(row)}", 1)
            raise InputError(text) from None
    return numbers


def first_repeat(keys: IntArray) -> tuple[int, int] | None:
    """Return the positions of the first key that comes up again and of its repeat, or None."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if not again.size:
        return None
    k = again[np.argmin(order[again + 1])]
    return int(order[k]), int(order[k + 1])
