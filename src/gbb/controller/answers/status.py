"""A controller's sizes and progress, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb.controller.answers.alerts import read_alerts
from gbb.controller.answers.answers import name_arms
from gbb.controller.answers.knowledge import Knowledge
from gbb.controller.answers.plain import plain_alert
from gbb.controller.state.learn import playing
from gbb.controller.state.state import State
from gbb.learning.scales import UNSEEN


def read_status(state: State) -> dict[str, Any]:
    """Sizes and counts; feedback and types beyond the paper's problem only.

    And what everything told says of sigma and S, where nobody knows them; None as long as that is
    nothing.
    """
    setup, record = state.setup, state.record
    problem, allowed = setup.problem, setup.allowed
    counted = record.tables is not None and not problem.weighted
    told = "link_rewards" if problem.halves_only else "edge_rewards"
    kinds = {"feedback": problem.feedback, "types": problem.types}
    safety = playing(state).report(state.memory)
    if "baseline" in safety:
        arms = np.array(safety["baseline"])
        safety["baseline"] = name_arms(problem.graph, arms, problem.arm_names)
    scales = Knowledge(state).scales
    named = {} if scales is None else scales._asdict()
    seen = {key: named[key] for key in named if key.removesuffix("_most") in problem.unknown}
    parts = problem.parts
    size = {"agents": problem.n} if parts is None else {"parts": parts.k, "shards": parts.shards}
    return {
        "policy": setup.policy.name,
        **size,
        "edges": problem.links_seen,
        "arms": problem.K,
        **(kinds if setup.knows_allowed or not problem.reports_edges else {}),
        **({} if problem.contexts is None else {"contexts": problem.contexts.to_dict()}),
        "rounds": state.rounds,
        "trials": state.trials,
        "open": sorted(state.open),
        "events": state.seq,
        **({told: record.weight(problem) / problem.ways**2} if counted else {}),
        **({} if scales is None else {"estimated": None if scales == UNSEEN else seen}),
        "forbidden": 0 if allowed is None else int((~allowed).sum()),
        "alerts": [plain_alert(alert) for alert in read_alerts(state)],
        **({"safety": safety} if safety else {}),
    }
