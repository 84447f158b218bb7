"""The best allocation in each of some contexts, as a table for an operator to load into a plant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError
from gbb.contexts.base import as_iterable
from gbb.controller.messages import Recommendation
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.context import name_row, read_row
from gbb.controller.state.context_cells import COLUMN, context_cells, context_columns, has_cells
from gbb.controller.state.state import State
from gbb.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

FACTS = ("reward", "low", "high", "proven")
"""What a row says of its allocation."""


def recommend_each(state: State, contexts: Sequence[Any], seconds: float) -> list[Recommendation]:
    """Return the best allowed allocation in each context."""
    rows = _read_all(state.setup.problem, dict(enumerate(contexts, 1)))
    found, estimate = [], None
    for row in rows:
        known = Knowledge(state, row, estimate)
        found.append(known.recommend(seconds))
        estimate = known.ridge  # one estimate serves all contexts
    return found


def name_contexts(
    problem: Problem, contexts: Iterable[Any] | Mapping[Any, Any]
) -> tuple[list[Any] | None, list[Any]]:
    """Return the names of contexts, if they have any, and the contexts as they are written."""
    named = isinstance(contexts, Mapping)
    known = dict(contexts) if named else dict(enumerate(as_iterable(contexts), 1))
    written = [name_row(problem, row) for row in _read_all(problem, known)]
    return list(known) if named else None, written


def _read_all(problem: Problem, contexts: Mapping[Any, Any]) -> list[FloatArray | None]:
    """Return the rows of contexts, which errors name by their keys."""
    if problem.contexts is None:
        cure = "Call recommend()."
        raise checks.input_error("contexts", "be left out: there are no contexts", "some", cure)
    if not contexts:
        raise checks.input_error("contexts", "hold at least one context", "none")
    rows = []
    for name, context in contexts.items():
        try:
            rows.append(read_row(problem, context))
        except InputError as error:
            raise InputError(f"Context {name}: {error}") from None
    return rows


def recommendation_frame(
    problem: Problem, names: list[Any] | None, found: Sequence[Recommendation]
) -> pd.DataFrame:
    """Return a row for each recommendation: its context, the arms by agent, and what is known of it."""
    import pandas as pd  # noqa: PLC0415  (slow to load)

    plain = has_cells(problem) and names is None
    head = context_columns(problem, "contexts") if plain else (COLUMN,)
    columns = (*head, *map(str, problem.graph.labels), *FACTS)
    if twice := next((name for name in columns if columns.count(name) > 1), None):
        rule = f"have agents whose names are no columns of their own, as {twice!r} is"
        raise checks.input_error("graph", rule, f"an agent {twice!r}", "Take recommend() for each.")
    rows = []
    for place, best in enumerate(found):
        name = names[place] if names is not None else place
        first = context_cells(problem, read_row(problem, best.context)) if plain else (name,)
        facts = (getattr(best, fact) for fact in FACTS)
        rows.append((*first, *best.allocation.values(), *facts))
    return pd.DataFrame(rows, columns=list(columns))
