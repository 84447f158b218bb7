"""Total regrets of a comparison, with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gbb._support import checks
from gbb._support.checks import FloatArray

if TYPE_CHECKING:
    import xarray as xr

CONFIDENCE = 0.95


class Comparison(NamedTuple):
    """One policy's total regret beside the first policy's; intervals at 95 %.

    Attributes
    ----------
    policy
        Its name.
    lost, lost_low, lost_high
        Mean share of the optimal reward that was lost over all rounds, and its interval.
    regret, regret_low, regret_high
        Mean total regret, in rewards.
    ratio, ratio_low, ratio_high
        Its total regret over the first policy's, by paired runs.
    """

    policy: str
    lost: float
    lost_low: float
    lost_high: float
    regret: float
    regret_low: float
    regret_high: float
    ratio: float
    ratio_low: float
    ratio_high: float

    def __str__(self) -> str:
        """In one line, to three digits."""
        share = [f"{100 * each:.3g}" for each in (self.lost, self.lost_low, self.lost_high)]
        times = [f"{each:.3g}" for each in (self.ratio, self.ratio_low, self.ratio_high)]
        lost = f"lost {share[0]} % ({share[1]} to {share[2]})"
        return (
            f"{self.policy}: {lost}, {times[0]} ({times[1]} to {times[2]}) times the first's regret"
        )


def comparison(result: xr.Dataset) -> list[Comparison]:
    """A row per policy from what :func:`gbb.compare` returned.

    Runs of one instance are averaged first when there are several instances: then the intervals are
    about the family of instances. The ratio of two means has its interval by the delta method on
    the paired differences ``x_i - ratio b_i``.
    """
    if "instances" not in result.attrs:
        cure = "gbb.compare takes the same environment and policies."
        raise checks.input_error("result", "be what gbb.compare returned", "another", cure)
    rounds = float(result["round"][-1])
    totals = result[["regret", "lost"]].isel(round=-1)
    if result.attrs["instances"] > 1:
        totals = totals.groupby("instance").mean()
    units = "instance" if result.attrs["instances"] > 1 else "run"
    shares = totals["regret"].transpose("policy", units).to_numpy() / rounds
    regrets = totals["lost"].transpose("policy", units).to_numpy()
    rows = []
    for name, share, regret in zip(result["policy"].to_numpy(), shares, regrets, strict=True):
        rows.append(
            Comparison(str(name), *interval(share), *interval(regret), *ratio(regret, regrets[0]))
        )
    return rows


def interval(values: FloatArray) -> tuple[float, float, float]:
    """Mean and ends of its interval by Student's t; NaN for a single value."""
    from scipy.special import stdtrit  # noqa: PLC0415

    mean, half, size = float(values.mean()), float("nan"), values.size
    if size > 1:
        quantile = float(stdtrit(size - 1, (1 + CONFIDENCE) / 2))
        half = quantile * float(values.std(ddof=1)) / math.sqrt(size)
    return mean, mean - half, mean + half


def ratio(values: FloatArray, base: FloatArray) -> tuple[float, float, float]:
    """``mean(values) / mean(base)`` and its interval by the delta method, pair by pair."""
    below = float(base.mean())
    if below == 0.0:
        return (float("nan"),) * 3
    ratio = float(values.mean()) / below
    _, low, high = interval((values - ratio * base) / below)
    return ratio, ratio + low, ratio + high
