"""Matrices of scipy.sparse, and what scipy knows of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gbb._support import checks
from gbb._support.checks import IntArray, input_error
from gbb.graph._pattern import is_symmetric
from gbb.graph._rows import Integers, Names

if TYPE_CHECKING:
    from gbb.graph._graph import Graph


def from_sparse(matrix: Any, names: Sequence[str] | None) -> tuple[IntArray, Integers, Names]:
    """``indptr``, ``indices`` and names of the pattern of a sparse matrix."""
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


def to_sparse(graph: Graph) -> sparse.csr_array[np.float64, tuple[int, int]]:
    """The adjacency matrix, float64 ones, as a ``csr_array`` of its own memory."""
    entries = (np.ones(graph.m), graph.indices, graph.indptr)
    return sparse.csr_array(entries, shape=(graph.n, graph.n), copy=True)


def count_components(graph: Graph) -> int:
    """Number of connected components."""
    ones = np.ones(graph.m, dtype=np.int8)
    matrix = sparse.csr_array((ones, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    # Every edge goes both ways, so strong components need no transposed copy.
    return int(csgraph.connected_components(matrix, connection="strong")[0])
