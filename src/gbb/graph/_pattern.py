"""Rows of edges sorted into the CSR pattern of a graph."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import InputError, IntArray, input_error
from gbb.graph._rows import Integers, Rows, pair, show
from gbb.graph.lookup import find_repeat

SMALL = 100_000
"""Edges up to which sorting is quicker than loading scipy."""


def pattern(rows: Rows) -> tuple[IntArray, Integers]:
    """``indptr`` and sorted ``indices`` of rows without self loops or duplicates."""
    source, target, n, count = rows.edges[:, 0], rows.edges[:, 1], rows.n, len(rows.edges)
    loops = source == target
    if loops.any():
        where = show(rows, int(np.argmax(loops)))
        raise input_error("edges", "join different agents", where, "Remove the self loops.")
    keys = np.empty(2 * count if rows.undirected else count, dtype=np.int64)
    _keys(source, target, n, keys[:count])
    if rows.undirected:
        _keys(target, source, n, keys[count:])
    keys.sort()
    if (keys[1:] == keys[:-1]).any():
        raise _name_duplicate(rows)
    indptr = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    np.remainder(keys, n, out=keys)
    indices: Integers = keys.astype(index_type(n))
    del keys
    if not rows.undirected and not is_symmetric(indptr, indices):
        raise _name_one_way(rows)
    return indptr, indices


def index_type(n: int) -> np.dtype[np.integer]:
    """The smallest integer type that numbers ``n`` agents."""
    return np.dtype(np.int32 if n < 2**31 else np.int64)


def is_symmetric(indptr: IntArray, indices: Integers) -> bool:
    """Whether (j, i) is in the sorted pattern whenever (i, j) is."""
    return find_reverse(indptr, indices) is not None


def find_reverse(indptr: IntArray, indices: Integers) -> IntArray | None:
    """Position of (j, i) for each (i, j) of the sorted pattern; None when one is missing."""
    n, m = len(indptr) - 1, len(indices)
    if m > SMALL:
        from scipy import sparse  # noqa: PLC0415

        positions = np.arange(m, dtype=np.int64)
        turned = sparse.csr_array((positions, indices, indptr), shape=(n, n)).tocsc()
        alike = np.array_equal(turned.indptr, indptr) and np.array_equal(turned.indices, indices)
        return turned.data.astype(np.int64, copy=False) if alike else None
    sources = np.repeat(np.arange(n, dtype=np.int64), np.diff(indptr))
    found = np.argsort(indices * np.int64(n) + sources)
    alike = np.array_equal(indices[found], sources) and np.array_equal(sources[found], indices)
    return found if alike else None


def is_pattern(indptr: IntArray, indices: Integers) -> bool:
    """Whether rows are strictly increasing, in range, without diagonal, and symmetric."""
    n, m = len(indptr) - 1, len(indices)
    if indices.ndim != 1 or indptr[0] != 0 or indptr[-1] != m or (np.diff(indptr) < 0).any():
        return False
    if m == 0:
        return True
    if indices.min() < 0 or indices.max() >= n:
        return False
    rising = np.empty(m, dtype=bool)
    rising[1:] = indices[1:] > indices[:-1]
    rising[indptr[:-1][indptr[:-1] < m]] = True
    loops = indices == np.repeat(np.arange(n, dtype=indices.dtype), np.diff(indptr))
    return bool(rising.all()) and not loops.any() and is_symmetric(indptr, indices)


def _keys(source: Integers, target: Integers, n: int, out: IntArray | None = None) -> IntArray:
    keys: IntArray = np.multiply(source, n, out=out, dtype=np.int64, casting="same_kind")
    return np.add(keys, target, out=keys, dtype=np.int64, casting="same_kind")


def _name_duplicate(rows: Rows) -> InputError:
    edges = np.sort(rows.edges, axis=1) if rows.undirected else rows.edges
    twice = find_repeat(_keys(edges[:, 0], edges[:, 1], rows.n))
    assert twice is not None
    first, second = twice
    value = f"{show(rows, second)} after {show(rows, first)}"
    if rows.edges[first, 0] != rows.edges[second, 0]:
        cure = "The rows already hold both directions: leave out undirected=True."
        return input_error("edges", "hold each undirected edge once", value, cure)
    return input_error("edges", "hold each edge once", value, "Remove the duplicates.")


def _name_one_way(rows: Rows) -> InputError:
    source, target, n = rows.edges[:, 0], rows.edges[:, 1], rows.n
    there, back = np.sort(_keys(source, target, n)), _keys(target, source, n)
    place = np.minimum(np.searchsorted(there, back), len(there) - 1)
    row = int(np.argmax(there[place] != back))
    value = f"{show(rows, row)} without {pair(rows.edges[row, ::-1], rows.names)}"
    cure = "Pass undirected=True if each row stands for both directions."
    return input_error("edges", "hold both directions of every edge", value, cure)
