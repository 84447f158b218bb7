"""A graph as a request describes it: rows of links, with their types and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gbb import cuts
from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.controller.state.report import Label
from gbb.controller.types import Fields, Flag, Integer, Labels, Matrix, Numbers, Pairs, Text
from gbb.graph import Graph, find


class GraphSpec(Fields):
    """Links as rows, each for both directions if ``undirected``; what is given of them is by row."""

    edges: Pairs
    undirected: Flag = False
    agents: Integer | None = None
    names: Labels = None
    types: Numbers | None = None
    weights: Numbers | None = None
    features: Matrix | None = None
    positions: Matrix | None = None

    def build(self) -> tuple[Graph, dict[str, Any]]:
        """Return the graph and what is given of its directed edges: types and weights, or features."""
        edges = self.edges
        if any(isinstance(agent, str) for pair in edges for agent in pair):  # then all have names
            edges = [(str(one), str(other)) for one, other in edges]
        order = None if self.names is None else [str(name) for name in self.names]
        if len({len(place) for place in self.positions or ()}) > 1:
            raise checks.input_error("positions", "be two numbers for each agent", "others")
        graph = Graph.from_edges(
            edges,
            n=self.agents,
            names=order,
            undirected=self.undirected,
            positions=self.positions,
        )
        links: dict[str, Any] = {}
        if self.types is not None:
            if any(not isinstance(each, int) for each in self.types):
                raise checks.input_error("types", "hold whole numbers", "one that is none")
            types = _place("types", self.types, graph, edges, self.undirected)
            links["edge_types"] = types.astype(np.int64)
        if self.weights is not None:
            links["edge_weights"] = _place("weights", self.weights, graph, edges, self.undirected)
        if self.features is not None:
            if len({len(row) for row in self.features}) > 1:
                rule = "have as many numbers for every edge"
                raise checks.input_error("features", rule, "others")
            columns = list(zip(*self.features, strict=True))
            each = [_place("features", col, graph, edges, self.undirected) for col in columns]
            links["features"] = np.stack(each, axis=1) if each else np.empty((graph.m, 0))
        return graph, links


class GraphAndCut(GraphSpec):
    """The same, with the name of a method that cuts it."""

    cut: Text = ""


def cut_setting(method: str, graph: Graph) -> dict[str, Any]:
    """Return the setting for a cut by the named method; none where there is no name."""
    return {"cut": cuts.find(method, argument="cut")(graph, seed=0)} if method else {}


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
