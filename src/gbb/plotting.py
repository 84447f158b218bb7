"""Figures: one palette, the same colour for the same policy everywhere.

Nothing here touches matplotlib's global state; figures are plain ``Figure`` objects.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gbb._support import checks, files
from gbb._support.checks import FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = MappingProxyType(
    {
        "ImprovedOFUL": "#0072B2",
        "OFUL": "#D55E00",
        "ExploreThenCommit": "#009E73",
        "JointOFUL": "#CC79A7",
        "ThompsonSampling": "#E69F00",
        "KCutOFUL": "#56B4E9",
        "EpsilonGreedy": "#8C6D31",
        "UniformRandom": "#7F7F7F",
        "FixedAllocation": "#000000",
    }
)
"""Colour of each policy, from the colour-blind-safe palette of Okabe and Ito."""

SPARE = ("#5E3C99", "#B2182B", "#1B7837", "#762A83", "#4D4D4D")
"""Colours for policies that :data:`COLOURS` does not name."""

DASHES = ("--", "-.", ":")
FORMATS = (".png", ".pdf", ".svg")
WIDE = 40
"""Characters of a label that fills half of a figure."""

SMOOTHED_ROUNDS = 100
"""The widest moving average, in rounds (the paper's Figure 2)."""


def styles(policies: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colour and line style of each policy of one figure, no two alike.

    The policies of :data:`COLOURS` look the same in every figure. A variant, such as ``"OFUL
    symmetric"``, has the colour of the policy it starts with and dashes of its own. All others have
    spare colours in their order of appearance.
    """
    found: dict[str, dict[str, Any]] = {}
    dashes: dict[str, int] = {}
    spare = 0
    for policy in policies:
        base = max((name for name in COLOURS if policy.startswith(name)), key=len, default="")
        dash = dashes.get(base, 0)
        if policy in COLOURS:
            found[policy] = {"color": COLOURS[policy], "linestyle": "-"}
        elif base and dash < len(DASHES):
            found[policy] = {"color": COLOURS[base], "linestyle": DASHES[dash]}
            dashes[base] = dash + 1
        else:
            found[policy] = {"color": _spare(spare), "linestyle": "-"}
            spare += 1
    return found


def _spare(index: int) -> str:
    """The spare colours, and beyond them hues that a golden-ratio step keeps apart."""
    if index < len(SPARE):
        return SPARE[index]
    hue = (index - len(SPARE)) * 0.618033988749895 % 1.0
    red, green, blue = (round(255 * part) for part in colorsys.hsv_to_rgb(hue, 0.55, 0.7))
    return f"#{red:02X}{green:02X}{blue:02X}"


def running_means(values: FloatArray, window: int) -> FloatArray:
    """The mean over the last ``window`` rounds, or over all when there are fewer."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    means: FloatArray = (sums[ends] - sums[starts]) / (ends - starts)
    return means


def moving_average(result: xr.Dataset, policy: str, window: FloatArray) -> FloatArray:
    """Mean fraction of the optimum over the last ``window`` rounds at each recorded round.

    From the cumulative regret, which counts every round, recorded or not; (runs x recorded rounds).
    """
    rounds = np.concatenate([[0.0], result["round"].to_numpy()])
    regret = result["regret"].sel(policy=policy).transpose("run", "round").to_numpy()
    earned = rounds - np.pad(regret, ((0, 0), (1, 0))) / float(result.attrs["optimum"])
    ends = rounds[1:]
    starts = np.maximum(ends - window, 0.0)
    before = np.array([np.interp(starts, rounds, run) for run in earned])
    averages: FloatArray = (earned[:, 1:] - before) / (ends - starts)
    return averages


def plot_fraction(
    result: xr.Dataset, ax: Axes, *, window: int | None = None, alphas: bool = True
) -> None:
    """Draw the fraction of the optimum that each policy earned, round by round.

    A line is the moving average of the mean over runs, its band one standard error of that average
    over runs, or over instances where there are several, and the faint curve behind it the mean over
    runs of the recorded rounds.

    Parameters
    ----------
    result
        What :func:`gbb.simulate` or :func:`gbb.compare` returned.
    ax
        Where to draw.
    window
        Rounds in the moving average; when left out, a fiftieth of the rounds, at most 100, or a
        tenth of the rounds so far, on a logarithmic axis, if they were not recorded evenly.
    alphas
        Draw the share of the optimum that each policy is no-regret for.
    """
    fraction = result["fraction"]
    best = float(result.attrs["optimum"])
    if not best > 0:
        raise checks.input_error("result", "have a positive optimum", best)
    rounds = result["round"].to_numpy()
    first, last = int(rounds[0]), int(rounds[-1])
    steps = np.diff(rounds)
    even = bool((steps[:-1] == steps[:1]).all())
    if window is not None:
        span = np.full(rounds.size, float(checks.integer("window", window, low=1)))
    elif even:
        span = np.full(rounds.size, float(min(SMOOTHED_ROUNDS, max(1, last // 50))))
    else:
        span = np.maximum(rounds / 10.0, 1.0)
    looks = styles(map(str, result["policy"].to_numpy()))
    for policy, look in looks.items():
        raw = fraction.sel(policy=policy).mean("run").to_numpy()
        smooth = _by_instance(result, moving_average(result, policy, span))
        _draw_policy(ax, policy, look, rounds=rounds, raw=raw, smooth=smooth)
    if alphas and "alpha" in result.coords:
        _draw_alphas(ax, result, looks)
    _explain(ax, result, band=len(smooth) > 1)
    if not even:
        ax.set_xscale("log")
    ax.set_xlim(first, max(last, first + 1))
    ax.set_ylim(top=1.02)
    ax.set_xlabel("round t")
    ax.set_ylabel("fraction of the optimum")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right", fontsize="small")


def _by_instance(result: xr.Dataset, values: FloatArray) -> FloatArray:
    """The runs of each instance averaged, where there are several: only instances are independent."""
    if result.attrs.get("instances", 1) == 1:
        return values
    of = result["instance"].to_numpy()
    return np.array([values[of == each].mean(axis=0) for each in np.unique(of)])


def _draw_policy(
    ax: Axes,
    policy: str,
    look: dict[str, Any],
    *,
    rounds: IntArray,
    raw: FloatArray,
    smooth: FloatArray,
) -> None:
    # A single run jumps from round to round: its trace is fainter, not to hide the averages.
    ax.plot(
        rounds, raw, color=look["color"], alpha=0.18 if len(smooth) > 1 else 0.09, linewidth=0.5
    )
    centre = smooth.mean(axis=0)
    if len(smooth) > 1:
        error = smooth.std(axis=0, ddof=1) / np.sqrt(len(smooth))
        band = (centre - error, centre + error)
        ax.fill_between(rounds, *band, color=look["color"], alpha=0.3, linewidth=0)
    marker = "o" if rounds.size == 1 else None
    ax.plot(rounds, centre, label=policy, linewidth=1.6, marker=marker, **look)


def _draw_alphas(ax: Axes, result: xr.Dataset, looks: dict[str, dict[str, Any]]) -> None:
    """One dotted line per distinct alpha; policies without a guarantee (alpha = 1) have none."""
    groups: dict[float, list[str]] = {}
    for policy, alpha in zip(result["policy"].to_numpy(), result["alpha"].to_numpy(), strict=True):
        if np.isfinite(alpha) and alpha != 1.0:
            groups.setdefault(round(float(alpha), 6), []).append(str(policy))
    for alpha, policies in groups.items():
        colour = looks[policies[0]]["color"] if len(policies) == 1 else "0.35"
        label = f"\N{GREEK SMALL LETTER ALPHA} = {alpha:.3f}, {' and '.join(policies)}"
        ax.axhline(alpha, color=colour, linestyle=":", linewidth=1.0, label=label)


def _explain(ax: Axes, result: xr.Dataset, *, band: bool) -> None:
    """Entries of the legend for what stands behind the lines."""
    if band:
        units = "runs" if result.attrs.get("instances", 1) == 1 else "instances"
        label = f"±1 standard error over {units}"
        ax.fill_between([], [], color="0.5", alpha=0.3, linewidth=0, label=label)
    ax.plot([], [], color="0.5", alpha=0.6, linewidth=0.5, label="single rounds")


def figure_of(result: xr.Dataset) -> Figure:
    """A figure of :func:`plot_fraction` with the size of the instance above it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    ax = figure.add_subplot()
    plot_fraction(result, ax)
    _move_legend_below(figure, ax)
    sizes = {"agents": "n", "edges": "m", "arms": "K"}
    parts = [
        f"{_number(result.attrs[key])} {word}" for word, key in sizes.items() if key in result.attrs
    ]
    runs, instances = result.sizes["run"], int(result.attrs.get("instances", 1))
    if instances > 1:
        parts.append(f"{runs} runs on {instances} instances")
    else:
        parts.append(f"{runs} run" if runs == 1 else f"mean of {runs} runs")
    ax.set_title(", ".join(parts), fontsize="small", loc="left")
    return figure


def _move_legend_below(figure: Figure, ax: Axes) -> None:
    """Put the legend where it hides no curve; the figure grows by its lines."""
    handles, labels = ax.get_legend_handles_labels()
    columns = 2 if max(map(len, labels)) < WIDE else 1
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    figure.set_figheight(figure.get_figheight() + 0.2 * math.ceil(len(labels) / columns))
    figure.legend(
        handles, labels, loc="outside lower left", ncols=columns, frameon=False, fontsize="small"
    )


def _number(size: Any) -> str:
    """A size, or the least and the largest of several."""
    low, *high = np.atleast_1d(size).tolist()
    return f"{low:,} to {high[0]:,}" if high else f"{low:,}"


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, PDF or SVG; ``path`` appears whole or not at all."""
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        raise checks.input_error("path", f"end in {', '.join(FORMATS)}", repr(str(path)))
    with files.atomic(path) as temporary:
        figure.savefig(temporary, format=kind[1:], dpi=150)
