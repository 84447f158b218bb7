"""Fits to simulated hours: does the model hold, how much is noise, and which single plan is best."""

from __future__ import annotations

import numpy as np

import gbb
from gbb.applications.traffic.day.hours import HOURS, REGIMES
from gbb.applications.traffic.day.model import Model, make_model
from gbb.applications.traffic.day.played import Hours
from gbb.applications.traffic.streets import Grid
from gbb.learning.record import empty, observe

ARMS = "fourier"
"""How fits see an offset."""

SMALL = 0.1
"""The regulariser of a fit to all that was seen."""


def diagnose(model: Model, hours: Hours) -> list[gbb.Diagnosis]:
    """How a model fits each regime."""
    problem, seen = model.problem(ARMS), [hours.during(regime) for regime in REGIMES]
    return [gbb.diagnose(problem, each.allocations, each.rewards) for each in seen]


def compare_models(grid: Grid, survey: Hours) -> dict[str, float]:
    """Held-out R^2 within signals by what the model knows, the mean of the regimes."""
    models = {
        "neighbours": make_model(grid, reach=1, ways=False),
        "neighbours, ways": make_model(grid, reach=1),
        "two blocks, ways": make_model(grid),
    }
    return {
        name: float(np.mean([fit.within for fit in diagnose(model, survey)]))
        for name, model in models.items()
    }


def find_single(model: Model, seen: Hours) -> gbb.optimum.Optimum:
    """The best single plan for the day, by matrices that are fitted to each regime.

    Hours count as often as the day has them, however often they were seen.
    """
    problem = model.problem(ARMS)
    whole = np.zeros((problem.types, problem.d, problem.d))
    for regime in REGIMES:
        record, rounds = empty(problem), seen.during(regime)
        for arms, rewards in zip(rounds.allocations, rounds.rewards, strict=True):
            record = record.merge(observe(problem, arms, rewards))
        often = sum(hour.regime == regime for hour in HOURS) / len(HOURS)
        whole += often * gbb.Ridge(problem, record, SMALL).M_hats
    return gbb.optimum.solve(problem, whole)
