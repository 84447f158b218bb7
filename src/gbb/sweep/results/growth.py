"""How regret grows: its exponents in rounds, agents, edges, arms and any other axis of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray
from gbb.simulation.comparison import interval
from gbb.sweep.axes import is_used
from gbb.sweep.results.reading import finals, instances, pieces
from gbb.sweep.run import sweep_in
from gbb.sweep.spec import Sweep

DECADE = 10.0
"""The exponent in T is that from the last round over this number to the last."""

NETWORK = ("graph", "n", "p", "degree")
"""The axes along which the number of edges changes."""


class Growth(NamedTuple):
    """An exponent of a policy's regret in rewards, with a 95 % interval over matrices.

    Attributes
    ----------
    along
        What it is an exponent of: ``T``, ``m``, or the name of an axis.
    policy
        Whose.
    exponent, low, high
        The mean slope of the logarithm of regret over the logarithm of that.
    fitted
        The share of slopes that could be fitted: where a regret is not positive, none can.
    """

    along: str
    policy: str
    exponent: float
    low: float
    high: float
    fitted: float


def exponents(out: str | Path) -> list[Growth]:
    """Exponents in T, in m over all networks of the sweep, and along each axis of positive numbers.

    A slope is fitted for each matrix and each combination of the other axes in which the axis changes
    anything (K where arms are normal, say), and averaged over the latter.
    """
    sweep = sweep_in(out)
    return [
        Growth(along, name, *_mean(slopes[..., number]))
        for along, slopes in _all_slopes(sweep, out)
        for number, name in enumerate(sweep.names)
    ]


def _all_slopes(sweep: Sweep, out: str | Path) -> Iterator[tuple[str, FloatArray]]:
    """Slopes (combination x matrix x policy) along each of what there is."""
    yield "T", _over_rounds(sweep, out)
    best, edges = instances(out)
    regret = finals(out).reshape(*best.shape, -1) * best[..., None] * sweep.rounds
    axes = list(sweep.axes)
    for name, values in sweep.axes.items():
        if all(isinstance(value, int | float) and value > 0 for value in values):
            x = np.log(np.array(values, dtype=np.float64))
            at = axes.index(name)
            used = np.array([is_used(name, cell) for cell in sweep.cells]).reshape(sweep.shape)
            flat = _together(regret, [at])[:, used.take(0, axis=at).ravel()]
            yield name, _slopes(x[:, None, None, None], flat)
    along = [axes.index(name) for name in NETWORK if name in axes]
    if along and (edges != edges.flat[0]).any():
        x = _together(np.log(edges)[..., None], along)
        yield "m", _slopes(x, _together(regret, along))


def _over_rounds(sweep: Sweep, out: str | Path) -> FloatArray:
    rounds = sweep.recorded
    last = np.flatnonzero(rounds * DECADE >= rounds[-1])
    last = last[:: max(1, last.size // 50)]
    found = np.full((len(sweep.cells), sweep.matrices, len(sweep.names)), np.nan)
    if last.size > 1:
        x = np.log(rounds[last].astype(np.float64))[:, None, None]
        for piece in pieces(out, last):
            slopes = _slopes(x, np.moveaxis(piece.regret, -1, 0))
            found[piece.cell, piece.matrices, piece.policies] = slopes
    return found


def _together(values: FloatArray, along: list[int]) -> FloatArray:
    """``values`` (axes, matrix, policy) as point x combination x matrix x policy."""
    front = np.moveaxis(values, along, range(len(along)))
    points = int(np.prod(front.shape[: len(along)]))
    return front.reshape(points, -1, *values.shape[-2:])


def _slopes(x: FloatArray, regret: FloatArray) -> FloatArray:
    """Least squares of the logarithm of ``regret`` over ``x``, along the first dimension."""
    y = np.log(np.where(regret > 0.0, regret, np.nan))
    centred = x - x.mean(axis=0)
    slopes: FloatArray = (centred * y).sum(axis=0) / (centred**2).sum(axis=0)
    return slopes


def _mean(slopes: FloatArray) -> tuple[float, float, float, float]:
    """Over combinations, then over matrices; and the share of slopes that there are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a matrix without any slope
        each = np.nanmean(slopes, axis=0)
    known = each[np.isfinite(each)]
    found = interval(known) if known.size else (np.nan,) * 3
    return (*found, float(np.isfinite(slopes).mean()))
