"""Pictures of the wind demo: the flow before and after, and how the power grew."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from gbb._support.checks import FloatArray
from gbb.applications.wind.farm import Farm
from gbb.plotting import running_means, styles

WINDOW = 10
"""Rounds that a point of a curve averages."""


def draw_flow(farm: Farm, yaws: Mapping[str, FloatArray]) -> Figure:
    """The wind speed at hub height for each of ``yaws`` by title, as FLORIS draws it."""
    figure = Figure(figsize=(4.2 * len(yaws), 2.5), layout="constrained")
    for ax, (title, yaw) in zip(figure.subplots(1, len(yaws)), yaws.items(), strict=True):
        farm.draw(yaw, ax)
        ax.set_title(f"{title}: {float(farm.power(yaw[None])[0]) / 1e6:.1f} MW", fontsize="small")
        ax.set_xlabel("metres east", fontsize="small")
        ax.set_ylabel("metres north" if ax is figure.axes[0] else "", fontsize="small")
        ax.tick_params(labelsize="x-small")
    return figure


def draw_curves(
    gain: Mapping[str, FloatArray],
    levels: Mapping[str, float],
    safety: Mapping[str, FloatArray],
    promise: float,
) -> Figure:
    """Share of serial refine's gain round by round, and the energy so far against zero yaw.

    ``promise`` is the share of zero yaw's energy that a conservative policy keeps.
    """
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    looks = styles(gain)
    for name, values in gain.items():
        rounds = np.arange(1, len(values) + 1)
        left.plot(rounds, values, alpha=0.2, linewidth=0.5, **looks[name])
        left.plot(rounds, running_means(values, WINDOW), label=name, linewidth=1.6, **looks[name])
        right.plot(rounds, safety[name], label=name, linewidth=1.6, **looks[name])
    for name, level in levels.items():
        left.axhline(level, color="0.35", linestyle=":", linewidth=1.0)
        left.text(1.0, level, name, va="bottom", fontsize="x-small", color="0.35")
    left.set_ylabel("share of serial refine's gain, nominal wind")
    left.set_ylim(min(-0.1, *(float(values.min()) for values in gain.values())), 1.1)
    right.axhline(1.0, color="0.35", linestyle=":", linewidth=1.0)
    right.axhline(promise, color="#B2182B", linestyle=":", linewidth=1.0)
    right.set_ylabel("energy so far, over zero yaw in the same wind")
    for ax in (left, right):
        ax.set_xlabel("round")
        ax.spines[["top", "right"]].set_visible(False)
    lines, names = left.get_legend_handles_labels()
    figure.legend(
        lines, names, frameon=False, loc="outside lower center", ncols=len(names), fontsize="small"
    )
    return figure
