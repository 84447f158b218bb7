"""The contexts of rounds in a table: all rows of a round agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.contexts import Regimes
from gbb.controller.commands.bulk.cells import Cells
from gbb.controller.commands.bulk.entries import as_written
from gbb.controller.state.context_cells import context_columns
from gbb.problem import Problem


def read_contexts(
    problem: Problem, cells: Cells, rounds: IntArray, count: int
) -> FloatArray | None:
    """The row of each of ``count`` rounds; ``rounds`` says whose each row of the table is."""
    columns = context_columns(problem, "log")
    if not columns:
        return None
    if missing := [name for name in columns if name not in cells.columns]:
        raise cells.unfit(f"it has no column {missing[0]!r}, the context of its rounds")
    if taken := [name for name in columns if name in set(map(str, problem.graph.labels))]:
        raise cells.unfit(f"its column {taken[0]!r} is a context, and an agent is called so too")
    read = _read_regimes if isinstance(problem.contexts, Regimes) else _read_numbers
    table = read(problem, cells, columns)
    first = np.full(count, -1, dtype=np.int64)
    order = np.arange(len(rounds))[::-1]
    first[rounds[order]] = order
    apart = np.flatnonzero((table != table[first[rounds]]).any(axis=1))
    if apart.size:
        other = cells.line(int(first[rounds[apart[0]]]))
        raise cells.wrong(int(apart[0]), f"has another context than line {other}, the same round")
    return table[first]


def _read_regimes(problem: Problem, cells: Cells, columns: tuple[str, ...]) -> FloatArray:
    found = cells.coded(columns[0])
    if (found.codes < 0).any():
        raise cells.wrong(int(np.argmax(found.codes < 0)), f"has no {columns[0]!r}")
    rows = []
    for place, value in enumerate(found.values):
        row = int(np.argmax(found.codes == place))
        rows.append(_read(problem, cells, row, as_written(value)))
    return np.stack(rows)[found.codes] if rows else np.empty((0, 1))


def _read_numbers(problem: Problem, cells: Cells, columns: tuple[str, ...]) -> FloatArray:
    table = np.stack([cells.numbers(name) for name in columns], axis=1)
    if (lost := np.argwhere(np.isnan(table))).size:
        row, column = lost[0].tolist()
        raise cells.wrong(row, f"has no {columns[column]!r}")
    different, where = np.unique(table, axis=0, return_index=True)
    for values, row in zip(different, where.tolist(), strict=True):
        _read(problem, cells, row, values)
    return table


def _read(problem: Problem, cells: Cells, row: int, context: Any) -> FloatArray:
    assert problem.contexts is not None
    try:
        return problem.contexts.read(problem.graph, context)
    except InputError as error:
        raise cells.wrong(row, f"has no context: {str(error).rstrip('.')}") from None
