"""What is known before a round, as events hold it: the row of numbers that its context was read into."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.contexts.base import as_iterable
from gbb.controller.log.events import Content, Event
from gbb.problem import Problem

FEW = 16
"""Rows of so many numbers are written out; longer ones are bytes."""


def read_row(problem: Problem, context: Any) -> FloatArray | None:
    """Check a context; None where there are none, and then none may be given."""
    if problem.contexts is None:
        problem.at(context)
        return None
    return problem.contexts.read(problem.graph, context)


def list_contexts(count: int, context: Any, contexts: Iterable[Any] | None) -> list[Any]:
    """A context for each of ``count`` rounds: one for all, or a list of them."""
    if contexts is None:
        return [context] * count
    if context is not None:
        raise checks.conflict("`context` is that of all, `contexts` are those of each: give one.")
    given = list(itertools.islice(as_iterable(contexts), count + 1))  # there may be no end of them
    if len(given) != count:
        got = len(given) if len(given) < count else "more"
        raise checks.input_error("contexts", f"have one for each of {count} trials", got)
    return given


def say_row(row: FloatArray | None) -> Content:
    """What an event says of a row: nothing where there is none."""
    if row is None:
        return {}
    return {"context": row.tolist() if row.size <= FEW else row.astype("<f8")}


def row_of(event: Event) -> FloatArray | None:
    """The row that an event was given."""
    if "context" not in event.content:
        return None
    try:
        row = np.asarray(event.content["context"], dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"it has no context: {error}") from None
    row.flags.writeable = False
    return row


def read_row_of(event: Event, problem: Problem) -> FloatArray | None:
    """The same, which must be a context of ``problem``: an event may be a stranger's."""
    contexts, row = problem.contexts, row_of(event)
    if contexts is None or row is None:
        if contexts is None and row is None:
            return None
        raise ValueError("there is no context" if row is None else "there are no contexts")
    try:
        again = contexts.read(problem.graph, contexts.name(row))
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"it has no context: {error}") from None
    if not np.array_equal(again, row):
        raise ValueError("it has a context that is none")
    return row


def same_rows(one: FloatArray | None, other: FloatArray | None) -> bool:
    """Whether two rounds have the same context, or none."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def problem_in(problem: Problem, row: FloatArray | None) -> Problem:
    """The problem of a round with the context of ``row``; itself where there are none."""
    return problem if row is None else problem.at_row(row)


def name_row(problem: Problem, row: FloatArray | None) -> Any:
    """The context as a person writes it; None where there are none."""
    return None if row is None or problem.contexts is None else problem.contexts.name(row)
