"""All parts as one dataset, written part by part: no more than a part is ever in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gbb._support import checks, files
from gbb._support.checks import FloatArray
from gbb.sweep import parts
from gbb.sweep.run import sweep_in
from gbb.sweep.spec import Sweep
from gbb.sweep.tasks import Block, Task, plan

DATASET = "dataset.nc"

CURVES = {
    "expected_reward": "expected global reward",
    "fraction": "fraction of the optimal global reward",
    "regret": "cumulative regret",
    "alpha_regret": "cumulative alpha-regret",
}
OPTIMA = {
    "optimum": "expected global reward of the best allocation that is known",
    "optimum_upper_bound": "what no allocation exceeds",
    "optimum_proven": "1 where the optimum is proven",
    "edges": "directed edges",
}

CHUNK = 1 << 17
"""The most numbers in a chunk, which is what is read or written at once."""

ROUNDING = 1e-9
"""Rewards this close to the optimum are the optimum."""


def collect(out: str | Path) -> Path:
    """Write the dataset of the sweep in ``out``, all of whose tasks must be done; returns its path.

    Its dimensions are the sweep's axes with several values, matrix, policy, run and round. Open it with
    ``xarray.open_dataset``, which reads what is asked for and no more.

    An optimum that was not proven is raised to what a policy earned beyond it in a recorded round.
    """
    folder, sweep = Path(out), sweep_in(out)
    tasks = plan(sweep)
    missing = sum(not parts.is_done(folder, task.name) for task in tasks)
    if missing:
        rule = "have all its tasks done"
        cure = "Run it again: what is done stays."
        raise checks.input_error("DIR", rule, f"{missing} of {len(tasks)} missing", cure)
    target = folder / DATASET
    with files.atomic(target) as temporary, plain_errors(target, "written: is the disk full?"):
        _write(sweep, tasks, folder, temporary)
    return target


@contextmanager
def plain_errors(path: Path, what: str) -> Iterator[None]:
    """``OSError`` for what netCDF calls a ``RuntimeError``."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(f"{path} cannot be {what} ({error})") from error


def _write(sweep: Sweep, tasks: list[Task], folder: Path, path: Path) -> None:
    import netCDF4  # noqa: PLC0415

    with netCDF4.Dataset(path, "w") as file:
        _declare(sweep, file)
        file.set_auto_mask(False)
        for _, block, found in _blocks(tasks, folder, "optima"):
            at = _place(sweep, block)
            for name, values in found.items():
                file[name][at] = values
        for _, block, found in _blocks(tasks, folder, "play"):
            _raise_optima(file, _place(sweep, block), found["reward"])
        for task, block, found in _blocks(tasks, folder, "play"):
            at = _place(sweep, block)
            first = sweep.names.index(task.policies[0])
            own = slice(first, first + len(task.policies))
            best = np.asarray(file["optimum"][at])
            alpha = np.asarray(file["alpha"][(*at, own)])
            for name, values in _measure(sweep, found, best, alpha).items():
                file[name][(*at, own)] = values
        file.sweep = json.dumps(sweep.to_dict())


def _blocks(
    tasks: list[Task], folder: Path, kind: str
) -> Iterator[tuple[Task, Block, dict[str, FloatArray]]]:
    """The blocks of all parts of a kind, with what was found for each."""
    for task in tasks:
        if task.kind == kind:
            found = parts.read(folder, task.name, len(task.blocks))
            for block, own in zip(task.blocks, found, strict=True):
                yield task, block, own


def _raise_optima(file: Any, at: tuple[Any, ...], reward: FloatArray) -> None:
    """Put what a policy earned in place of an optimum that is not proven and pays less."""
    best = np.asarray(file["optimum"][at])
    most = reward.reshape(len(best), -1).max(axis=1)
    more = most > best + ROUNDING * np.maximum(np.abs(best), np.abs(most))
    if not more.any():
        return
    if np.asarray(file["optimum_proven"][at])[more].any():
        raise checks.input_error(
            "DIR", "hold optima that no policy exceeds", "one that is exceeded"
        )
    file["optimum"][at] = np.where(more, most, best)
    bound = np.asarray(file["optimum_upper_bound"][at])
    file["optimum_upper_bound"][at] = np.where(more, np.maximum(most, bound), bound)


def _measure(
    sweep: Sweep, found: dict[str, FloatArray], best: FloatArray, alpha: FloatArray
) -> dict[str, FloatArray]:
    """What a block's rewards are against the optima of its instances (matrix x policy x run x round)."""
    best, alpha = best[:, None, None, None], alpha[:, :, None, None]
    rounds, total = sweep.recorded.astype(np.float64), found["total"]
    return {
        "expected_reward": found["reward"],
        "fraction": found["reward"] / np.where(best > 0.0, best, np.nan),
        "regret": rounds * best - total,
        "alpha_regret": rounds * (alpha * best) - total,
    }


def _place(sweep: Sweep, block: Block) -> tuple[Any, ...]:
    """Where a block stands along the axes with several values and the matrices."""
    return (*sweep.place(block.cell).values(), slice(block.start, block.stop))


def _declare(sweep: Sweep, file: Any) -> None:
    """The dimensions, their values and the variables."""
    sizes = dict(zip(sweep.axes, sweep.shape, strict=True))
    sizes |= {"matrix": sweep.matrices, "policy": len(sweep.names), "run": sweep.runs}
    sizes["round"] = len(sweep.recorded)
    for name, size in sizes.items():
        file.createDimension(name, size)
    values: dict[str, Any] = {**sweep.axes, "policy": sweep.names, "round": sweep.recorded.tolist()}
    for name, listed in values.items():
        text = any(isinstance(each, str) for each in listed)
        kind = str if text else np.array(listed, dtype=np.float64 if None in listed else None).dtype
        made = file.createVariable(name, kind, (name,))
        made[:] = np.array(listed, dtype=object if text else kind)
    instance = (*sweep.axes, "matrix")
    for name, words in OPTIMA.items():
        file.createVariable(name, "f8", instance, fletcher32=True).long_name = words
    alpha = file.createVariable("alpha", "f8", (*instance, "policy"), fletcher32=True)
    alpha.long_name = "which share of the optimum the policy's theorem is about"
    whole = (*instance, "policy", "run", "round")
    chunk = _chunk(sizes, sweep)
    for name, words in CURVES.items():
        made = file.createVariable(
            name, "f8", whole, zlib=True, complevel=1, fletcher32=True, chunksizes=chunk
        )
        made.long_name = words
        made.set_var_chunk_cache(size=8 * CHUNK, nelems=1009)  # one chunk is written at a time


def _chunk(sizes: dict[str, int], sweep: Sweep) -> tuple[int, ...]:
    """All of one cell, or fewer of its matrices, policies, runs and rounds, in this order."""
    shape = {name: 1 if name in sweep.axes else size for name, size in sizes.items()}
    for name in ("matrix", "policy", "run", "round"):
        while shape[name] > 1 and np.prod(list(shape.values()), dtype=np.int64) > CHUNK:
            shape[name] = -(-shape[name] // 2)
    return tuple(shape.values())
