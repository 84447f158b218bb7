"""From rows (source, target) or a sparse matrix to the symmetric CSR pattern of a graph."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import IntArray, input_error, suggest
from gbb.graph import find

Integers = NDArray[np.integer]

# An edge (i, j) is sorted by its key i * n + j, which must fit in an int64.
MAX_AGENTS = math.isqrt(2**63 - 1)

MIN_EDGES_FOR_SCIPY = 100_000
"""Below so many edges sorting is quicker than importing scipy."""

BYTES_PER_AGENT = 40
"""Peak memory of building and checking ``indptr``."""

SHAPE = "have shape (rows, 2), a source and a target per row"


class Rows(NamedTuple):
    """Edges as rows of agents' numbers, with what else a file may say of the graph.

    ``lines`` are the lines of the file that the rows stand on; ``undirected`` says that a row stands for
    both directions.
    """

    edges: IntArray
    n: int
    names: tuple[str, ...] | None
    undirected: bool
    lines: IntArray | None = None
    positions: Any = None

    def show(self, row: int) -> str:
        """Return the edge in a row, by name if agents have names, and where it stands."""
        i, j = (k if self.names is None else self.names[k] for k in self.edges[row].tolist())
        where = f"row {row}" if self.lines is None else f"line {self.lines[row]}"
        return f"({i!r}, {j!r}) at {where}"


def number_rows(
    edges: ArrayLike | Iterable[Sequence[Any]],
    *,
    n: int | None,
    names: Sequence[str] | None,
    undirected: bool,
) -> Rows:
    """Check rows of numbers or names, and number the agents 0..n-1."""
    raw = _as_table(edges)
    named = raw.size > 0 and isinstance(raw.flat[0], str)
    _check_cells(raw, named)
    if named:
        cells = raw.ravel().tolist()
        names = tuple(dict.fromkeys(cells)) if names is None else names
        number = {name: i for i, name in enumerate(names)}
        numbers = np.array([number.get(cell, -1) for cell in cells], np.int64).reshape(-1, 2)
    else:
        numbers = raw.astype(np.int64, copy=False)
    if n is None:
        n = _count_agents(numbers) if names is None else len(names)
    n = checks.integer("n", n, low=1, high=MAX_AGENTS)
    names = checks.names("names", names, length=n)
    unknown = ((numbers < 0) | (numbers >= n)).any(axis=1)
    if unknown.any():
        row = int(np.argmax(unknown))
        rule = f"hold agents from 0 to {n - 1}"
        cure = "Count agents from 0; pass a larger n if there are more agents."
        if named:
            rule, cure = "use the given names", suggest(raw[row, np.argmin(numbers[row])], number)
        raise input_error("edges", rule, f"{tuple(raw[row].tolist())} at row {row}", cure)
    return Rows(numbers, n, names, undirected)


def _as_table(edges: ArrayLike | Iterable[Sequence[Any]]) -> NDArray[Any]:
    """The rows as an array with two columns."""
    try:
        if not hasattr(edges, "__array__"):
            edges = list(cast("Iterable[Sequence[Any]]", edges))
        raw = np.asarray(edges)
    except (TypeError, ValueError):  # no rows, or rows of several lengths
        raise input_error("edges", SHAPE, repr(edges)) from None
    if not raw.size:
        return np.empty((0, 2), dtype=np.int64)
    if raw.ndim != 2 or raw.shape[1] != 2:
        cure = "Did you mean edges.T?" if raw.ndim == 2 and len(raw) == 2 else ""
        raise input_error("edges", SHAPE, f"shape {raw.shape}", cure)
    if raw.dtype.kind == "U" and isinstance(edges, list):
        return np.array(edges, dtype=object)  # numpy has made the name "nan" of a NaN
    return raw


def _check_cells(raw: NDArray[Any], named: bool) -> None:
    """Refuse what is no name if the first cell is one, and no whole number otherwise."""
    if raw.dtype.kind in "iuU":
        return

    def is_valid(cell: object) -> bool:
        # numpy makes floats or objects of numbers beside NaN, None or 2**70.
        if named or isinstance(cell, str):
            return named and isinstance(cell, str)
        number = checks.number_in(cell)
        return number is not None and number.is_integer() and abs(number) < 2.0**63

    valid = np.frompyfunc(is_valid, 1, 1)(raw).astype(bool).all(axis=1)
    if not valid.all():
        row = int(np.argmin(valid))
        rule = "hold whole numbers, the agents from 0 on, or a name for every agent"
        raise input_error("edges", rule, f"{tuple(raw[row].tolist())} at row {row}")


def _count_agents(numbers: IntArray) -> int:
    """The largest number plus one."""
    if not len(numbers):
        cure = "Pass n, the number of agents."
        raise input_error("n", "be given when `edges` is empty", None, cure)
    n = int(numbers.max()) + 1
    # Ids of devices, say: a graph of mostly isolated agents is not what anybody means.
    if n > max(10**7, 100 * len(numbers)):
        cure = "Pass n, or turn other ids into strings to use them as names."
        got = f"{n - 1} among {len(numbers)} rows"
        raise input_error("edges", "number the agents 0..n-1 without large gaps", got, cure)
    return n


def pattern(rows: Rows) -> tuple[IntArray, Integers]:
    """Return ``indptr`` and sorted ``indices`` of rows without self loops or duplicates."""
    n, source, target = rows.n, rows.edges[:, 0], rows.edges[:, 1]
    checks.require_memory("n", BYTES_PER_AGENT * n, cure="Leave out agents without an edge.")
    if (loops := source == target).any():
        where = rows.show(int(np.argmax(loops)))
        raise input_error("edges", "join different agents", where, "Remove the self loops.")
    there, back = source * n + target, target * n + source
    keys = np.sort(np.concatenate((there, back)) if rows.undirected else there)
    if (keys[1:] == keys[:-1]).any():
        twice = find.first_repeat(np.minimum(there, back) if rows.undirected else there)
        first, second = map(rows.show, twice or ())
        cure = "Remove the duplicates; leave out undirected=True if rows hold both directions."
        raise input_error("edges", "hold each edge once", f"{second} after {first}", cure)
    indptr = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    indices: Integers = (keys % n).astype(index_type(n))
    if not rows.undirected and find_reverse(indptr, indices) is None:
        row = int(np.argmin(np.isin(back, there)))
        cure = "Pass undirected=True if each row stands for both directions."
        got = f"{rows.show(row)} without the edge back"
        raise input_error("edges", "hold both directions of every edge", got, cure)
    return indptr, indices


def index_type(n: int) -> np.dtype[np.integer]:
    """Return the smallest integer type that numbers ``n`` agents."""
    # Half the memory traffic of the compiled loops over edges.
    return np.dtype(np.int32 if n < 2**31 else np.int64)


def find_reverse(indptr: IntArray, indices: Integers) -> IntArray | None:
    """Return the position of (j, i) for each (i, j) of the sorted pattern; None if one is missing."""
    n, m = len(indptr) - 1, len(indices)
    if m > MIN_EDGES_FOR_SCIPY:
        from scipy import sparse  # noqa: PLC0415

        positions = np.arange(m, dtype=np.int64)
        turned = sparse.csr_array((positions, indices, indptr), shape=(n, n)).tocsc()
        same = np.array_equal(turned.indptr, indptr) and np.array_equal(turned.indices, indices)
        return turned.data.astype(np.int64, copy=False) if same else None
    sources = np.repeat(np.arange(n, dtype=np.int64), np.diff(indptr))
    # Edges sorted by target, then source, are the edges back of those sorted by source, then target.
    back = np.argsort(indices * np.int64(n) + sources)
    same = np.array_equal(indices[back], sources) and np.array_equal(sources[back], indices)
    return back if same else None


def is_pattern(indptr: IntArray, indices: Integers) -> bool:
    """Return whether rows are strictly increasing, in range, without diagonal, and symmetric."""
    n, sizes = len(indptr) - 1, np.diff(indptr)
    if indices.ndim != 1 or indptr[0] or indptr[-1] != len(indices) or (sizes < 0).any():
        return False
    sources = np.repeat(np.arange(n, dtype=np.int64), sizes)
    inside = (indices >= 0) & (indices < n) & (indices != sources)
    # Keys that rise are rows that rise: agents are in range, as `inside` says.
    rising = np.diff(sources * n + indices) > 0
    return bool(inside.all() and rising.all()) and find_reverse(indptr, indices) is not None
