"""A collected dataset, read a chunk at a time: what is computed of it may be larger than memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.sweep.results.collect import DATASET, plain_errors
from gbb.sweep.run import sweep_in

if TYPE_CHECKING:
    import xarray as xr


ROUNDING = 1e-12
"""Regret that is less of the rounds is the rounding of sums, and is none."""


class Piece(NamedTuple):
    """Regrets of one cell in rounds of the optimum, means over runs (matrix x policy x round)."""

    cell: int
    matrices: slice
    policies: slice
    regret: FloatArray


def open_sweep(out: str | Path) -> xr.Dataset:
    """The collected dataset of a sweep, of which only what is asked for is read."""
    import xarray as xr  # noqa: PLC0415

    return xr.open_dataset(_path_of(out))


def _path_of(out: str | Path) -> Path:
    """Where the dataset is, which says itself that it is of the sweep in ``out``."""
    import netCDF4  # noqa: PLC0415

    sweep, path = sweep_in(out), Path(out) / DATASET
    if not path.is_file():
        cure = f"Run gbb sweep collect {out} first."
        raise checks.input_error("DIR", "hold a collected dataset", f"none in {str(out)!r}", cure)
    with netCDF4.Dataset(path) as file:
        if getattr(file, "sweep", None) != json.dumps(sweep.to_dict()):
            cure = f"Run gbb sweep collect {out} again."
            raise checks.input_error("DIR", "hold its own dataset", "another sweep's", cure)
    return path


def pieces(out: str | Path, rounds: IntArray) -> Iterator[Piece]:
    """All regrets at the recorded rounds with these numbers, counted from 0, chunk by chunk."""
    import netCDF4  # noqa: PLC0415

    sweep = sweep_in(out)
    path = _path_of(out)
    with plain_errors(path, "read: collect again"), netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)  # nothing is missing
        regret = file["regret"]
        chunks = regret.chunking()
        regret.set_var_chunk_cache(size=8 * int(np.prod(chunks)))
        *_, matrix, policy, run, last = map(_spans, regret.shape, chunks)
        for cell in range(len(sweep.cells)):
            place = tuple(sweep.place(cell).values())
            best = np.asarray(file["optimum"][place])
            if not (best > 0.0).all():
                what = f"{best.min():.3g} in combination {cell}"
                cure = "open_sweep has its regrets in rewards."
                raise checks.input_error("DIR", "have optima > 0, to take shares of", what, cure)
            scale = sweep.runs * best
            for matrices, policies in itertools.product(matrix, policy):
                size = (matrices.stop - matrices.start, policies.stop - policies.start, rounds.size)
                total = np.zeros(size)
                for runs, span in itertools.product(run, last):
                    inside = (rounds >= span.start) & (rounds < span.stop)
                    if inside.any():
                        values = np.asarray(regret[(*place, matrices, policies, runs, span)])
                        chosen = values[..., rounds[inside] - span.start]
                        total[..., inside] += chosen.sum(axis=2)
                share = total / scale[matrices, None, None]
                share[np.abs(share) <= ROUNDING * sweep.recorded[rounds]] = 0.0
                yield Piece(cell, matrices, policies, share)


def _spans(size: int, chunk: int) -> list[slice]:
    """A dimension chunk by chunk."""
    return [slice(start, min(start + chunk, size)) for start in range(0, size, chunk)]


def finals(out: str | Path) -> FloatArray:
    """The share of the optimum lost over all rounds, averaged over runs (cell x matrix x policy)."""
    sweep = sweep_in(out)
    found = np.empty((len(sweep.cells), sweep.matrices, len(sweep.names)))
    for piece in pieces(out, np.array([len(sweep.recorded) - 1])):
        found[piece.cell, piece.matrices, piece.policies] = piece.regret[..., 0] / sweep.rounds
    return found


def instances(out: str | Path) -> tuple[FloatArray, FloatArray]:
    """The optimum and the number of directed edges of every instance (axes, matrix)."""
    import netCDF4  # noqa: PLC0415

    path = _path_of(out)
    with plain_errors(path, "read: collect again"), netCDF4.Dataset(path) as file:
        return np.asarray(file["optimum"][:]), np.asarray(file["edges"][:])
