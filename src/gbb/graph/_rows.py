"""Rows of edges: agents as numbers or names, checked and numbered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray, input_error, suggest

Integers = NDArray[np.integer]
Names = tuple[str, ...] | None

# An edge (i, j) is sorted by its key i * n + j, which must fit in an int64.
MOST_AGENTS = math.isqrt(2**63 - 1)
SHAPE = "have shape (rows, 2), a source and a target per row"


class Rows(NamedTuple):
    """What ``Graph.from_edges`` takes: agents as numbers, one edge per row."""

    edges: Integers
    n: int
    names: Names
    undirected: bool
    line_of: Callable[[int], int] | None = None
    """The line of the file that a row stands on, for rows of a file that has lines."""
    positions: FloatArray | None = None
    """Where the agents stand, for a file that says so (n x 2)."""


def number_rows(
    edges: ArrayLike | Iterable[Sequence[Any]],
    *,
    n: int | None,
    names: Sequence[str] | None,
    undirected: bool,
) -> Rows:
    """Turn pairs of numbers or names into checked rows of agents 0..n-1."""
    if n is not None:
        n = checks.integer("n", n, low=1, high=MOST_AGENTS)
    if names is not None:
        n = len(names) if n is None else n
        names = checks.names("names", names, length=n)
    raw = _to_table(edges)
    if raw.dtype.kind in "UT" or (raw.dtype.kind == "O" and _infer_kind(raw) == "string"):
        raw, names = _number_names(raw, names, n)
        n = len(names)
    rows = _to_whole(raw)
    if n is None:
        if not len(rows):
            raise input_error(
                "n", "be given when `edges` is empty", None, "Pass n, the number of agents."
            )
        n = int(rows.max()) + 1
        check_gaps(n, len(rows), "Pass n, or turn other ids into strings to use them as names.")
    _check_range(rows, min(n, MOST_AGENTS))
    return Rows(rows, n, names if names is None else tuple(names), undirected)


def check_gaps(n: int, count: int, cure: str) -> None:
    """Refuse, before anything of that size is made, a number of agents that must be a slip."""
    if n > max(10**7, 100 * count):
        rule = "number the agents 0..n-1 without large gaps"
        raise input_error("edges", rule, f"{n - 1} among {count} rows", cure)


def _to_table(edges: ArrayLike | Iterable[Sequence[Any]]) -> NDArray[Any]:
    if not hasattr(edges, "__array__") and not isinstance(edges, Sequence):
        if not isinstance(edges, Iterable):
            raise input_error("edges", SHAPE, repr(edges))
        edges = cast("ArrayLike", list(edges))
    try:
        raw = np.asarray(edges)
    except ValueError:
        raise input_error("edges", SHAPE, "rows of different lengths") from None
    if raw.dtype.kind == "U" and not hasattr(edges, "__array__"):
        _refuse_missing(cast("Iterable[Sequence[Any]]", edges))  # numpy made "nan" of it
    if raw.shape == (0,):
        raw = np.empty((0, 2), dtype=np.int64)
    if raw.ndim != 2 or raw.shape[1] != 2:
        cure = "Did you mean edges.T?" if raw.ndim == 2 and raw.shape[0] == 2 else ""
        raise input_error("edges", SHAPE, f"shape {raw.shape}", cure)
    return raw


def _refuse_missing(edges: Iterable[Sequence[Any]]) -> None:
    for row, ends in enumerate(edges):
        if not isinstance(ends, str) and any(map(checks.is_missing, ends)):
            rule = "have a name for every agent"
            raise input_error("edges", rule, f"{tuple(ends)!r} at row {row}")


def _infer_kind(raw: NDArray[Any]) -> str:
    from pandas.api.types import infer_dtype  # noqa: PLC0415

    return str(infer_dtype(raw.ravel(), skipna=False))


def _number_names(
    raw: NDArray[Any], names: Sequence[str] | None, n: int | None
) -> tuple[IntArray, tuple[str, ...]]:
    """Number the agents by ``names``, or else in their order of first appearance."""
    import pandas as pd  # noqa: PLC0415

    codes, seen = pd.factorize(raw.astype(object).ravel())
    rows = np.asarray(codes, dtype=np.int64).reshape(-1, 2)
    if names is None:
        cure = "Pass names, one per agent, when some agents have no edge."
        if n is not None and n != len(seen):
            raise input_error("n", f"be the number of names in `edges`, {len(seen)}", n, cure)
        found = checks.names("names", list(seen), length=len(seen))
        return rows, found or ()
    place = pd.Index(np.array(names, dtype=object)).get_indexer(pd.Index(seen))
    if (place < 0).any():
        code = int(np.argmax(place < 0))
        row = int(np.argmax((rows == code).any(axis=1)))
        cure = suggest(str(seen[code]), names)
        raise input_error("edges", "use the given names", f"{seen[code]!r} at row {row}", cure)
    return np.asarray(place, dtype=np.int64)[rows], tuple(names)


def _to_whole(raw: NDArray[Any]) -> Integers:
    rule = "hold whole numbers, the agents from 0 on, or names"
    if raw.dtype.kind in "iu":
        return raw
    if raw.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            bad = ~((raw == np.floor(raw)) & (np.abs(raw) < 2.0**63)).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise input_error("edges", rule, f"{pair(raw[row])} at row {row}")
        return raw.astype(np.int64)
    kind = _infer_kind(raw)
    if kind == "integer":
        try:
            return raw.astype(np.int64)
        except OverflowError:
            raise input_error("edges", rule, "numbers beyond 64 bits") from None
    _refuse_missing(raw)
    raise input_error("edges", rule, f"values of type {kind}")


def _check_range(rows: Integers, n: int) -> None:
    if len(rows) and (rows.min() < 0 or rows.max() >= n):
        row = int(np.argmax(((rows < 0) | (rows >= n)).any(axis=1)))
        cure = "Count agents from 0; pass a larger n if there are more agents."
        rule = f"hold agents from 0 to {n - 1}"
        raise input_error("edges", rule, f"{pair(rows[row])} at row {row}", cure)


def pair(row: NDArray[Any], names: Names = None) -> str:
    """The edge in this row, by name where there are names."""
    first, second = (item if names is None else names[item] for item in row.tolist())
    return f"({first!r}, {second!r})"


def show(rows: Rows, row: int) -> str:
    """The edge in row number ``row`` and its line in the file, or else that number."""
    place = f"row {row}" if rows.line_of is None else f"line {rows.line_of(row)}"
    return f"{pair(rows.edges[row], rows.names)} at {place}"
