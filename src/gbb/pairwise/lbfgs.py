"""L-BFGS within a time limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Objective = Callable[..., tuple[float, FloatArray]]
"""A value and its gradient at a point."""


def minimise(
    objective: Objective, start: FloatArray, budget: Budget, *, steps: int, **options: Any
) -> FloatArray:
    """The point reached from ``start`` in so many steps, or when the budget is over.

    ``options`` are those of :func:`scipy.optimize.minimize`.
    """
    from scipy.optimize import minimize  # noqa: PLC0415

    def watch(intermediate_result: OptimizeResult) -> None:  # noqa: ARG001
        if budget.over:
            raise StopIteration

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        options={"maxiter": steps},
        **options,
    )
    point: FloatArray = found.x
    return point
