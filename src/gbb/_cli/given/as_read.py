"""Agents, arms and features as they were understood, so that a slip in a file is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gbb import policies
from gbb._cli.given.tables import Arms
from gbb._cli.show import console, grid, number, pairs
from gbb.contexts import Contexts
from gbb.graph import Graph
from gbb.policies import AnyPolicy
from gbb.problem import Problem

REPORTS = {
    "edge": "a number per directed edge",
    "link": "a number per link, the sum of both directions",
    "agent": "a number per agent, its edges' sum",
    "global": "one number, the sum of all",
}

SHOWN = 10
"""Agents, arms and features of a list that are shown."""


def as_read(graph: Graph, arms: Arms | None = None) -> dict[str, Any]:
    """The agents' names or numbers and, with ``arms``, the names of arms and features."""
    found: dict[str, Any] = {"agents": list(graph.labels)}
    if arms is not None:
        found["arms"] = list(_names(arms))
        found["features"] = list(_columns(arms))
    return found


def print_as_read(graph: Graph, arms: Arms | None = None) -> None:
    """The agents and, with ``arms``, a table of arms by features; the first of many."""
    rows = [("agents", _list(graph.labels))]
    if arms is not None:
        rows += [("arms", _list(_names(arms))), ("features", _list(_columns(arms)))]
    console.print(pairs("As read", rows))
    if arms is not None:
        console.print()
        console.print(grid("", ("arm", *_columns(arms)[:SHOWN]), _table(arms)))


def print_understood(problem: Problem, policy: AnyPolicy) -> None:
    """What is known of the links, what a round reports, the bounds, and the policy's settings."""
    settings = {**policies.settings(policy), "name": None}
    sigma, S = (problem.settings()[name] for name in ("sigma", "S"))
    rows = [
        ("links", f"{problem.m:,} directed edges, two for each link"),
        ("types", _types(problem)),
        ("weights", _weights(problem)),
        *([("contexts", _contexts(problem.contexts))] if problem.contexts is not None else []),
        ("a round reports", f"{REPORTS[problem.feedback]} ({problem.observations:,})"),
        ("S, the norm of M*", "estimated" if S is None else f"at most {number(S)}"),
        ("L, of edge-arms", f"at most {number(problem.L)}"),
        ("sigma, of the noise", "estimated" if sigma is None else number(sigma)),
        ("policy", type(policy).__name__),
        *((f"  {key}", _setting(each)) for key, each in settings.items() if each is not None),
    ]
    console.print()
    console.print(pairs("As understood", rows))


def _types(problem: Problem) -> str:
    types = problem.settings().get("edge_types")
    if types is None:
        return "one"
    counts = np.bincount(types).tolist()
    return _list([f"{type} ({count:,} edges)" for type, count in enumerate(counts)])


def _contexts(contexts: Contexts) -> str:
    kind, (_, names), *more = contexts.to_dict().items()
    shown = str(names) if isinstance(names, int) else _list(names)
    return ", ".join([f"{kind[1]}, {shown}", *(f"{key} {value}" for key, value in more)])


def _weights(problem: Problem) -> str:
    values = problem.settings().get("edge_weights")
    if values is None:
        return "all 1"
    other = int((values != 1.0).sum())
    low, high = number(float(values.min())), number(float(values.max()))
    return f"from {low} to {high}, {other:,} of {problem.m:,} other than 1"


def _setting(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _names(arms: Arms) -> Sequence[str] | Sequence[int]:
    return range(len(arms.features)) if arms.names is None else arms.names


def _columns(arms: Arms) -> Sequence[str]:
    numbered = tuple(f"x{j}" for j in range(arms.features.shape[1]))
    return numbered if arms.columns is None else arms.columns


def _table(arms: Arms) -> Iterator[tuple[str, ...]]:
    for name, features in zip(_names(arms)[:SHOWN], arms.features[:SHOWN].tolist(), strict=True):
        yield str(name), *map(number, features[:SHOWN])


def _list(labels: Sequence[Any]) -> str:
    more = len(labels) - SHOWN
    shown = ", ".join(map(str, labels[:SHOWN]))
    return f"{len(labels):,}: {shown}" + (f" and {more:,} more" if more > 0 else "")
