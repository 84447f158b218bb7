"""Results: a labelled dataset over (policy, run, round), saved whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from gbb._support import checks, files
from gbb._support.checks import IntArray
from gbb.environment import Environment
from gbb.optimum import Optimum
from gbb.policies import AnyPolicy
from gbb.simulation._trace import Trace

AXES = ("policy", "run", "round")
VARIABLES = ("expected_reward", "fraction", "regret", "alpha_regret", "couple")


def assemble(
    env: Environment,
    policies: Sequence[AnyPolicy],
    traces: Sequence[Sequence[Trace]],
    recorded: IntArray,
    *,
    optimum: Optimum,
    alphas: Sequence[float],
) -> xr.Dataset:
    """The dataset of all runs.

    ``fraction`` is the expected reward over the optimal one; ``regret`` and ``alpha_regret`` are
    cumulative over all rounds played, recorded or not.
    """
    problem = env.problem
    reward = np.array([[trace.reward for trace in runs] for runs in traces])
    cumulative = np.array([[trace.cumulative for trace in runs] for runs in traces])
    couple = np.array([[trace.couple for trace in runs] for runs in traces])
    best = optimum.value
    alpha = np.asarray(alphas)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = reward / best
    dataset = xr.Dataset(
        {
            "expected_reward": (AXES, reward, {"long_name": "expected global reward"}),
            "fraction": (AXES, fraction, {"long_name": "fraction of the optimal global reward"}),
            "regret": (AXES, recorded * best - cumulative, {"long_name": "cumulative regret"}),
            "alpha_regret": (
                AXES,
                recorded * (alpha * best) - cumulative,
                {"long_name": "cumulative alpha-regret"},
            ),
            "couple": ((*AXES, "part"), couple, {"long_name": "arms of V1 and V2, or -1"}),
        },
        coords={
            "policy": [policy.name for policy in policies],
            "run": np.arange(reward.shape[1]),
            "round": recorded,
            "part": ["V1", "V2"],
            "alpha": ("policy", np.asarray(alphas, dtype=np.float64)),
        },
        attrs={
            "n": problem.n,
            "m": problem.m,
            "K": problem.K,
            "d": problem.d,
            "sigma": problem.sigma,
            "noise": env.noise,
            "optimum": best,
            "optimum_upper_bound": optimum.upper_bound,
            "optimum_proven": int(optimum.proven),
            "optimum_method": optimum.method,
        },
    )
    if traces[0][0].allocation is not None:
        arms = np.array([[trace.allocation for trace in runs] for runs in traces])
        dataset["allocation"] = ((*AXES, "agent"), arms)
        dataset.coords["agent"] = [str(problem.graph.label(i)) for i in range(problem.n)]
    return dataset


def save(result: xr.Dataset, path: str | Path) -> None:
    """Write a result as netCDF, compressed, with checksums; ``path`` appears whole or not at all."""
    if not isinstance(result, xr.Dataset):
        raise checks.input_error("result", "be an xarray.Dataset", type(result).__name__)
    write_dataset(result, path)


def load(path: str | Path) -> xr.Dataset:
    """Read a result written by :func:`save` into memory."""
    result = read_dataset(path)
    missing = [f"the dimension {axis!r}" for axis in AXES if axis not in result.dims]
    missing += [f"the variable {name!r}" for name in VARIABLES if name not in result]
    missing += [] if "optimum" in result.attrs else ["the attribute 'optimum'"]
    if missing:
        cure = "Read other netCDF files with xarray.open_dataset."
        found = f"{str(path)!r} without {', '.join(missing)}"
        raise checks.input_error("path", "name a result of gbb.simulate", found, cure)
    return result


def write_dataset(result: xr.Dataset, path: str | Path) -> None:
    """Write any dataset as :func:`save` writes a result."""
    target = Path(path)
    if target.suffix != ".nc":
        raise checks.input_error("path", "end in .nc (netCDF)", repr(str(path)))
    packed = {
        name: {"zlib": True, "complevel": 4, "fletcher32": True}
        for name, variable in result.variables.items()
        if variable.dtype.kind in "if"
    }
    with files.atomic(target) as temporary:
        result.to_netcdf(temporary, engine="netcdf4", encoding=packed)


def read_dataset(path: str | Path) -> xr.Dataset:
    """Read any dataset into memory."""
    if not Path(path).is_file():
        raise checks.input_error(
            "path",
            "name a result file",
            repr(str(path)),
            "It is a directory." if Path(path).is_dir() else "No such file.",
        )
    try:
        with xr.open_dataset(path, engine="netcdf4") as stored:
            return stored.load()
    except (OSError, ValueError, RuntimeError) as error:  # netCDF4 raises all three
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise checks.input_error(
            "path", "name a readable netCDF file", f"{path} ({reason})"
        ) from None
