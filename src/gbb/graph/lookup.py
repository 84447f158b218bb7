"""Agents and edges found by name or number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError, IntArray

if TYPE_CHECKING:
    from gbb.graph._graph import Graph


def find_edges(name: str, graph: Graph, sources: list[Any], targets: list[Any]) -> IntArray:
    """Positions in edge order of the edges from ``sources`` to ``targets``, none of them twice.

    Errors call the argument that holds them ``name``.
    """
    places = _find_edges(name, graph, sources, targets)
    if (twice := find_repeat(places)) is not None:
        pair = f"({sources[twice[1]]!r}, {targets[twice[1]]!r})"
        raise checks.input_error(name, "name every link once", f"{pair} twice")
    return places


def find_links(
    name: str, graph: Graph, ends: tuple[list[Any], list[Any]], numbers: IntArray
) -> IntArray:
    """The numbers of the links between two ends, given in either order, none of them twice.

    ``numbers`` has that of each edge's link.
    """
    links = numbers[_find_edges(name, graph, *ends)]
    if (twice := find_repeat(links)) is not None:
        one, other = (f"({ends[0][row]!r}, {ends[1][row]!r})" for row in twice)
        got = f"{one} twice" if one == other else f"{one} and {other}"
        cure = "One reward is that of both directions."
        raise checks.input_error(name, "name every link once", got, cure)
    return links


def _find_edges(name: str, graph: Graph, sources: list[Any], targets: list[Any]) -> IntArray:
    """Positions in edge order of the edges from ``sources`` to ``targets``."""
    i, j = find_agents(name, graph, sources), find_agents(name, graph, targets)
    # Edges are sorted by source, then target: their keys rise.
    keys = graph.sources.astype(np.int64) * graph.n + graph.indices
    wanted = i * graph.n + j
    places = np.searchsorted(keys, wanted)
    known = keys[np.minimum(places, graph.m - 1)] == wanted
    if not known.all():
        row = int(np.argmin(known))
        pair = f"({sources[row]!r}, {targets[row]!r})"
        raise checks.input_error(name, "name links of the graph", f"no link {pair}")
    return places


def find_agents(name: str, graph: Graph, given: list[Any]) -> IntArray:
    """The numbers of agents given by name or number, with or without blanks around."""
    places: dict[Any, int] = {}
    for agent in given:
        try:
            known = agent in places
        except TypeError:  # a list or the like
            rule = "have a name or number for every agent"
            raise checks.input_error(name, rule, repr(agent)) from None
        if not known:
            plain = agent.item() if isinstance(agent, np.generic) else agent
            try:
                places[agent] = graph.index(plain.strip() if isinstance(plain, str) else plain)
            except InputError as error:
                raise InputError(str(error).replace("`agent`", f"`agent` in `{name}`")) from None
    return np.array([places[agent] for agent in given], dtype=np.int64)


def find_repeat(keys: IntArray) -> tuple[int, int] | None:
    """Where the first key that comes up again stands, and where it stands again; None if none does."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if not again.size:
        return None
    k = again[np.argmin(order[again + 1])]
    return int(order[k]), int(order[k + 1])
