"""What the day shows: numbers, sentences and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from gbb.applications._outcome import Outcome
from gbb.applications.traffic.day.hours import HOURS, REGIMES
from gbb.applications.traffic.day.pictures import draw_hours, draw_plans
from gbb.applications.traffic.day.played import Plans, Told
from gbb.applications.traffic.day.simulator import DayLoss
from gbb.applications.traffic.streets import Grid

WORDS = {
    "regimes": "learnt plans, told the time of day",
    "blind": "learnt plan, not told the time of day",
    "single": "best single plan",
    "zero": "no offsets",
}
"""Who is compared, by their names in the numbers."""


def make_outcome(
    grid: Grid,
    told: Mapping[str, Told],
    plans: Mapping[str, Plans],
    losses: Mapping[str, DayLoss],
    *,
    single: Sequence[str],
    sigma: float,
    proven: bool,
    fits: Mapping[str, float],
) -> Outcome:
    """Everything together; the best single plan is the one of ``single`` that loses least."""
    best = min(single, key=lambda name: float(losses[name].loss.sum()))
    judged = {**losses, "single": losses[best]}
    numbers = {
        f"{name.replace(' ', '_')}_{field}": float(getattr(each, field).sum())
        for name, each in judged.items()
        for field in DayLoss._fields
    }
    for name in ("regimes", "blind"):
        for rival in ("single", "zero"):
            numbers[f"{name}_over_{rival}"] = numbers[f"{name}_loss"] / numbers[f"{rival}_loss"]
    numbers["regimes_over_blind"] = numbers["regimes_loss"] / numbers["blind_loss"]
    numbers["regimes_between_over_single"] = numbers["regimes_between"] / numbers["single_between"]
    numbers |= {"sigma": sigma, "fitted_proven": float(proven)}
    rows = [
        (
            f"{words}, vehicle-hours lost in the day (between signals)",
            f"{numbers[f'{name}_loss']:.0f} ({numbers[f'{name}_between']:.0f})",
        )
        for name, words in WORDS.items()
    ]
    rows += [
        ("  told, over the best single plan", f"{numbers['regimes_over_single']:.3f}"),
        ("  told, over not told", f"{numbers['regimes_over_blind']:.3f}"),
        ("  told, over no offsets", f"{numbers['regimes_over_zero']:.3f}"),
        *((f"single plan: {name}", f"{losses[name].loss.sum():.0f}") for name in single),
        *((f"held-out R^2 within signals: {name}", f"{fit:.2f}") for name, fit in fits.items()),
    ]
    figures = {
        "hours": draw_hours(judged),
        "plans": draw_plans(plans["regimes"], plans[best], grid.shape[0]),
    }
    title = "Traffic lights through the day: 16 signals, 6 offsets, learnt live in SUMO"
    sentences = _sentences(numbers, best, next(iter(told.values())).hours.rounds.size)
    return Outcome(title, _data(grid, told, plans, losses), numbers, rows, sentences, figures)


def _sentences(numbers: Mapping[str, float], best: str, rounds: int) -> list[str]:
    proof = "proven best" if numbers["fitted_proven"] else "best found"
    days = rounds / len(HOURS)
    return [
        f"Learners played {rounds} simulated hours each ({days:.3g} days); then all plans met the same "
        "day in one run of SUMO, in which signals change their plans at 10 and at 15 o'clock.",
        f"Told the time of day, the plans lose {numbers['regimes_over_single']:.3f} of what the best "
        f"single plan loses, and {numbers['regimes_between_over_single']:.3f} between signals, which is "
        "where offsets matter.",
        f"The best single plan is '{best}', the best on this day of: what is {proof} for a fit to all "
        "that was simulated, the double alternate of textbooks, each learnt plan held all day, and the "
        "blind learner's.",
        "Blocks are 150 m and the peaks 3 to 1: where blocks take half a cycle, or traffic is even, "
        "the same plan is best all day.",
    ]


def _data(
    grid: Grid,
    told: Mapping[str, Told],
    plans: Mapping[str, Plans],
    losses: Mapping[str, DayLoss],
) -> xr.Dataset:
    """Everything, hour by hour."""
    allocations = np.array([[each[regime] for regime in REGIMES] for each in plans.values()])
    data = xr.Dataset(
        {
            "plan": (("name", "regime", "agent"), allocations),
        },
        coords={
            "name": list(plans), "regime": list(REGIMES), "agent": grid.signals,
            "learner": list(told), "hour": [hour.clock for hour in HOURS],
        },
    )  # fmt: skip
    for field in DayLoss._fields:
        data[field] = (("name", "hour"), [getattr(losses[name], field) for name in plans])
    for field, dims in {"allocations": ("agent",), "rewards": ("agent",), "loss": ()}.items():
        stacked = [getattr(each.hours.rounds, field) for each in told.values()]
        data[f"live_{field}"] = (("learner", "round", *dims), np.stack(stacked))
    return data.assign_coords(round=np.arange(1, data.sizes["round"] + 1))
