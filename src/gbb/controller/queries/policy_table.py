"""A policy table: what is best in each of some contexts, for an operator to load into a plant."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError
from gbb._support.files import write_text
from gbb.contexts.base import as_iterable
from gbb.controller.messages import Recommendation
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.context import read_row
from gbb.controller.state.context_cells import COLUMN, context_cells, context_columns, has_cells
from gbb.controller.state.state import State
from gbb.problem import Problem

FACTS = ("reward", "low", "high", "proven")
"""What a row says of its allocation."""


@dataclass(frozen=True, eq=False)
class PolicyTable:
    """A row for each context.

    Attributes
    ----------
    columns
        Those of the context, one for each agent under its name, and reward, low, high and proven.
    rows
        The cells: the context's, the agents' arms by name, and what is known of the allocation.
    recommendations
        The same as answers of :meth:`gbb.Controller.recommend`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    recommendations: tuple[Recommendation, ...]

    @property
    def csv(self) -> str:
        """The table as text, its numbers to the last digit."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return buffer.getvalue()

    def write(self, path: str | Path) -> None:
        """Write it to a CSV file, which appears whole or not at all."""
        write_text(path, self.csv)


Search = Callable[[list[FloatArray | None]], Iterable[Recommendation]]
"""Finds what is best in each of some contexts, which are rows of numbers."""


def recommend_table(
    state: State, contexts: Iterable[Any] | Mapping[Any, Any], seconds: float
) -> PolicyTable:
    """The best allowed allocation in each context; a mapping has names for them."""

    def search(rows: list[FloatArray | None]) -> Iterator[Recommendation]:
        estimate = None
        for row in rows:
            known = Knowledge(state, row, estimate)
            yield known.recommend(seconds)
            estimate = known.ridge

    return tabulate(state.setup.problem, contexts, search)


def tabulate(
    problem: Problem, contexts: Iterable[Any] | Mapping[Any, Any], search: Search
) -> PolicyTable:
    """The table of what ``search`` finds best in each context."""
    if problem.contexts is None:
        cure = "Call recommend()."
        raise checks.input_error("contexts", "be left out: there are no contexts", "some", cure)
    named = isinstance(contexts, Mapping)
    listed = list(
        contexts.items() if isinstance(contexts, Mapping) else enumerate(as_iterable(contexts))
    )
    plain = has_cells(problem) and not named
    head = context_columns(problem, "contexts") if plain else (COLUMN,)
    columns = (*head, *map(str, problem.graph.labels), *FACTS)
    if twice := next((name for name in columns if columns.count(name) > 1), None):
        rule = f"have agents whose names are no columns of their own, as {twice!r} is"
        raise checks.input_error("graph", rule, f"an agent {twice!r}", "Take recommend() for each.")
    rows, answers = [], []
    for place, (name, context) in enumerate(listed):
        try:
            row = read_row(problem, context)
        except InputError as error:
            raise InputError(f"Context {name if named else place + 1}: {error}") from None
        rows.append((name, row))
    if not rows:
        raise checks.input_error("contexts", "hold at least one context", "none")
    cells = []
    for (name, row), best in zip(rows, search([row for _, row in rows]), strict=True):
        first = context_cells(problem, row) if plain else (name,)
        facts = (getattr(best, fact) for fact in FACTS)
        cells.append((*first, *best.allocation.values(), *facts))
        answers.append(best)
    return PolicyTable(columns, tuple(cells), tuple(answers))
