"""What a simulation came to, per policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support.checks import FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr

LAST = (0.05, 0.1, 0.15)
"""The least, the wanted and the largest share of the rounds that counts as the end of the run."""


def summary(result: xr.Dataset) -> list[dict[str, Any]]:
    """Means over runs and their standard errors, from the cumulative regret.

    The regret counts every round, recorded or not, so the mean fractions do too. The end of the run
    starts after the recorded round that leaves nearest to a tenth of the rounds; where none leaves
    about a tenth, its fraction is not known (NaN).
    """
    best = float(result.attrs["optimum"])
    rounds = result["round"].to_numpy()
    last = int(rounds[-1])
    start = _start(rounds, last)
    rows = []
    for policy in result["policy"].to_numpy():
        one = result.sel(policy=policy)
        regret = one["regret"].transpose("run", "round").to_numpy()
        total = regret[:, -1]
        end = np.full_like(total, np.nan)
        if start is not None:
            end = _fraction(total - regret[:, start], last - int(rounds[start]), best)
        row: dict[str, Any] = {"policy": str(policy), "alpha": float(one["alpha"])}
        row |= _mean("fraction", _fraction(total, last, best))
        row |= _mean("fraction_last", end)
        row |= _mean("proven_fraction", one["proven_fraction"].to_numpy())
        row |= _mean("regret", total)
        row |= _mean("alpha_regret", one["alpha_regret"].isel(round=-1).to_numpy())
        rows.append(row)
    return rows


def _start(rounds: IntArray, last: int) -> int | None:
    """Position of the recorded round after which about a tenth of the rounds follow, if any."""
    least, wanted, most = LAST
    shares = (last - rounds) / last
    nearest = int(np.argmin(np.abs(shares - wanted)))
    return nearest if least <= shares[nearest] <= most else None


def _fraction(regret: FloatArray, rounds: int, best: float) -> FloatArray:
    """What share of ``rounds`` times the optimum was earned; NaN unless the optimum is positive."""
    if best <= 0:
        return np.full_like(regret, np.nan)
    return 1.0 - regret / (rounds * best)


def _mean(name: str, values: FloatArray) -> dict[str, float]:
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else float("nan")
    return {name: float(values.mean()), f"{name}_error": float(error)}
