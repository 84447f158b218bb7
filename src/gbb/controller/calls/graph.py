"""A graph as a request gives it: rows of links, with their types and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.controller.state.report import Label
from gbb.graph import Graph, find


def read_graph(
    edges: Sequence[tuple[Label, Label]],
    undirected: bool = False,
    names: Sequence[Label] | None = None,
    *,
    agents: int | None = None,
    types: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    features: Sequence[Sequence[float]] | None = None,
    positions: Sequence[Sequence[float]] | None = None,
) -> tuple[Graph, dict[str, Any]]:
    """The graph of ``edges``, and what is given of its directed edges: types and weights, or features.

    One of each for each row, which stands for both directions if ``undirected``.
    """
    if any(isinstance(agent, str) for pair in edges for agent in pair):  # then all have names
        edges = [(str(one), str(other)) for one, other in edges]
    order = None if names is None else [str(name) for name in names]
    if len({len(place) for place in positions or ()}) > 1:
        raise checks.input_error("positions", "be two numbers for each agent", "others")
    graph = Graph.from_edges(
        edges, n=agents, names=order, undirected=undirected, positions=positions
    )
    links: dict[str, Any] = {}
    for name, values in (("types", types), ("weights", weights)):
        if values is not None:
            links[f"edge_{name}"] = _place(name, values, graph, edges, undirected)
    if types is not None:
        if any(not isinstance(each, int) for each in types):
            raise checks.input_error("types", "hold whole numbers", "one that is none")
        links["edge_types"] = links["edge_types"].astype(np.int64)
    if features is not None:
        if len({len(row) for row in features}) > 1:
            raise checks.input_error("features", "have as many numbers for every edge", "others")
        columns = list(zip(*features, strict=True))
        each = [_place("features", column, graph, edges, undirected) for column in columns]
        links["features"] = np.stack(each, axis=1) if each else np.empty((graph.m, 0))
    return graph, links


def _place(
    name: str,
    values: Sequence[float],
    graph: Graph,
    edges: Sequence[tuple[Label, Label]],
    undirected: bool,
) -> FloatArray:
    """The values of rows in the graph's edge order."""
    if len(values) != len(edges):
        raise checks.input_error(
            name, f"have one number for each of {len(edges)} edges", len(values)
        )
    ends = [edge[0] for edge in edges], [edge[1] for edge in edges]
    places = find.edges("edges", graph, ends)
    found = np.empty(graph.m)
    found[places] = values
    if undirected:
        found[graph.reverse[places]] = values
    return found
