"""Graphs of networkx, and the files that networkx reads and writes: GraphML and node-link JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, input_error
from gbb.graph._doubts import doubt_weights
from gbb.graph._rows import Rows

if TYPE_CHECKING:
    from gbb.graph._graph import Graph

# GraphML has no whole-number node ids, so named graphs say that theirs are names.
NAMED = {"agents": "named"}


def from_networkx(g: Any, *, undirected: bool = False) -> Rows:
    """Rows of a networkx graph; ``undirected`` lets an edge of a DiGraph stand for both ways."""
    if not isinstance(g, nx.Graph):
        raise input_error("g", "be a networkx Graph or DiGraph", type(g).__name__)
    if g.is_multigraph():
        cure = "Convert it with networkx.Graph(g) or networkx.DiGraph(g)."
        raise input_error("g", "have one edge per pair of nodes", type(g).__name__, cure)
    nodes = list(g)
    if not nodes:
        raise input_error("g", "have at least one node", "none")
    place: dict[Hashable, int]
    if _are_numbers(nodes):
        place, names = {node: int(node) for node in nodes}, None
    else:
        place = {node: i for i, node in enumerate(nodes)}
        names = checks.names("node labels", nodes, length=len(nodes))
    doubt_weights(weight for _, _, weight in g.edges(data="weight", default=1))
    ends = [place[node] for pair in g.edges() for node in pair]
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
    stand = _positions([g.nodes[node] for node in sorted(nodes, key=place.__getitem__)])
    both = undirected or not g.is_directed()
    return Rows(edges, len(nodes), names, both, positions=stand)


def _positions(nodes: list[dict[str, Any]]) -> FloatArray | None:
    """Where the nodes stand, if all of them say so in numbers."""
    found = []
    for node in nodes:
        pair = (node["x"], node["y"]) if "x" in node and "y" in node else node.get("pos")
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            return None
        numbers = [checks.number_in(value) for value in pair]
        if any(value is None or not math.isfinite(value) for value in numbers):
            return None
        found.append(numbers)
    return np.array(found, dtype=np.float64)


def to_networkx(graph: Graph) -> Any:
    """An undirected networkx graph on the agents' labels."""
    g = nx.Graph()
    g.add_nodes_from(graph.labels)
    if graph.positions is not None:
        for label, (x, y) in zip(graph.labels, graph.positions.tolist(), strict=True):
            g.nodes[label].update(x=x, y=y)
    once = (graph.sources < graph.indices).nonzero()[0]
    ends = graph.edges[once].tolist()
    labels = graph.labels
    g.add_edges_from((labels[i], labels[j]) for i, j in ends)
    return g


def read_graphml(path: Path, undirected: bool) -> Rows:
    """Rows of a GraphML file."""
    g = nx.read_graphml(path)
    ids = set(g)
    if g.graph.get("agents") != "named" and ids == {str(i) for i in range(len(ids))}:
        g = nx.relabel_nodes(g, int)
    return from_networkx(g, undirected=undirected)


def write_graphml(graph: Graph, path: Path) -> None:
    """Write an undirected GraphML file whose node ids are the labels."""
    g = to_networkx(graph)
    g.graph.update(NAMED if graph.names is not None else {})
    nx.write_graphml(g, path)


def read_json(path: Path, undirected: bool) -> Rows:
    """Rows of a node-link JSON file, whose edges stand under ``edges`` or ``links``."""
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise InputError("it is not node-link JSON: an object with 'nodes' and 'edges' is needed.")
    key = next((key for key in ("edges", "links") if isinstance(data.get(key), list)), None)
    if key is None:
        raise InputError("it is not node-link JSON: there is no list 'edges' or 'links'.")
    g = nx.node_link_graph({"multigraph": False, **data}, edges=key)
    if g.number_of_nodes() != len(data["nodes"]):
        raise InputError("node ids must be distinct and edges must join listed nodes.")
    return from_networkx(g, undirected=undirected)


def write_json(graph: Graph, path: Path) -> None:
    """Write node-link JSON whose ids are the labels."""
    data = nx.node_link_data(to_networkx(graph), edges="edges")
    path.write_text(json.dumps(data), encoding="utf-8")


def _are_numbers(nodes: list[Any]) -> bool:
    whole = all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in nodes)
    return whole and set(nodes) == set(range(len(nodes)))
