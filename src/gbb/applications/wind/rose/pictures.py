"""Pictures of a season: the energy gained over time, and the angles learnt by wind direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from gbb.applications.wind.problem import YAWS
from gbb.applications.wind.rose.result import LEARNER, TABLE, ZERO_YAW, Learnt, Season
from gbb.plotting import running_means, styles

DAY = 144
"""Rounds of ten minutes in a day."""

LOWEST = -8.0
"""Losses of more per cent are off the picture: those of the first hours."""


def draw_energy(season: Season, names: Sequence[str], promise: float | None) -> Figure:
    """What each gains over zero yaw by days, and the energy so far; seeds faint, their mean strong."""
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    looks = styles([*names, TABLE])
    looks[TABLE] = {"color": "0.35", "linestyle": "--"}
    for name in (*names, TABLE):
        days = np.arange(1, season.power[name].shape[1] + 1) / DAY
        own, zero = season.power[name], season.power[ZERO_YAW]
        daily = [
            running_means(a, DAY) / running_means(b, DAY) for a, b in zip(own, zero, strict=True)
        ]
        for ax, curves in ((left, daily), (right, season.so_far(name))):
            gains = 100.0 * (np.array(curves) - 1.0)
            if len(gains) > 1 and name == LEARNER:
                for each in gains:
                    ax.plot(days, each, alpha=0.3, linewidth=0.6, **looks[name])
            ax.plot(days, gains.mean(axis=0), label=name, linewidth=1.6, **looks[name])
    left.set_ylabel("power of the last day over zero yaw's, %")
    right.set_ylabel("energy so far over zero yaw's, %")
    if promise is not None:
        right.axhline(100.0 * (promise - 1.0), color="#B2182B", linestyle=":", linewidth=1.0)
    for ax in (left, right):
        ax.axhline(0.0, color="0.35", linestyle=":", linewidth=1.0)
        ax.set_ylim(bottom=LOWEST)
        ax.set_xlabel("day")
        ax.spines[["top", "right"]].set_visible(False)
    lines, labels = left.get_legend_handles_labels()
    figure.legend(
        lines,
        labels,
        frameon=False,
        loc="outside lower center",
        ncols=len(labels),
        fontsize="small",
    )
    return figure


def draw_angles(learnt: Learnt, names: Sequence[str]) -> Figure:
    """FLORIS's angles and those learnt by wind direction, and what each gains."""
    figure = Figure(figsize=(9.6, 7.2), layout="constrained")
    *maps, below = figure.subplots(len(names) + 1, 1, sharex=True)
    step = 360.0 / len(learnt.directions)
    edges = np.append(learnt.directions, 360.0) - step / 2
    turbines = np.arange(learnt.upwind.shape[1] + 1) + 0.5
    for ax, name in zip(maps, names, strict=True):
        mesh = ax.pcolormesh(
            edges, turbines, learnt.yaw[name].T, cmap="RdBu_r", vmin=YAWS[0], vmax=YAWS[-1]
        )
        ax.set_title(f"yaw angles: {name}", fontsize="small")
        ax.set_ylabel("turbine")
        ax.set_yticks(np.arange(4, learnt.upwind.shape[1] + 1, 4))
    figure.colorbar(mesh, ax=maps, label="degrees", shrink=0.8)
    looks = styles(names)
    looks[TABLE] = {"color": "0.35", "linestyle": "--"}
    for name in names:
        gains = 100.0 * learnt.by_direction(name)
        below.plot(learnt.directions, gains, label=name, linewidth=1.4, **looks[name])
    below.axhline(0.0, color="0.35", linestyle=":", linewidth=1.0)
    below.set_ylabel("gain over zero yaw, %")
    below.set_xlabel("wind direction, degrees")
    below.legend(frameon=False, fontsize="small")
    below.spines[["top", "right"]].set_visible(False)
    return figure
