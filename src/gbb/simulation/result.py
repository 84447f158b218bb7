"""Results: a labelled dataset over (policy, run, round), saved whole or not at all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

MANY = 1000
"""Results with more recorded rounds are labelled anew each time: their labels are too large to keep."""

EXPANSION = 1100
"""No file grows by more when it is read: zlib makes at most so much of a byte."""


def assemble(
    system: System,
    policies: Sequence[AnyPolicy],
    traces: Sequence[Sequence[Trace]],
    recorded: IntArray,
    baseline: Baseline,
) -> xr.Dataset:
    """Return the dataset of all runs: what they earned, and what ``baseline`` makes of it.

    Regrets are cumulative over all rounds played, recorded or not.
    """
    problem = system.problem
    reward, cumulative, couple = (
        np.array([[getattr(trace, name) for trace in runs] for runs in traces])
        for name in ("reward", "cumulative", "couple")
    )
    found = baseline(reward, cumulative)
    variables = {"expected_reward": (reward, "expected global reward"), **found.variables}
    variables["couple"] = couple, "arms of V1 and V2, or -1"
    template = _template if recorded.size <= MANY else _template.__wrapped__
    empty = template(
        tuple(policy.name for policy in policies),
        reward.shape[1],
        recorded.tobytes(),
        tuple((name, values.ndim, words) for name, (values, words) in variables.items()),
        found.alpha is not None,
    )
    dataset = empty.copy(data={name: values for name, (values, _) in variables.items()})
    if found.alpha is not None:
        dataset["alpha"].data = found.alpha
    dataset.attrs = {key: getattr(problem, key) for key in ("n", "m", "K", "d")}
    if isinstance(system, TableSystem):
        dataset.attrs |= {"sigma": system.sigma, "noise": system.noise}
    elif "sigma" not in problem.unknown:
        dataset.attrs["sigma"] = problem.sigma
    dataset.attrs |= found.attrs
    if traces[0][0].allocation is not None:
        arms = np.array([[trace.allocation for trace in runs] for runs in traces])
        dataset["allocation"] = ((*AXES, "agent"), arms)
        dataset.coords["agent"] = [str(problem.graph.label(i)) for i in range(problem.n)]
    return dataset


@lru_cache(maxsize=16)
def _template(
    policies: tuple[str, ...],
    runs: int,
    recorded: bytes,
    variables: tuple[tuple[str, int, str], ...],
    has_alpha: bool,
) -> xr.Dataset:
    """Return a result without numbers, to be copied: labelling one takes half of a short simulation.

    ``variables`` are the name, the number of axes and the long name of each. A copy with data of its own
    shares none with the template.
    """
    import xarray as xr  # noqa: PLC0415

    coords: dict[str, Any] = {
        "policy": list(policies),
        "run": np.arange(runs),
        "round": np.frombuffer(recorded, dtype=np.int64),
        "part": ["V1", "V2"],
    }
    sizes, axes = [len(each) for each in coords.values()], tuple(coords)
    filled = {
        name: (axes[:dims], np.broadcast_to(0.0, sizes[:dims]), {"long_name": words})
        for name, dims, words in variables
    }
    alpha = {"alpha": ("policy", np.zeros(len(policies)))} if has_alpha else {}
    return xr.Dataset(filled, coords={**coords, **alpha})


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
    """Read any dataset into memory; refuse one that is not what was written.

    A file without a digest, of another program or an earlier version, is read with a warning, unless
    it must be ``sealed``.
    """
    if not Path(path).is_file():
        why = "It is a directory." if Path(path).is_dir() else "No such file."
        raise checks.input_error("path", "name a result file", repr(str(path)), why)
    try:
        intact = seal.is_intact(Path(path))
        if intact is None and not sealed:
            text = "has no digest: if it was damaged since it was written, nobody can tell."
            warnings.warn(f"{str(path)!r} {text}", stacklevel=3)
        elif not intact:
            cure = "Restore it from a copy, or run it again."
            raise checks.input_error("path", "be what gbb.save wrote", f"{path}, damaged", cure)
        return _read(Path(path))
    except InputError:
        raise
    except Exception as error:  # netCDF4 and xarray raise nearly anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        found = f"{path} ({reason})"
        raise checks.input_error("path", "name a readable netCDF file", found) from None


def _read(path: Path) -> xr.Dataset:
    """Return the dataset, unless it claims to hold more than fits into the file."""
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
