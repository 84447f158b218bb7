"""A controller's sizes and progress, as plain values."""

from __future__ import annotations

from typing import Any

from gbb.controller.state.state import State


def read_status(state: State) -> dict[str, Any]:
    """Sizes and counts; feedback and types beyond the paper's problem only."""
    setup, record = state.setup, state.record
    problem, allowed = setup.problem, setup.allowed
    counted = record.tables is not None and not problem.weighted
    kinds = {"feedback": problem.feedback, "types": problem.types}
    parts = problem.parts
    size = {"agents": problem.n} if parts is None else {"parts": parts.k, "shards": parts.shards}
    return {
        "policy": setup.policy.name,
        **size,
        "edges": problem.links_seen,
        "arms": problem.K,
        **(kinds if setup.knows_allowed else {}),
        "rounds": state.rounds,
        "trials": state.trials,
        "open": sorted(state.open),
        "events": state.seq,
        **({"edge_rewards": record.weight(problem)} if counted else {}),
        "forbidden": 0 if allowed is None else int((~allowed).sum()),
    }
