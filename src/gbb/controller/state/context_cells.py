"""A context as cells of a table: one with the regime, or one for each number of a vector."""

from __future__ import annotations

from typing import Any

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.contexts import Regimes, Vector
from gbb.problem import Problem

COLUMN = "context"


def has_cells(problem: Problem) -> bool:
    """Whether a context of the problem fits into a few cells of a row."""
    return isinstance(problem.contexts, Regimes | Vector)


def context_columns(problem: Problem, what: str) -> tuple[str, ...]:
    """The columns of a context; ``what`` is the table that cannot be where there are too many."""
    contexts = problem.contexts
    if contexts is None:
        return ()
    if isinstance(contexts, Regimes):
        return (COLUMN,)
    if isinstance(contexts, Vector):
        return tuple(f"{COLUMN} {name}" for name in contexts.names or range(contexts.size))
    rule = "have contexts that fit into a few cells: regimes, or a vector"
    cure = "A backup (.jsonl) holds everything; rounds are attached one by one."
    raise checks.input_error(what, rule, contexts.kind, cure)


def context_cells(problem: Problem, row: FloatArray | None) -> tuple[Any, ...]:
    """The cells of a context."""
    if row is None or problem.contexts is None:
        return ()
    if isinstance(problem.contexts, Regimes):
        return (problem.contexts.name(row),)
    return tuple(row.tolist())
