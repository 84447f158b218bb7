"""Draw the moving picture of the README, a network that learns: ``python docs/images/learning.py``.

A lattice of triangles, three arms, like arms pay nothing together. ``JointOFUL`` starts from nothing;
colours are arms, thick links pay more, and the curve is the share of the optimum.
"""

import io
from pathlib import Path

import matplotlib as mpl
import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import gbb

HERE = Path(__file__).parent
ROUNDS, FRAMES = 500, 32
COLOURS = np.array(["#0072B2", "#E69F00", "#009E73"])


def main() -> None:
    """Play, draw some of the rounds and write them as one file."""
    lattice = nx.triangular_lattice_graph(3, 6)
    where = dict(enumerate(nx.get_node_attributes(lattice, "pos").values()))
    net = nx.convert_node_labels_to_integers(lattice)
    graph = gbb.Graph.from_networkx(net)
    M_star = np.array([[0.0, 1.0, 0.8], [1.2, 0.0, 1.0], [0.9, 1.1, 0.0]])
    problem = gbb.Problem(graph, np.eye(3), sigma=4.0, S=2.6)
    env = gbb.Environment(problem, M_star)
    best = gbb.optimum.solve(problem, M_star).value
    policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.best(graph))
    steps = list(gbb.simulation.play(env, policy, ROUNDS, seed=3))
    shares = np.array([step.expected / best for step in steps])
    shown = np.unique(np.geomspace(1, ROUNDS, FRAMES).astype(int)) - 1
    frames = [_frame(net, where, env, steps[t].choice.allocation, shares[: t + 1]) for t in shown]
    first, *rest = [frame.quantize(48, dither=Image.Dither.NONE) for frame in frames]
    times = [110] * (len(frames) - 1) + [2500]
    first.save(
        HERE / "learning.gif",
        save_all=True,
        append_images=rest,
        duration=times,
        loop=0,
        optimize=True,
    )


def _frame(
    net: nx.Graph, where: dict, env: gbb.Environment, arms: np.ndarray, shares: np.ndarray
) -> Image.Image:
    """One round: the network to the left, the curve so far to the right."""
    pays = env.M_star  # arms are one-hot
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(7.2, 2.7), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2, width_ratios=(5, 4))
        widths = [
            0.4 + 1.9 * (pays[arms[i], arms[j]] + pays[arms[j], arms[i]]) for i, j in net.edges
        ]
        nx.draw_networkx_edges(net, where, ax=left, width=widths, edge_color="#9a9a9a")
        nx.draw_networkx_nodes(
            net, where, ax=left, node_color=COLOURS[arms], node_size=190, edgecolors="white"
        )
        left.axis("off")
        left.set_title(f"round {len(shares)}", loc="left")
        right.plot(np.arange(1, len(shares) + 1), shares, color="#CC79A7", linewidth=1.6)
        right.set(xlim=(1, ROUNDS), ylim=(0.3, 1.02), xscale="log", xlabel="round")
        right.set_title("share of the optimal reward", loc="left")
        right.spines[["top", "right"]].set_visible(False)
        picture = io.BytesIO()
        figure.savefig(picture, dpi=88)
    return Image.open(picture).convert("RGB")


if __name__ == "__main__":
    main()
