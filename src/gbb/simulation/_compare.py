"""Policies side by side over a family of instances, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import stats

from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb._support.seeds import Seed
from gbb.environment import Environment
from gbb.policies import AnyPolicy
from gbb.problem import Problem
from gbb.simulation._simulate import simulate

CONFIDENCE = 0.95


def compare(
    instances: Sequence[Environment],
    policies: Callable[[Problem], Sequence[AnyPolicy]],
    *,
    rounds: int,
    runs: int = 1,
    seed: Seed = 0,
    record: int | str | ArrayLike = "log",
    workers: int | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Play the same policies on every instance, each run of all of them with the same seed.

    Parameters
    ----------
    instances
        The environments; all need a positive optimum.
    policies
        Makes the policies of an instance's problem, always under the same names.
    rounds, runs, seed, record, workers, progress
        As for :func:`gbb.simulate`; ``runs`` is per instance.

    Returns
    -------
    xarray.Dataset
        As of :func:`gbb.simulate`, with ``regret`` and ``alpha_regret`` in units of the instance's
        optimum, the total in rewards as ``lost``, and ``run`` over all instances and their runs; the
        coordinate ``instance`` says which is which.
    """
    if not instances:
        raise checks.input_error("instances", "hold at least one environment", "none")
    parts = []
    for index, (env, child) in enumerate(
        zip(instances, seeds.spawn(seed, len(instances)), strict=True)
    ):
        found = simulate(
            env,
            policies(env.problem),
            rounds=rounds,
            runs=runs,
            seed=child,
            record=record,
            workers=workers,
            progress=progress,
        )
        best = float(found.attrs["optimum"])
        if not best > 0:
            raise checks.input_error("instances", "have positive optima", f"{best:g} at {index}")
        found = found.assign(lost=found["regret"])
        for name in ("regret", "alpha_regret"):
            found[name] = found[name] / best
        here = found.drop_vars("alpha").assign_coords(instance=("run", np.full(runs, index)))
        parts.append(here)
    joined = xr.concat(parts, dim="run", coords="minimal", compat="override", join="override")
    sizes = {key: parts[0].attrs[key] for key in ("n", "m", "K", "d", "sigma")}
    joined.attrs = {**sizes, "optimum": 1.0, "instances": len(instances), "runs": runs}
    return joined.assign_coords(run=np.arange(joined.sizes["run"]))


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


def comparison(result: xr.Dataset) -> list[Comparison]:
    """A row per policy from what :func:`compare` returned.

    Runs of one instance are averaged first when there are several instances: then the intervals are
    about the family of instances. The ratio of two means has its interval by the delta method on
    the paired differences ``x_i - ratio b_i``.
    """
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
            Comparison(
                str(name), *_interval(share), *_interval(regret), *_ratio(regret, regrets[0])
            )
        )
    return rows


def _quantile(size: int) -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, size - 1)) if size > 1 else float("nan")


def _interval(values: FloatArray) -> tuple[float, float, float]:
    """Mean and ends of its interval by Student's t; NaN for a single value."""
    mean, half = float(values.mean()), float("nan")
    if values.size > 1:
        half = _quantile(values.size) * float(values.std(ddof=1)) / np.sqrt(values.size)
    return mean, mean - half, mean + half


def _ratio(values: FloatArray, base: FloatArray) -> tuple[float, float, float]:
    """``mean(values) / mean(base)`` and its interval by the delta method, pair by pair."""
    below = float(base.mean())
    if below == 0.0:
        return (float("nan"),) * 3
    ratio = float(values.mean()) / below
    _, low, high = _interval((values - ratio * base) / below)
    return ratio, ratio + low, ratio + high
