"""Rounds in long form, a row for each reward, or in wide form, a row for each round."""

from __future__ import annotations

import warnings

import numpy as np

from gbb._support import checks
from gbb.controller.commands.bulk.cells import Cells
from gbb.controller.commands.bulk.contexts import read_contexts
from gbb.controller.commands.bulk.entries import Entries, as_written
from gbb.controller.commands.bulk.long import is_long, read_long
from gbb.controller.commands.bulk.wide import read_wide
from gbb.controller.state.context_cells import context_columns
from gbb.problem import Problem

KEYS = ("key", "round", "trial")
"""Columns that tell rounds apart, the first that is there."""

OTHERS = {"trial", "time", "round", "key", "event"}
"""Columns that say nothing of what was played and paid."""


def read_entries(problem: Problem, cells: Cells, key: str | None, prefix: str) -> Entries:
    """All that the table says; ``key`` is the column that tells rounds apart."""
    column = _key_column(cells, key)
    found = cells.coded(column)
    if (found.codes < 0).any():
        raise cells.wrong(int(np.argmax(found.codes < 0)), f"has no {column!r}")
    read = (read_long if is_long(problem, cells) else read_wide)(problem, cells, found.codes)
    contexts = read_contexts(problem, cells, found.codes, len(found.values))
    _leave_out(cells, {*read.known, column, *context_columns(problem, "log")})
    if not cells.rows:
        raise cells.unfit("it holds a header only")
    keys = [f"{prefix}{as_written(value)}" for value in found.values]
    return Entries(keys, read.arms, read.paid, read.rewards, read.missing, contexts)


def _key_column(cells: Cells, key: str | None) -> str:
    """The column that tells rounds apart."""
    if key is not None and not isinstance(key, str):
        raise checks.input_error("key", "be the name of a column", repr(key))
    if key is not None and key not in cells.columns:
        rule = "name a column of the table"
        raise checks.input_error("key", rule, repr(key), checks.suggest(key, cells.columns))
    column = next((name for name in KEYS if name in cells.columns), None) if key is None else key
    if column is None:
        shown = ", ".join(cells.columns[:8])
        raise cells.unfit(
            "it has no column key, round or trial that tells its rounds apart, only "
            f"{shown}; name the one that does (key=, or --key)"
        )
    return column


def _leave_out(cells: Cells, known: set[str]) -> None:
    """Say which columns are not read."""
    read = known | OTHERS
    more = [name for name in cells.columns if name not in read]
    if more:
        left = ", ".join(map(repr, more[:8])) + (", ..." if len(more) > 8 else "")
        warnings.warn(f"Left out the columns {left} of `log`.", stacklevel=2)
