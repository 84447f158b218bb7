"""L-BFGS within a time limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.optimize import OptimizeResult, minimize

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray

Objective = Callable[..., tuple[float, FloatArray]]
"""A value and its gradient at a point."""


def minimise(
    objective: Objective, start: FloatArray, budget: Budget, *, steps: int, **options: Any
) -> FloatArray:
    """The point reached from ``start`` in so many steps, or when the budget is over.

    ``options`` are those of :func:`scipy.optimize.minimize`.
    """

    def watch(intermediate_result: OptimizeResult) -> None:  # noqa: ARG001
        if budget.over:
            raise StopIteration

    settings: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "options": {"maxiter": steps}}
    point: FloatArray = minimize(objective, start, callback=watch, **settings, **options).x
    return point
