"""What the numbers of a round's report are called, and how large they may be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.problem import Problem

Label = str | int

FAR = 8.0
"""A reward is far outside its bounds beyond ``L S`` plus this many sigma."""

ROUNDING = 1e-13
"""The share of a limit that rounding may add."""


class Words(NamedTuple):
    """How people and the log say whose a number is.

    Attributes
    ----------
    columns
        The columns of a table of rewards that name it; ``reward`` comes last.
    keys, key
        What names it in a mapping, in words and as one writes it.
    counted
        What an event with some of the numbers counts.
    warned
        What a warning calls it.
    place
        How a message says where it was paid.
    """

    columns: tuple[str, ...]
    keys: str = ""
    key: str = ""
    counted: str = ""
    warned: str = ""
    place: str = ""


WORDS = {
    "edge": Words(
        columns=("source", "target"),
        keys="pairs of agents",
        key="(agent, agent)",
        counted="edges",
        warned="link",
        place=" on {!r} -> {!r}",
    ),
    "link": Words(
        columns=("source", "target"),
        keys="pairs of agents",
        key="(agent, agent)",
        counted="links",
        warned="link",
        place=" on {!r} - {!r}",
    ),
    "agent": Words(
        columns=("agent",),
        keys="agents",
        key="agent",
        counted="agents",
        warned="agent",
        place=" at {!r}",
    ),
    "global": Words(columns=()),
}
"""By feedback."""

PARTIAL = frozenset(words.counted for words in WORDS.values() if words.counted)
"""What events with some of a round's numbers only have in their content."""


def names_of(problem: Problem, positions: IntArray | None = None) -> list[tuple[Label, ...]]:
    """Who names each number of a report, or those at ``positions``: two agents, one, or none."""
    labels, named_by = problem.graph.labels, problem.report.agents
    places = slice(None) if positions is None else positions
    columns = [[labels[agent] for agent in agents[places].tolist()] for agents in named_by]
    return list(zip(*columns, strict=True)) if columns else [()]


def limits_of(problem: Problem) -> FloatArray:
    """How far from zero each number of a round may lie before it is flagged.

    ``sum |w| L S + 8 sigma`` over the edges that it sums; ``L S + 8 sigma`` for each edge in the paper,
    ``2 L S + 8 sigma`` for a link of it.
    The last digits do not count. Nothing is flagged where nobody knows sigma or S.
    """
    if problem.unknown:  # nobody has said how large they may be
        return np.full(problem.observations, np.inf)
    reach = problem.report.sum(np.abs(problem.edge_weights))
    limits: FloatArray = reach * (problem.L * problem.S) + FAR * problem.sigma
    return limits * (1.0 + ROUNDING)


def limit_text(problem: Problem) -> str:
    """The formula of :func:`limits_of`, as messages say it."""
    simple = {} if problem.weighted else {"edge": "L S", "link": "2 L S"}
    return f"{simple.get(problem.feedback, 'sum |w| L S')} + {FAR:g} sigma"
