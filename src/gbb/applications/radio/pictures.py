"""Pictures of the radio demo: a map coloured by channel, and throughput round by round."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, RegularPolygon

from gbb._support.checks import FloatArray, IntArray
from gbb.applications.radio.network import CHANNELS, Network
from gbb.plotting import running_means, styles

COLOURS = ("#E69F00", "#56B4E9", "#009E73")
"""One per channel, from the colour-blind-safe palette of Okabe and Ito."""

CLASH = "#B2182B"


def draw_map(network: Network, plans: Mapping[str, tuple[IntArray, float]]) -> Figure:
    """The cells of each plan coloured by channel, with its throughput; clashing neighbours joined."""
    figure = Figure(figsize=(3.3 * len(plans), 3.9), layout="constrained")
    axes = figure.subplots(1, len(plans), squeeze=False)[0]
    for ax, (name, (plan, value)) in zip(axes, plans.items(), strict=True):
        _draw_plan(ax, network, plan)
        ax.set_title(f"{name}: {value:,.0f} Mb/s", fontsize="medium")
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, edgecolor="white", label=f"channel {number}")
        for number, colour in enumerate(COLOURS, start=1)
    ]
    handles.append(Line2D([], [], color=CLASH, linewidth=2.5, label="neighbours on one channel"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _draw_plan(ax: Axes, network: Network, plan: IntArray) -> None:
    x = network.positions
    links = network.graph.edges
    apart = float(np.linalg.norm(x[links[0, 0]] - x[links[0, 1]]))
    for place, channel in zip(x, plan, strict=True):
        hexagon = RegularPolygon(
            (float(place[0]), float(place[1])),
            6,
            radius=apart / np.sqrt(3.0),
            facecolor=COLOURS[int(channel)],
            edgecolor="white",
            linewidth=1.5,
        )
        ax.add_patch(hexagon)
    ax.plot(*network.users.T, ".", color="black", markersize=1.2, alpha=0.35)
    for i, j in links[plan[links[:, 0]] == plan[links[:, 1]]]:
        ax.plot(*x[[i, j]].T, color=CLASH, linewidth=2.5, solid_capstyle="round")
    reach = np.abs(x).max(axis=0) + apart * 0.65
    ax.set_xlim(-reach[0], reach[0])
    ax.set_ylim(-reach[1], reach[1])
    ax.set_aspect("equal")
    ax.set_axis_off()


def draw_curves(throughput: Mapping[str, FloatArray], lines: Mapping[str, float]) -> Figure:
    """Throughput of each policy round by round, averaged over a few, and levels to compare with."""
    figure = Figure(figsize=(6.8, 4.2), layout="constrained")
    ax = figure.add_subplot()
    looks = styles(throughput)
    for order, (name, values) in enumerate(throughput.items()):
        rounds = np.arange(1, len(values) + 1)
        means = running_means(values, max(1, len(values) // 30))
        # Policies that play alike stay visible: the later, the thinner.
        ax.plot(rounds, means, label=name, linewidth=max(1.2, 4.0 - order), **looks[name])
    for (label, value), dash in zip(lines.items(), ("--", "-.", ":"), strict=False):
        ax.axhline(value, color="0.4", linestyle=dash, linewidth=1.0, label=label)
    ax.set_xlabel("round")
    ax.set_ylabel(f"throughput of all users, Mb/s ({CHANNELS} channels)")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, fontsize="small", loc="outside lower center", ncols=3)
    return figure
