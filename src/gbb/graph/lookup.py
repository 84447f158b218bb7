"""Agents and edges found by name or number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError, IntArray

if TYPE_CHECKING:
    from gbb.graph._graph import Graph

Where = Callable[[int], str]
"""What a message adds of where a row stands: `` on line 3 of 'rewards.csv'``."""


def nowhere(_row: int) -> str:
    """Nothing is known of where rows stand."""
    return ""


def find_edges(
    name: str, graph: Graph, sources: list[Any], targets: list[Any], where: Where = nowhere
) -> IntArray:
    """Positions in edge order of the edges from ``sources`` to ``targets``, none of them twice.

    Errors call the argument that holds them ``name``, and say ``where`` in it.
    """
    places = _find_edges(name, graph, (sources, targets), where)
    if (twice := find_repeat(places)) is not None:
        pair = f"({sources[twice[1]]!r}, {targets[twice[1]]!r})"
        raise checks.input_error(name, "name no link twice", f"{pair} again{where(twice[1])}")
    return places


def find_links(
    name: str,
    graph: Graph,
    ends: tuple[list[Any], list[Any]],
    numbers: IntArray,
    where: Where = nowhere,
) -> IntArray:
    """The numbers of the links between two ends, given in either order, none of them twice.

    ``numbers`` has that of each edge's link.
    """
    links = numbers[_find_edges(name, graph, ends, where)]
    if (twice := find_repeat(links)) is not None:
        one, other = (f"({ends[0][row]!r}, {ends[1][row]!r})" for row in twice)
        got = f"{one} again" if one == other else f"{one} and {other}"
        cure = "One reward is that of both directions."
        raise checks.input_error(name, "name no link twice", got + where(twice[1]), cure)
    return links


def _find_edges(
    name: str, graph: Graph, ends: tuple[list[Any], list[Any]], where: Where
) -> IntArray:
    """Positions in edge order of the edges between two ends."""
    i, j = (find_agents(name, graph, each, where) for each in ends)
    # Edges are sorted by source, then target: their keys rise.
    keys = graph.sources.astype(np.int64) * graph.n + graph.indices
    wanted = i * graph.n + j
    places = np.searchsorted(keys, wanted)
    known = keys[np.minimum(places, graph.m - 1)] == wanted
    if not known.all():
        row = int(np.argmin(known))
        one, other = (each[row] for each in ends)
        got = f"({one!r}, {other!r}){where(row)}, which are not linked"
        raise checks.input_error(name, "name links of the graph", got)
    return places


def find_agents(name: str, graph: Graph, given: list[Any], where: Where = nowhere) -> IntArray:
    """The numbers of agents given by name or number, with or without blanks around."""
    places: dict[Any, int] = {}
    for row, agent in enumerate(given):
        try:
            known = agent in places
        except TypeError:  # a list or the like
            rule = "have a name or number for every agent"
            raise checks.input_error(name, rule, f"{agent!r}{where(row)}") from None
        if not known:
            plain = agent.item() if isinstance(agent, np.generic) else agent
            try:
                places[agent] = graph.index(plain.strip() if isinstance(plain, str) else plain)
            except InputError as error:
                here = f"`{name}`{where(row)}"
                raise InputError(str(error).replace("`agent`", here, 1)) from None
    return np.array([places[agent] for agent in given], dtype=np.int64)


def find_repeat(keys: IntArray) -> tuple[int, int] | None:
    """Where the first key that comes up again stands, and where it stands again; None if none does."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if not again.size:
        return None
    k = again[np.argmin(order[again + 1])]
    return int(order[k]), int(order[k + 1])
