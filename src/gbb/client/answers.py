"""What the service answers, as the answers of a controller."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from gbb import contexts as kinds
from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.controller.messages import Alert, Entry, Estimate, Recommendation, RoundReward, Trial
from gbb.controller.state.report import Label
from gbb.diagnostics import Diagnosis, Residuals
from gbb.graph import Graph
from gbb.problem import Problem

Data = Mapping[str, Any]


def read_problem(data: Data) -> Problem:
    """The problem that the service describes."""
    links = {"edge_types": data["types"], "edge_weights": data["weights"]}
    links |= {"features": data["features"]}
    known: dict[str, Any] = {
        name: np.array(value) for name, value in links.items() if value is not None
    }
    if data["allowed"] is not None:
        known["allowed"] = np.array(data["allowed"], dtype=np.bool_)
    edges = np.array(data["edges"], dtype=np.int64).reshape(-1, 2)
    graph = Graph.from_edges(
        edges, n=data["agents"], names=data["names"], positions=data["positions"]
    )
    return Problem(
        graph,
        data["arms"],
        sigma=data["sigma"],
        S=data["S"],
        L=data["L"],
        arm_names=data["arm_names"],
        feedback=data["feedback"],
        contexts=None if data["contexts"] is None else kinds.from_dict(data["contexts"]),
        **known,
    )


def read_label(text: Any, named: bool) -> Label:
    """A name, or the number that JSON has made text of."""
    return text if named or not isinstance(text, str) else int(text)


def read_allocation(given: Data, problem: Problem) -> dict[Label, Label]:
    """An allocation by names, or by numbers where there are none."""
    named = problem.graph.names is not None
    return {read_label(agent, named): arm for agent, arm in given.items()}


def read_arms(allocation: Mapping[Label, Label], problem: Problem) -> Any:
    """The arms' numbers, in the order of the agents."""
    names = problem.arm_names
    place = None if names is None else {name: number for number, name in enumerate(names)}
    arms = [arm if place is None else place[str(arm)] for arm in allocation.values()]
    return checks.frozen(np.array(arms, dtype=np.int64))


def read_trial(data: Data, problem: Problem) -> Trial:
    """A trial; on a graph that has been replaced it has the agents of that one, and no links."""
    allocation = read_allocation(data["allocation"], problem)
    graph = problem.graph
    if len(allocation) != graph.n or list(allocation) != list(graph.labels):
        names = [str(agent) for agent in allocation]
        graph = Graph(np.zeros(len(names) + 1, dtype=np.int64), np.array([]), tuple(names))
    arms = read_arms(allocation, problem)
    return Trial(data["trial"], data["round"], arms, graph, problem.arm_names, data.get("context"))


def read_recommendation(data: Data, problem: Problem) -> Recommendation:
    """A recommendation."""
    allocation = read_allocation(data["allocation"], problem)
    same = ("reward", "low", "high", "upper_bound", "proven", "caveat")
    return Recommendation(
        allocation=allocation,
        arms=read_arms(allocation, problem),
        context=data.get("context"),
        **{name: data[name] for name in same},
    )


def read_estimate(data: Data) -> Estimate:
    """An estimate."""
    arrays = ("M_hat", "M_width", "table", "table_width", "N", "Y")
    return Estimate(
        edge_type=data["edge_type"],
        caveat=data["caveat"],
        matrix=data.get("matrix"),
        **{name: _array(data[name]) for name in arrays},  # type: ignore[arg-type]
    )


def _array(rows: Any) -> FloatArray | None:
    return None if rows is None else checks.frozen(np.array(rows, dtype=np.float64))


def read_diagnosis(data: Data) -> Diagnosis:
    """A diagnosis."""
    lists: dict[str, Any] = {
        name: tuple(Residuals(**_numbers(each)) for each in data[name])
        for name in ("by_type", "worst")
    }
    rest = {name: value for name, value in data.items() if name not in lists}
    return Diagnosis(**_numbers(rest), **lists)


def _numbers(data: Data) -> dict[str, Any]:
    """NaN where JSON has nothing."""
    return {name: math.nan if value is None else value for name, value in data.items()}


def read_alert(data: Data) -> Alert:
    """An alert."""
    return Alert(**{**data, "since": datetime.fromisoformat(data["since"])})


def read_paid(data: Data) -> RoundReward:
    """A round that was told."""
    data = dict(data) | {"time": datetime.fromisoformat(data["time"])}
    return RoundReward(observed=data.pop("told"), possible=data.pop("of"), **data)


def read_entry(data: Data, problem: Problem) -> Entry:
    """An event of the history."""
    content = dict(data["content"])
    if isinstance(content.get("allocation"), dict):
        content["allocation"] = read_allocation(content["allocation"], problem)
    time = datetime.fromisoformat(data["time"])
    return Entry(data["seq"], data["kind"], time, data["trial"], content, data["by"])


def read_table(text: str, problem: Problem) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The columns and rows of an export."""
    columns, *rows = csv.reader(io.StringIO(text))
    agents, arms = problem.graph.names is not None, problem.arm_names is not None
    kinds = {"trial": _whole, "reward": _real}
    kinds |= dict.fromkeys(("source", "target", "agent"), _text if agents else _whole)
    kinds |= dict.fromkeys(("source_arm", "target_arm", "arm"), _text if arms else _whole)
    each = [kinds.get(name, _real if name.startswith("context ") else _text) for name in columns]
    return tuple(columns), [_cells(row, each) for row in rows]


def _cells(row: Sequence[str], kinds: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(kind(cell) for cell, kind in zip(row, kinds, strict=True))


def _text(cell: str) -> Any:
    return cell


def _whole(cell: str) -> int | None:
    return int(cell) if cell else None


def _real(cell: str) -> float | None:
    return float(cell) if cell else None
