"""Agents, arms and features as they were understood, so that a slip in a file is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gbb._cli.given.tables import Arms
from gbb._cli.show import console, grid, number, pairs
from gbb.graph import Graph

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
