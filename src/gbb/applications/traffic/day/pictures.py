"""Pictures of the day: what every plan loses by the hour, and the plans that were learnt."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from gbb.applications.traffic.day.hours import HOURS, REGIMES
from gbb.applications.traffic.day.played import Plans
from gbb.applications.traffic.day.simulator import DayLoss
from gbb.applications.traffic.system import OFFSETS
from gbb.plotting import COLOURS

LOOKS = {
    "regimes": ("learnt, told the time of day", COLOURS["ThompsonSampling"], "-"),
    "blind": ("learnt, not told", COLOURS["ImprovedOFUL"], "-"),
    "single": ("best single plan", "0.2", "--"),
    "zero": ("no offsets", "0.6", ":"),
}
"""Label, colour and line of every curve."""


def draw_hours(losses: Mapping[str, DayLoss]) -> Figure:
    """Vehicle-hours lost in every hour of the day."""
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    ax = figure.add_subplot()
    clock = np.array([hour.clock for hour in HOURS])
    top = max(float(losses[name].loss.max()) for name in LOOKS)
    for regime in REGIMES:
        within = [hour.clock for hour in HOURS if hour.regime == regime]
        ax.axvline(within[0], color="0.9", zorder=0)
        middle = (within[0] + within[-1] + 1) / 2
        ax.text(middle, 1.06 * top, regime, ha="center", color="0.4", fontsize="small")
    for name, (label, colour, line) in LOOKS.items():
        whole = f"{label}: {losses[name].loss.sum():,.0f} in the day"
        ax.stairs(
            losses[name].loss, [*clock, clock[-1] + 1], baseline=None, label=whole,
            color=colour, linestyle=line, linewidth=1.8,
        )  # fmt: skip
    ax.set_xlabel("time of day (h)")
    ax.set_ylabel("vehicle-hours lost in the network, by hour")
    ax.set_ylim(0.0, 1.13 * top)
    ax.set_xticks([*clock[::2], clock[-1] + 1])
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="lower center", ncols=2)
    return figure


def draw_plans(learnt: Plans, single: Plans, side: int) -> Figure:
    """The offsets of the learnt plans, and those of the best single one; north is up."""
    figure = Figure(figsize=(9.0, 2.7), layout="constrained")
    shown = {**learnt, "best single plan": single[REGIMES[0]]}
    for ax, (name, plan) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        cells = plan.reshape(side, -1)
        ax.imshow(cells, cmap="twilight", vmin=0, vmax=OFFSETS.size, origin="lower")
        for (i, j), arm in np.ndenumerate(cells):
            colour = "white" if arm else "black"  # no offset is drawn almost white
            ax.text(j, i, str(OFFSETS[arm]), ha="center", va="center", color=colour)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(name, fontsize="small", loc="left")
    figure.supxlabel("offsets in seconds; the centre lies to the upper right", fontsize="small")
    return figure
