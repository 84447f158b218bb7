"""Pictures at column width: one size, one palette, labels that do not overlap."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gbb._support import files
from gbb._support.checks import FloatArray
from gbb.plotting import COLOURS

WIDTH = 3.3
"""Inches: one column of the paper."""

PARAMETER_COLOURS = {
    "gamma": "#000000",
    "alpha_1": COLOURS["OFUL"],
    "epsilon": "#CC79A7",
    "alpha_2": COLOURS["ImprovedOFUL"],
}
"""An alpha has the colour of the algorithm whose guarantee it is."""

SYMBOLS = {
    "gamma": r"$\gamma$",
    "alpha_1": r"$\alpha_1$",
    "epsilon": r"$\epsilon$",
    "alpha_2": r"$\alpha_2$",
}
SMALL = 8


def column(height: float) -> tuple[Figure, Axes]:
    """An empty picture of column width and so many inches high."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.tick_params(labelsize=SMALL)
    axes.xaxis.label.set_fontsize(SMALL + 1)
    axes.yaxis.label.set_fontsize(SMALL + 1)
    axes.grid(True, linewidth=0.5, alpha=0.4)
    return figure, axes


def parameter(axes: Axes, name: str, x: FloatArray, y: FloatArray, style: str) -> None:
    """Draw gamma, epsilon or an alpha."""
    colour = PARAMETER_COLOURS[name]
    axes.plot(x, y, linewidth=1.4, color=colour, linestyle=style, label=SYMBOLS[name])


def policy_curve(
    axes: Axes, policy: str, *, label: str, rounds: FloatArray, raw: FloatArray, smooth: FloatArray
) -> None:
    """Draw the raw curve faintly and its moving average, at the last round of each window, over it."""
    colour = COLOURS[policy]
    axes.plot(rounds, raw, color=colour, alpha=0.25, linewidth=0.4, rasterized=True, zorder=1)
    # Explore-then-commit is thin and in front: once level with another curve, both are seen.
    wide, above = (0.9, 4) if policy == "ExploreThenCommit" else (1.5, 3)
    x = rounds[-smooth.size :]
    axes.plot(x, smooth, color=colour, label=label, linewidth=wide, zorder=above)


def finish(figure: Figure, axes: Axes, title: str, *, legend_columns: int) -> None:
    """Put the legend above the picture, and over it what the reader must be warned of."""
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=legend_columns,
        fontsize=SMALL,
        frameon=False,
        columnspacing=1.2,
        handlelength=2.2,
    )
    if title:
        axes.set_title(title, fontsize=SMALL + 1, color="#B00020", fontweight="bold")


def save(figure: Figure, path: str | Path) -> None:
    """Write a PNG or PDF whole or not at all, the same bytes for the same picture."""
    kind = Path(path).suffix[1:]
    dates = {"CreationDate": None} if kind == "pdf" else {}
    with files.atomic(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=300, metadata=dates)
