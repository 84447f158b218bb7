"""Results: a labelled dataset over (policy, run, round), saved whole or not at all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gbb._support import checks, files, seal
from gbb._support.checks import InputError, IntArray
from gbb.environment import System, TableSystem
from gbb.policies import AnyPolicy
from gbb.simulation.baseline import Baseline
from gbb.simulation.trace import Trace

if TYPE_CHECKING:
    import xarray as xr

AXES = ("policy", "run", "round")
VARIABLES = ("expected_reward", "couple")
"""What every result of :func:`gbb.simulate` holds."""

UNSEALED = "if it was damaged since it was written, nobody can tell."
MANY = 1000
"""Of so many recorded rounds the labels are made anew for every result."""

EXPANSION = 1100
"""No file grows by more when it is read: so much does zlib, at most, make of a byte."""


def assemble(
    system: System,
    policies: Sequence[AnyPolicy],
    traces: Sequence[Sequence[Trace]],
    recorded: IntArray,
    baseline: Baseline,
) -> xr.Dataset:
    """The dataset of all runs: what they earned, and what ``baseline`` makes of it.

    Regrets are cumulative over all rounds played, recorded or not.
    """
    problem = system.problem
    noise = {} if "sigma" in problem.unknown else {"sigma": problem.sigma}
    if isinstance(system, TableSystem):
        noise = {"sigma": system.sigma}
    reward = np.array([[trace.reward for trace in runs] for runs in traces])
    cumulative = np.array([[trace.cumulative for trace in runs] for runs in traces])
    couple = np.array([[trace.couple for trace in runs] for runs in traces])
    measures = baseline(reward, cumulative)
    found = {"expected_reward": (reward, "expected global reward"), **measures.variables}
    found["couple"] = couple, "arms of V1 and V2, or -1"
    labels = Labels(
        policies=tuple(policy.name for policy in policies),
        runs=reward.shape[1],
        recorded=recorded.tobytes(),
        variables=tuple((name, values.ndim, words) for name, (values, words) in found.items()),
        alpha=measures.alpha is not None,
    )
    blank = _blank if recorded.size <= MANY else _blank.__wrapped__
    dataset = blank(labels).copy(data={name: values for name, (values, _) in found.items()})
    if measures.alpha is not None:
        dataset["alpha"].data = measures.alpha
    dataset.attrs = {key: getattr(problem, key) for key in ("n", "m", "K", "d")} | noise
    if isinstance(system, TableSystem):
        dataset.attrs["noise"] = system.noise
    dataset.attrs.update(measures.attrs)
    if traces[0][0].allocation is not None:
        arms = np.array([[trace.allocation for trace in runs] for runs in traces])
        dataset["allocation"] = ((*AXES, "agent"), arms)
        dataset.coords["agent"] = [str(problem.graph.label(i)) for i in range(problem.n)]
    return dataset


class Labels(NamedTuple):
    """What a result is labelled by: all of it but its numbers.

    Attributes
    ----------
    policies, runs
        The policies' names, and how many runs each has.
    recorded
        The bytes of the recorded rounds.
    variables
        Name, number of axes and long name of each.
    alpha
        Whether every policy has an alpha.
    """

    policies: tuple[str, ...]
    runs: int
    recorded: bytes
    variables: tuple[tuple[str, int, str], ...]
    alpha: bool


@lru_cache(maxsize=16)
def _blank(labels: Labels) -> xr.Dataset:
    """A result without numbers, to be copied: to label one takes longer than many a simulation."""
    import xarray as xr  # noqa: PLC0415

    coords: dict[str, Any] = {
        "policy": list(labels.policies),
        "run": np.arange(labels.runs),
        "round": np.frombuffer(labels.recorded, dtype=np.int64),
        "part": ["V1", "V2"],
    }
    sizes, axes = [len(each) for each in coords.values()], tuple(coords)
    variables = {
        name: (axes[:dims], np.broadcast_to(0.0, sizes[:dims]), {"long_name": words})
        for name, dims, words in labels.variables
    }
    alpha = {"alpha": ("policy", np.zeros(len(labels.policies)))} if labels.alpha else {}
    return xr.Dataset(variables, coords={**coords, **alpha})


def save(result: xr.Dataset, path: str | Path) -> None:
    """Write a result as netCDF, compressed, with a digest; ``path`` appears whole or not at all."""
    import xarray as xr  # noqa: PLC0415

    if not isinstance(result, xr.Dataset):
        raise checks.input_error("result", "be an xarray.Dataset", type(result).__name__)
    write_dataset(result, path)


def load(path: str | Path) -> xr.Dataset:
    """Read a result written by :func:`save` into memory.

    The digest of its bytes, which stands after what other programs read, tells whether it is as it
    was written; a damaged file is refused, and one without a digest read with a warning. What the
    netCDF library does with a file that has none is not bounded: take such files from people you trust.
    """
    result = read_dataset(path)
    missing = [f"the dimension {axis!r}" for axis in AXES if axis not in result.dims]
    missing += [f"the variable {name!r}" for name in VARIABLES if name not in result]
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
        seal.seal(temporary)


def read_dataset(path: str | Path, *, sealed: bool = False) -> xr.Dataset:
    """Read any dataset into memory; one that is not what was written is refused.

    A file without a digest, of another program or an earlier version, is read with a warning, unless
    it must be ``sealed``.
    """
    if not Path(path).is_file():
        raise checks.input_error(
            "path",
            "name a result file",
            repr(str(path)),
            "It is a directory." if Path(path).is_dir() else "No such file.",
        )
    try:
        intact = seal.is_intact(Path(path))
        if intact is None and not sealed:
            warnings.warn(f"{str(path)!r} has no digest: {UNSEALED}", stacklevel=3)
        elif not intact:
            cure = "Restore it from a copy, or run it again."
            raise checks.input_error("path", "be what gbb.save wrote", f"{path}, damaged", cure)
        return _read(Path(path))
    except InputError:
        raise
    except Exception as error:  # netCDF4 and xarray raise nearly anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise checks.input_error(
            "path", "name a readable netCDF file", f"{path} ({reason})"
        ) from None


def _read(path: Path) -> xr.Dataset:
    """The dataset, unless it says that it holds more than fits into the file."""
    import netCDF4  # noqa: PLC0415
    import xarray as xr  # noqa: PLC0415

    length = path.stat().st_size
    with netCDF4.Dataset(path) as stored:  # xarray reads some of it when it opens it
        for name, variable in stored.variables.items():
            chunks = variable.chunking()
            chunk = chunks if isinstance(chunks, list) else []
            size = max(math.prod(map(int, variable.shape)), math.prod(map(int, chunk)))
            if 8 * size > EXPANSION * length:
                rule = f"hold what fits into its {length:,} bytes"
                raise checks.input_error("path", rule, f"{size:,} numbers in {name!r} of {path}")
    with xr.open_dataset(path, engine="netcdf4") as opened:
        return opened.load()
