"""What a sweep found, in tables: means over instances with intervals, paired with a baseline."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.simulation.comparison import CONFIDENCE, interval, ratio
from gbb.sweep.results.reading import finals
from gbb.sweep.run import sweep_in
from gbb.sweep.spec import Sweep


class Row(NamedTuple):
    """One policy in one cell, or over some; intervals are at 95 % over matrices.

    Attributes
    ----------
    cell
        The values of the axes that are told apart.
    policy
        Its name.
    lost, lost_low, lost_high
        Mean share of the optimal reward that was lost over all rounds.
    ratio, ratio_low, ratio_high
        That share over the baseline's, by paired instances.
    wins, wins_low, wins_high
        The share of instances in which it lost less than the baseline, ties counting half; its interval
        is not symmetric. All NaN where an optimum is not positive, as is what was lost.
    """

    cell: dict[str, Any]
    policy: str
    lost: float
    lost_low: float
    lost_high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    wins: float
    wins_low: float
    wins_high: float


def summarise(
    out: str | Path, *, by: Sequence[str] | None = None, baseline: str | None = None
) -> list[Row]:
    """A row for every policy and every combination of the axes ``by``, all of them when left out.

    Runs of an instance are averaged first, then the cells of the axes that are not told apart, matrix by
    matrix: cells share their matrices, so that a matrix and not an instance is the independent unit. The
    baseline is the first policy when left out.
    """
    sweep = sweep_in(out)
    base = sweep.names.index(check_baseline(sweep, baseline))
    lost, rows = finals(out), []
    won = np.where(lost < lost[:, :, [base]], 1.0, np.where(lost == lost[:, :, [base]], 0.5, 0.0))
    won[np.isnan(lost) | np.isnan(lost[:, :, [base]])] = np.nan
    for cell, members in groups(sweep, by):
        here, wins = lost[members].mean(axis=0), won[members].mean(axis=0)
        for number, name in enumerate(sweep.names):
            own = here[:, number]
            share = (0.5,) * 3 if number == base else share_interval(wins[:, number], members.size)
            compared = (*ratio(own, here[:, base]), *share)
            rows.append(Row(cell, name, *interval(own), *compared))
    return rows


def share_interval(values: FloatArray, each: int) -> tuple[float, float, float]:
    """Mean of shares and its interval by Wilson's score, inside [0, 1]; NaN for a single value.

    Where ``each`` is the share of several instances, these count as more than one as far as shares
    differ less than the outcomes of one instance would. All won is not won for certain: the interval
    has a width then, where that by the standard deviation has none.
    """
    from scipy.special import stdtrit  # noqa: PLC0415

    mean, size = float(values.mean()), values.size
    if size < 2 or np.isnan(mean):
        return mean, float("nan"), float("nan")
    spread, most = float(values.var()), mean * (1.0 - mean)
    counted = size * (min(each, most / spread) if spread > 0.0 else each if most > 0.0 else 1)
    k = float(stdtrit(size - 1, (1 + CONFIDENCE) / 2)) ** 2 / counted
    middle, half = (mean + k / 2) / (1 + k), float(np.sqrt(k * (most + k / 4))) / (1 + k)
    return mean, max(0.0, middle - half), min(1.0, middle + half)


def check_baseline(sweep: Sweep, baseline: str | None) -> str:
    """The policy that others are compared with."""
    return sweep.names[0] if baseline is None else checks.choice("baseline", baseline, sweep.names)


def groups(sweep: Sweep, by: Sequence[str] | None) -> list[tuple[dict[str, Any], IntArray]]:
    """Every combination of the axes ``by``, the last fastest, and the numbers of its cells."""
    names = list(sweep.axes) if by is None else [checks.choice("by", n, sweep.axes) for n in by]
    members: dict[tuple[Any, ...], list[int]] = {}
    for number, cell in enumerate(sweep.cells):
        members.setdefault(tuple(cell[name] for name in names), []).append(number)
    return [
        (dict(zip(names, values, strict=True)), np.array(members[values]))
        for values in itertools.product(*(sweep.axes[name] for name in names))
    ]
