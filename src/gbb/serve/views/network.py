"""The graph: agents, links, arms, and what is forbidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb._support.checks import IntArray
from gbb.controller.state.report import Label
from gbb.controller.types import list_of
from gbb.problem import Problem
from gbb.serve import fields as f
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import HERE, Given, Operation
from gbb.serve.api.schemas import shape
from gbb.serve.moment import Moment, desk_of
from gbb.serve.views.paging import limit_of, offset_of

MOST_AGENTS = 5000
"""Above it the page searches agents and does not draw them."""


def arm_labels(problem: Problem) -> list[Label]:
    """The names of the arms, or their numbers."""
    names = problem.arm_names
    return list(range(problem.K)) if names is None else list(names)


def forward(problem: Problem) -> IntArray:
    """The places of the edges (i, j) with i < j, in edge order: each link once."""
    graph = problem.graph
    return np.flatnonzero(graph.sources < graph.indices).astype(np.int64)


def forbidden(moment: Moment) -> dict[str, list[Label]]:
    """Agents that may not play all arms, and those that they may not play."""
    allowed = allowed_now(moment)
    arms, labels = arm_labels(moment.problem), moment.problem.graph.labels
    found = np.flatnonzero(~allowed.all(axis=1)).tolist()
    return {str(labels[i]): [arms[a] for a in np.flatnonzero(~allowed[i])] for i in found}


def allowed_now(moment: Moment) -> Any:
    """Which agent may play which arm (n x K)."""
    own, now = moment.problem.allowed, moment.state.setup.allowed
    return own if now is None else own & now


def network(given: Given) -> dict[str, Any]:
    """The whole of it, or its sizes where that is too much to draw."""
    moment = desk_of(given.controller).now()
    problem, graph = moment.problem, moment.problem.graph
    arms = arm_labels(problem)
    sizes = {"agents_count": graph.n, "edges_count": graph.m // 2, "arms": arms}
    sizes |= {"types": problem.types, "feedback": problem.feedback}
    names = problem.matrix_names
    sizes |= {"type_names": None if names is None else list(names)}
    if graph.n > MOST_AGENTS:
        return {**sizes, "agents": None, "positions": None, "edges": None, "forbidden": None}
    places = forward(problem)
    types = problem.settings().get("edge_types", np.zeros(graph.m, dtype=np.int64))
    ends = (graph.sources[places], graph.indices[places], types[places])
    at = graph.positions
    return {
        **sizes,
        "agents": list(graph.labels),
        "positions": None if at is None else at.tolist(),
        "edges": np.column_stack(ends).tolist(),
        "forbidden": forbidden(moment),
    }


def agents(given: Given) -> dict[str, Any]:
    """Agents whose names hold a text, some at a time."""
    desk = desk_of(given.controller)
    moment = desk.now()
    graph, arms = moment.problem.graph, arm_labels(moment.problem)
    wanted = given.values.get("search", "").casefold()
    found = [i for i, label in enumerate(graph.labels) if wanted in str(label).casefold()]
    start = offset_of(given)
    some = found[start : start + limit_of(given, 50)]
    allowed, played = allowed_now(moment), moment.played
    best = desk.recommended()
    now = None if played is None else played.arms
    then = None if best is None else best.arms

    def arm(of: Any, i: int) -> Label | None:
        return None if of is None or of[i] < 0 else arms[of[i]]

    rows = [
        {
            "agent": graph.labels[i],
            "played": arm(now, i),
            "recommended": arm(then, i),
            "allowed": [arms[a] for a in np.flatnonzero(allowed[i])],
            "degree": int(graph.degrees[i]),
        }
        for i in some
    ]
    return {"agents": rows, "total": len(found)}


ARM: s.Schema = {"type": ["string", "integer", "null"]}
AGENT = shape(agent=s.LABEL, played=ARM, recommended=ARM, allowed=s.LABELS, degree=s.INTEGER)
OPERATIONS = [
    Operation(
        "network",
        "GET",
        f"{HERE}/network",
        f"The graph, the arms and what is forbidden; sizes alone above {MOST_AGENTS:,} agents.",
        "read",
        network,
        answer=shape(
            agents_count=s.INTEGER,
            edges_count=s.INTEGER,
            agents={"type": ["array", "null"], "items": s.LABEL},
            positions={"type": ["array", "null"], "items": list_of(s.REAL)},
            edges={"type": ["array", "null"], "items": list_of(s.INTEGER)},
            arms=s.LABELS,
            types=s.INTEGER,
            type_names={"type": ["array", "null"], "items": s.TEXT},
            feedback=s.TEXT,
            forbidden={"type": ["object", "null"], "additionalProperties": s.LABELS},
        ),
        tagged="problem",
    ),
    Operation(
        "agents",
        "GET",
        f"{HERE}/agents",
        "Agents whose names hold a text, some at a time.",
        "read",
        agents,
        fields={"search": f.TEXT, "limit": f.WHOLE, "offset": f.WHOLE},
        answer=shape(agents=list_of(AGENT), total=s.INTEGER),
    ),
]
