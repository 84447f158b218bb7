"""Pictures of a sweep: regret curves in small multiples, wins against a baseline, exponents."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks, files
from gbb._support.checks import FloatArray, IntArray
from gbb.plotting import styles
from gbb.simulation.comparison import interval
from gbb.sweep.results.growth import Growth, exponents
from gbb.sweep.results.reading import pieces
from gbb.sweep.results.summary import check_baseline, groups, summarise
from gbb.sweep.run import sweep_in
from gbb.sweep.spec import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 1.7
"""Inches of a small picture."""

COLOURS = 128
"""The most colours of a picture."""

POINTS = 100
"""The most rounds that a curve is drawn at."""


def draw_curves(out: str | Path, rows: str | None = None, columns: str | None = None) -> Figure:
    """Regret over the rounds, in rounds of the optimum: a small picture for each value of two axes.

    A line is the mean over matrices, each averaged over all other axes first, and its band the 95 %
    interval. The first two axes with several values when left out.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415

    sweep = sweep_in(out)
    by = choose_axes(sweep, rows, columns)
    shape = tuple(len(sweep.axes[name]) for name in by) + (1,) * (2 - len(by))
    at = _spread(sweep.recorded)
    panels = _curves(sweep, out, by, at)
    figure = Figure(figsize=(1.2 + SIZE * shape[1], 1.3 + SIZE * shape[0]), layout="constrained")
    axes: Any = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
    looks = styles(sweep.names)
    positive = all((curves.mean(axis=0) > 0.0).all() for _, curves in panels)
    scale = "log" if positive else "symlog"
    for ax, (cell, curves) in zip(axes.flat, panels, strict=True):
        for number, name in enumerate(sweep.names):
            _curve(ax, sweep.recorded[at], curves[:, number], name, looks[name])
        ax.set_title(", ".join(_label(*each) for each in cell.items()), fontsize=8)
        ax.tick_params(labelsize=7)
        ax.set(xscale="log", yscale=scale)
        ax.grid(alpha=0.2)
    if positive:  # a band may reach below 0, which is nowhere on such an axis
        axes[0, 0].set_ylim(bottom=min(curves.mean(axis=0).min() for _, curves in panels) / 2.0)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    columns_of_legend = max(1, min(4, int(figure.get_figwidth() / 1.8)))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns_of_legend, fontsize=8)
    figure.supxlabel("round", fontsize=9)
    figure.supylabel("regret, in rounds of the optimum", fontsize=9)
    return figure


def draw_wins(
    out: str | Path,
    baseline: str | None = None,
    rows: str | None = None,
    columns: str | None = None,
) -> Figure:
    """In what share of the instances each policy lost less than the baseline, for two axes."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    sweep = sweep_in(out)
    base = check_baseline(sweep, baseline)
    others = [name for name in sweep.names if name != base]
    if not others:
        raise checks.input_error("policies", "be two or more for wins", len(sweep.names))
    by = choose_axes(sweep, rows, columns)
    found = summarise(out, by=by, baseline=base)
    wins = np.array([row.wins for row in found if row.policy != base]).reshape(-1, len(others))
    cells = [row.cell for row in found if row.policy == base]
    labels = [", ".join(_label(*each) for each in cell.items()) or "all" for cell in cells]
    size = (2.2 + 0.6 * max(3, len(others)), 1.5 + 0.2 * len(cells))
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    ax.imshow(wins, vmin=0.0, vmax=1.0, cmap="PuOr", aspect="auto")
    for (i, j), share in np.ndenumerate(wins):
        colour = "white" if abs(share - 0.5) > 0.35 else "black"
        ax.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set_xticks(range(len(others)), others, rotation=30, ha="right", fontsize=7)
    ax.set_yticks(range(len(cells)), labels, fontsize=7)
    figure.suptitle(f"instances with less regret\nthan {base}, %", fontsize=9)
    return figure


def draw_exponents(out: str | Path) -> Figure:
    """Exponents of regret with their intervals: in T, in m and along every axis of numbers."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    names, found = sweep_in(out).names, exponents(out)
    kinds = list(dict.fromkeys(each.along for each in found))
    size = (2.0 + 1.5 * len(kinds), 1.1 + 0.25 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    axes: Any = figure.subplots(1, len(kinds), sharey=True, squeeze=False)
    for ax, kind in zip(axes[0], kinds, strict=True):
        _exponents(ax, names, [each for each in found if each.along == kind])
        ax.set_title(f"in {kind}", fontsize=9)
    axes[0, 0].set_yticks(range(len(names)), names, fontsize=8)
    axes[0, 0].invert_yaxis()
    figure.supxlabel("exponent of regret", fontsize=9)
    return figure


def save_small(figure: Figure, path: Path) -> None:
    """Write a PNG of few colours: bands over bands have many, and would take four times the room."""
    from PIL import Image  # noqa: PLC0415

    with BytesIO() as whole, files.atomic(path) as temporary:
        figure.savefig(whole, format="png", dpi=150)
        few = Image.open(whole).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(temporary, format="png", optimize=True)


def choose_axes(sweep: Sweep, rows: str | None, columns: str | None) -> list[str]:
    """The axes down and across: those given, then the first with several values."""
    for name, given in (("rows", rows), ("columns", columns)):
        if given is not None:
            checks.choice(name, given, sweep.axes)
    if rows is not None and rows == columns:
        raise checks.input_error("columns", "be another axis than rows", columns)
    left = [name for name in sweep.axes if name not in (rows, columns)]
    chosen = [rows or (left.pop(0) if left else None), columns or (left.pop(0) if left else None)]
    return [name for name in chosen if name is not None]


def _curves(
    sweep: Sweep, out: str | Path, by: list[str], at: IntArray
) -> list[tuple[dict[str, Any], FloatArray]]:
    """For each picture its cell, and the mean regrets of its cells (matrix x policy x round)."""
    grouped = groups(sweep, by)
    where = {int(cell): k for k, (_, members) in enumerate(grouped) for cell in members}
    sums = np.zeros((len(grouped), sweep.matrices, len(sweep.names), at.size))
    for piece in pieces(out, at):
        sums[where[piece.cell], piece.matrices, piece.policies] += piece.regret
    return [
        (cell, total / members.size) for (cell, members), total in zip(grouped, sums, strict=True)
    ]


def _curve(ax: Axes, rounds: IntArray, curves: FloatArray, name: str, look: dict[str, Any]) -> None:
    middle, low, high = np.array([interval(column) for column in curves.T]).T
    ax.plot(rounds, middle, label=name, linewidth=1.2, **look)
    ax.fill_between(rounds, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _exponents(ax: Axes, names: list[str], found: list[Growth]) -> None:
    looks = styles(names)
    for place, each in enumerate(found):
        colour = looks[each.policy]["color"]
        ax.plot([each.low, each.high], [place, place], color=colour, linewidth=1.5)
        ax.plot([each.exponent], [place], "o", color=colour, markersize=4)
    ax.tick_params(labelsize=7)
    ax.grid(alpha=0.2)


def _spread(recorded: IntArray) -> IntArray:
    """Numbers of recorded rounds, about evenly spread over their logarithms."""
    if recorded.size <= POINTS:
        return np.arange(recorded.size)
    wanted = np.geomspace(recorded[0], recorded[-1], POINTS)
    return np.unique(np.searchsorted(recorded, wanted).clip(0, recorded.size - 1))


def _label(axis: str, value: Any) -> str:
    return str(value) if isinstance(value, str) else f"{axis} {value}"
