"""What is known of each link: its type, its weight, which arms its ends may play."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.graph import Graph

FEEDBACKS = ("edge", "agent", "global")
"""What a round reports: a number per directed edge, per agent (the sum over its edges), or one."""

LARGEST_WEIGHT = 1e50

MOST_TYPES = 1000
"""So many types may always be named; beyond that at most one for each directed edge."""


def positions(name: str, graph: Graph, sources: list[Any], targets: list[Any]) -> IntArray:
    """Places in edge order of the links from ``sources`` to ``targets``, each there and named once."""
    i, j = agents(name, graph, sources), agents(name, graph, targets)
    # Edges are sorted by source, then target: their keys rise.
    keys = graph.sources.astype(np.int64) * graph.n + graph.indices
    wanted = i * graph.n + j
    places = np.searchsorted(keys, wanted)
    known = keys[np.minimum(places, graph.m - 1)] == wanted
    if not known.all():
        row = int(np.argmin(known))
        pair = f"({sources[row]!r}, {targets[row]!r})"
        raise checks.input_error(name, "name links of the graph", f"no link {pair}")
    if (again := repeated(places)) is not None:
        pair = f"({sources[again]!r}, {targets[again]!r})"
        raise checks.input_error(name, "name every link once", f"{pair} twice")
    return places


def agents(name: str, graph: Graph, given: list[Any]) -> IntArray:
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


def repeated(places: IntArray) -> int | None:
    """Where a place comes up for the second time; None when each does once."""
    order = np.argsort(places, kind="stable")
    again = np.flatnonzero(places[order[1:]] == places[order[:-1]])
    return int(order[again[0] + 1]) if again.size else None


def edge_types(graph: Graph, given: ArrayLike | None) -> IntArray | None:
    """The type of each directed edge; None when there is one type only.

    ``"source"`` gives every agent a matrix of its own: edge (i, j) has type i.
    """
    if given is None:
        return None
    if isinstance(given, str):
        checks.choice("edge_types", given, ["source"])
        return _several(np.array(graph.sources, dtype=np.int64))
    raw = np.asarray(given)
    high = graph.m if raw.size == 0 or raw.dtype.kind not in "iu" else max(1, int(raw.max()) + 1)
    if high > (most := max(graph.m, MOST_TYPES)):
        rule = f"number the types from 0 on, at most {most - 1}"
        raise checks.input_error("edge_types", rule, high - 1)
    meaning = "one type per directed edge"
    return _several(checks.indices("edge_types", raw, length=graph.m, high=high, meaning=meaning))


def _several(types: IntArray) -> IntArray | None:
    return checks.frozen(types) if types.any() else None


def edge_weights(graph: Graph, given: ArrayLike | None) -> FloatArray | None:
    """The weight of each directed edge, 0 for one that pays nothing; None when all are 1."""
    if given is None:
        return None
    weights = checks.array(
        "edge_weights", given, shape=(graph.m,), meaning="one weight per directed edge"
    )
    if (largest := float(np.abs(weights).max())) == 0.0 or largest > LARGEST_WEIGHT:
        rule = f"hold weights that are not all zero, none beyond {LARGEST_WEIGHT:g}"
        raise checks.input_error("edge_weights", rule, largest)
    return None if (weights == 1.0).all() else weights


def allowed(graph: Graph, K: int, given: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Which arms each agent may play (n x K); None when all may play all."""
    if given is None:
        return None
    mask, shape = np.array(given), (graph.n, K)
    if mask.shape != shape or mask.dtype != np.bool_:
        got = f"{mask.dtype} of shape {mask.shape}"
        raise checks.input_error("allowed", f"be a boolean array of shape {shape}, n x K", got)
    if not mask.any(axis=1).all():
        agent = graph.label(int(np.argmin(mask.any(axis=1))))
        raise checks.input_error("allowed", "leave every agent an arm", f"none for agent {agent!r}")
    return None if mask.all() else checks.frozen(mask)
