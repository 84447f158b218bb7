"""Pictures of the traffic demo: the loss round by round, and the fitted matrix."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from gbb._support.checks import FloatArray, IntArray
from gbb.applications.traffic.rounds import Rounds
from gbb.graph import Graph
from gbb.plotting import COLOURS

COLOUR = {"one-hot": COLOURS["ImprovedOFUL"], "fourier": COLOURS["ThompsonSampling"]}


def draw_loss(lives: Mapping[str, Rounds], fixed: Mapping[str, Rounds]) -> Figure:
    """The loss of every live round against fixed and random offsets."""
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    ax = figure.add_subplot()
    random = fixed["random"].loss
    label = f"random offsets, all {random.size} rounds"
    ax.axhspan(float(random.min()), float(random.max()), color="0.9", linewidth=0, label=label)
    for kind, label, style in (
        ("zero", "no offsets", ":"),
        ("random", "random offsets, mean", "--"),
        ("best_fixed", "best fixed offsets", "-"),
    ):
        ax.axhline(float(fixed[kind].loss.mean()), color="0.35", linestyle=style, label=label)
    for name, rounds in lives.items():
        t, label = np.arange(1, rounds.size + 1), f"improved OFUL, {name} arms"
        ax.plot(t, rounds.loss, marker="o", markersize=3.5, label=label, color=COLOUR[name])
    ax.set_xlabel("round")
    ax.set_ylabel("vehicle-hours lost in the network")
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", ncols=2, loc="lower left")
    return figure


def draw_matrix(table: FloatArray, best: IntArray, graph: Graph) -> Figure:
    """The fitted matrix, and the offsets that are best for it on the grid."""
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    seconds = [f"{10 * arm}" for arm in range(len(table))]
    image = left.imshow(table, cmap="viridis")
    left.set_xticks(range(len(table)), seconds)
    left.set_yticks(range(len(table)), seconds)
    left.set_xlabel("offset of the signal it comes from (s)")
    left.set_ylabel("offset of the signal (s)")
    left.set_title("fitted reward of a street", fontsize="small", loc="left")
    figure.colorbar(image, ax=left, shrink=0.85)
    side = int(np.sqrt(graph.n))
    cells = best.reshape(side, side)
    right.imshow(cells, cmap="twilight", vmin=0, vmax=len(table), origin="lower")
    for (i, j), arm in np.ndenumerate(cells):
        right.text(j, i, seconds[arm], ha="center", va="center", color="white", fontweight="bold")
    right.set_xticks([])
    right.set_yticks([])
    right.set_title("best fixed offsets (s) of the 16 signals", fontsize="small", loc="left")
    return figure
