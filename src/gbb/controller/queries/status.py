"""A controller's sizes and progress, as plain values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from gbb.controller.messages import Alert, name_arms
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.state import State
from gbb.learning.scales import UNSEEN
from gbb.policies import AccountingPolicy

SEVERITIES = {
    "drift": "critical",
    "misfit": "critical",
    "bounds": "warning",
    "caveat": "warning",
    "stale": "warning",
}
"""The kinds of alerts, and how bad each is."""


def read_alerts(state: State) -> list[Alert]:
    """The alerts in force, the worst first."""
    return [
        Alert(kind, severity, datetime.fromtimestamp(found.since, UTC), found.text)
        for kind, severity in SEVERITIES.items()
        if (found := state.alerts.get(kind)) is not None
    ]


def read_status(state: State) -> dict[str, Any]:
    """Sizes and counts; feedback and types beyond the paper's problem only.

    And what everything told says of sigma and S, where nobody knows them; None as long as that is
    nothing.
    """
    setup, record = state.setup, state.record
    problem, allowed = setup.problem, setup.allowed
    counted = record.tables is not None and not problem.weighted
    told = "link_rewards" if problem.symmetric_only else "edge_rewards"
    kinds = {"feedback": problem.feedback, "types": problem.types}
    policy = setup.policy
    safety = policy.report(state.memory) if isinstance(policy, AccountingPolicy) else {}
    if "baseline" in safety:
        arms = np.array(safety["baseline"])
        safety["baseline"] = name_arms(problem.graph, arms, problem.arm_names)
    scales = Knowledge(state).scales
    names = "sigma", "S", "sigma_most", "S_most"
    named = {} if scales is None else dict(zip(names, scales, strict=True))
    seen = {key: named[key] for key in named if key.removesuffix("_most") in problem.unknown}
    size = {"agents": problem.n}
    if problem.parts is not None and problem.edge_counts is not None:
        size = {"parts": int(problem.parts.max()) + 1, "shards": len(problem.edge_counts)}
    return {
        "policy": setup.policy.name,
        **size,
        "edges": problem.link_count,
        "arms": problem.K,
        **(kinds if problem.feedback != "edge" or problem.types > 1 else {}),
        **({} if problem.contexts is None else {"contexts": problem.contexts.to_dict()}),
        "rounds": state.rounds,
        "trials": state.trials,
        "open": sorted(state.open),
        "events": state.seq,
        **({told: record.weight(problem) / problem.ways**2} if counted else {}),
        **({} if scales is None else {"estimated": None if scales == UNSEEN else seen}),
        "forbidden": 0 if allowed is None else int((~allowed).sum()),
        "alerts": [alert.to_dict() for alert in read_alerts(state)],
        **({"safety": safety} if safety else {}),
    }
