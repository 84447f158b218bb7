"""Graphs of networkx and matrices of scipy.sparse."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gbb._support import checks
from gbb._support.checks import IntArray, input_error
from gbb.graph._pattern import is_symmetric
from gbb.graph._rows import Integers, Names, Rows

if TYPE_CHECKING:
    from gbb.graph._graph import Graph


def from_networkx(g: Any, *, undirected: bool = False) -> Rows:
    """Rows of a networkx graph; ``undirected`` lets an edge of a DiGraph stand for both ways."""
    import networkx as nx  # noqa: PLC0415

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
    ends = [place[node] for pair in g.edges() for node in pair]
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return Rows(edges, len(nodes), names, undirected or not g.is_directed())


def to_networkx(graph: Graph) -> Any:
    """An undirected networkx graph on the agents' labels."""
    import networkx as nx  # noqa: PLC0415

    g = nx.Graph()
    g.add_nodes_from(graph.labels)
    once = (graph.sources < graph.indices).nonzero()[0]
    ends = graph.edges[once].tolist()
    labels = graph.labels
    g.add_edges_from((labels[i], labels[j]) for i, j in ends)
    return g


def from_sparse(matrix: Any, names: Sequence[str] | None) -> tuple[IntArray, Integers, Names]:
    """``indptr``, ``indices`` and names of the pattern of a sparse matrix."""
    from scipy import sparse  # noqa: PLC0415

    if not sparse.issparse(matrix):
        cure = "Wrap a dense array with scipy.sparse.csr_array."
        raise input_error("matrix", "be a scipy.sparse array", type(matrix).__name__, cure)
    matrix = cast("Any", matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 1:
        raise input_error("matrix", "be square, one row per agent", f"shape {matrix.shape}")
    csr: Any = sparse.csr_array(matrix, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    diagonal = csr.diagonal() != 0
    if diagonal.any():
        where = int(np.argmax(diagonal))
        cure = "No agent is its own neighbour."
        raise input_error(
            "matrix", "have a zero diagonal", f"a non-zero at ({where}, {where})", cure
        )
    indptr = csr.indptr.astype(np.int64)
    if not is_symmetric(indptr, csr.indices):
        ones = sparse.csr_array(
            (np.ones(csr.nnz, dtype=np.int8), csr.indices, csr.indptr), shape=csr.shape
        )
        alone = sparse.coo_array(ones > ones.T)
        i, j = int(alone.coords[0][0]), int(alone.coords[1][0])
        cure = "Pass matrix + matrix.T if each entry stands for both directions."
        value = f"a non-zero at ({i}, {j}) and none at ({j}, {i})"
        raise input_error("matrix", "have a symmetric pattern", value, cure)
    return indptr, csr.indices, checks.names("names", names, length=len(indptr) - 1)


def to_sparse(graph: Graph) -> Any:
    """The adjacency matrix, float64 ones, as a ``csr_array`` of its own memory."""
    from scipy import sparse  # noqa: PLC0415

    entries = (np.ones(graph.m), graph.indices, graph.indptr)
    return sparse.csr_array(entries, shape=(graph.n, graph.n), copy=True)


def _are_numbers(nodes: list[Any]) -> bool:
    whole = all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in nodes)
    return whole and set(nodes) == set(range(len(nodes)))
