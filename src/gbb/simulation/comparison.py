"""Total regrets of a comparison, with intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gbb._support import checks
from gbb._support.checks import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

CONFIDENCE = 0.95

COLUMNS = ("lost", "regret", "ratio")


def comparison(result: xr.Dataset) -> pd.DataFrame:
    """Return a row per policy of what :func:`gbb.compare` returned, with intervals at 95 %.

    Parameters
    ----------
    result
        What :func:`gbb.compare` returned.

    Returns
    -------
    pandas.DataFrame
        ``policy``; the mean share of the optimal reward that was ``lost`` over all rounds; the mean
        total ``regret`` in rewards; and its ``ratio`` to the first policy's, by paired runs. The ends
        of their intervals are ``lost_low``, ``lost_high`` and so on; NaN for a single run.

    Notes
    -----
    Runs of one instance are averaged first when there are several instances: then the intervals are
    about the family of instances. The ratio of two means has its interval by the delta method on
    the paired differences ``x_i - ratio b_i``.
    """
    import pandas as pd  # noqa: PLC0415

    if "instances" not in result.attrs:
        cure = "gbb.compare takes the same environment and policies."
        raise checks.input_error("result", "be what gbb.compare returned", "another", cure)
    rounds = float(result["round"][-1])
    totals, units = result[["regret", "lost"]].isel(round=-1), "run"
    if result.attrs["instances"] > 1:
        totals, units = totals.groupby("instance").mean(), "instance"
    shares = totals["regret"].transpose("policy", units).to_numpy() / rounds
    regrets = totals["lost"].transpose("policy", units).to_numpy()
    rows = [
        (str(name), *interval(share), *interval(regret), *ratio(regret, regrets[0]))
        for name, share, regret in zip(result["policy"].to_numpy(), shares, regrets, strict=True)
    ]
    ends = [f"{name}{end}" for name in COLUMNS for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["policy", *ends])


def interval(values: FloatArray) -> tuple[float, float, float]:
    """Return the mean and the ends of its interval by Student's t; NaN for a single value."""
    from scipy.special import stdtrit  # noqa: PLC0415

    mean, half, size = float(values.mean()), float("nan"), values.size
    if size > 1:
        quantile = float(stdtrit(size - 1, (1 + CONFIDENCE) / 2))
        half = quantile * float(values.std(ddof=1)) / math.sqrt(size)
    return mean, mean - half, mean + half


def ratio(values: FloatArray, base: FloatArray) -> tuple[float, float, float]:
    """Return ``mean(values) / mean(base)`` and its interval by the delta method, pair by pair."""
    below = float(base.mean())
    if below == 0.0:
        return (float("nan"),) * 3
    ratio = float(values.mean()) / below
    _, low, high = interval((values - ratio * base) / below)
    return ratio, ratio + low, ratio + high
