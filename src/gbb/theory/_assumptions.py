"""The paper's assumptions, each with its numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb.environment import Environment

ROUNDING = 1e-9


class Assumption(NamedTuple):
    """One assumption: what it says, the number found, the limit, and whether it holds."""

    rule: str
    value: float
    limit: float
    holds: bool


def check_assumptions(env: Environment) -> list[Assumption]:
    """Compare an instance with the paper's assumptions (Section 2); reports, never fails."""
    problem, R = env.problem, env.reward_table
    norms = np.sum(problem.arms**2, axis=1)
    frobenius = float(np.linalg.norm(env.M_star))

    def at_most(rule: str, value: float, limit: float) -> Assumption:
        return Assumption(rule, value, limit, value <= limit + ROUNDING * max(1.0, abs(limit)))

    lowest = float(R.min())
    return [
        at_most("edge-arm norms are at most L", float(norms.max()), problem.L),
        at_most("the Frobenius norm of M* is at most S", frobenius, problem.S),
        Assumption("expected rewards are at least 0", lowest, 0.0, lowest >= -ROUNDING),
        at_most("expected rewards are at most L S", float(R.max()), problem.L * problem.S),
    ]
