"""The problem: all that it takes to read what a controller says."""

from __future__ import annotations

from typing import Any

from gbb.controller.types import list_of
from gbb.problem import Problem
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import HERE, Given, Operation
from gbb.serve.api.schemas import shape
from gbb.serve.moment import desk_of
from gbb.serve.views.network import arm_labels


def problem(given: Given) -> dict[str, Any]:
    """Everything but what was learnt, as it is created."""
    return plain_problem(desk_of(given.controller).now().problem)


def plain_problem(found: Problem) -> dict[str, Any]:
    """A problem as plain values: links with both directions, in edge order."""
    graph, known = found.graph, found.settings()
    at = graph.positions
    return {
        "agents": graph.n,
        "edges": graph.edges.tolist(),
        "names": None if graph.names is None else list(graph.names),
        "positions": None if at is None else at.tolist(),
        "arms": found.arms.tolist(),
        "arm_names": None if found.arm_names is None else list(found.arm_names),
        "arm_labels": arm_labels(found),
        "sigma": known["sigma"],
        "S": known["S"],
        "L": found.L,
        "feedback": found.feedback,
        "types": _plain(known.get("edge_types")),
        "weights": _plain(known.get("edge_weights")),
        "features": _plain(known.get("features")),
        "allowed": _plain(known.get("allowed")),
        "contexts": None if found.contexts is None else found.contexts.to_dict(),
        "shards": None if found.edge_counts is None else len(found.edge_counts),
    }


def _plain(values: Any) -> Any:
    return None if values is None else values.tolist()


def _or_null(schema: s.Schema) -> s.Schema:
    return {"anyOf": [schema, {"type": "null"}]}


OPERATIONS = [
    Operation(
        "problem",
        "GET",
        f"{HERE}/problem",
        "All that it takes to read what the controller says: graph, arms, bounds.",
        "read",
        problem,
        answer=shape(
            agents=s.INTEGER,
            edges=list_of(list_of(s.INTEGER)),
            names=_or_null(list_of(s.TEXT)),
            positions=_or_null(s.ROWS),
            arms=s.ROWS,
            arm_names=_or_null(list_of(s.TEXT)),
            arm_labels=s.LABELS,
            sigma=s.MAYBE,
            S=s.MAYBE,
            L=s.REAL,
            feedback=s.TEXT,
            types=_or_null(list_of(s.INTEGER)),
            weights=_or_null(list_of(s.REAL)),
            features=_or_null(s.ROWS),
            allowed=_or_null(list_of(list_of(s.FLAG))),
            contexts=_or_null({"type": "object"}),
            shards=s.WHICH,
        ),
        tagged="problem",
    )
]
