"""Draw where two arms are not enough: ``python docs/images/two_arms.py``.

An odd circle of 21 agents and a triangular lattice of 30; three arms, like arms pay nothing together and
different ones between 0.8 and 1.2. The dotted line is the most that two arms earn over the cut. Also
prints the table of ``docs/policies.md``.
"""

import io
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import gbb
from gbb.plotting import plot_fraction

HERE = Path(__file__).parent
ROUNDS, RUNS = 5_000, 10


def lattice(rows: int, cols: int) -> gbb.Graph:
    """A grid with one diagonal in every square."""
    at = np.arange(rows * cols).reshape(rows, cols)
    edges = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:]), (at[:-1, :-1], at[1:, 1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in edges])
    return gbb.Graph.from_edges(pairs, n=rows * cols, undirected=True)


GRAPHS = {"odd circle, 21 agents": gbb.Graph.circle(21), "lattice, 30 agents": lattice(5, 6)}


def main() -> None:
    """Simulate, print and draw."""
    M = np.random.default_rng(0).uniform(0.8, 1.2, size=(3, 3))
    np.fill_diagonal(M, 0.0)
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    rows = ["| graph | two-arm ceiling | ImprovedOFUL | KCutOFUL(3) | JointOFUL | from 3 parts |"]
    rows.append("| --- | --- | --- | --- | --- | --- |")
    for ax, (name, graph) in zip(figure.subplots(1, 2), GRAPHS.items(), strict=True):
        problem = gbb.Problem(graph, np.eye(3), S=float(np.linalg.norm(M)))
        cut, best = gbb.cuts.best(graph), gbb.optimum.solve(problem, M)
        three = gbb.cuts.refine(cut, 3)
        settings = {"radius": "symmetric"}
        policies = [
            gbb.policies.ImprovedOFUL(problem, cut=cut, **settings),
            gbb.policies.KCutOFUL(problem, cut=cut, k=3, **settings, name="KCutOFUL(3)"),
            gbb.policies.JointOFUL(problem, cut=cut, **settings),
            gbb.policies.JointOFUL(problem, cut=three, name="JointOFUL from 3 parts"),
        ]
        env = gbb.Environment(problem, M)
        result = gbb.simulate(
            env, policies, rounds=ROUNDS, runs=RUNS, record=10, optimum=best, workers=1
        )
        plot_fraction(result, ax, window=100, alphas=False)
        ceiling = max(
            env.expected_reward(cut.allocation((a, b))) for a in range(3) for b in range(3)
        )
        ax.axhline(ceiling / best.value, color="0.3", linestyle=":", linewidth=1.0)
        ax.set_title(name, fontsize="small", loc="left")
        ax.set_ylim(0.5, 1.02)
        late = result["fraction"].sel(round=slice(ROUNDS * 9 // 10, None)).mean(("run", "round"))
        cells = " | ".join(f"{value:.4f}" for value in late.to_numpy())
        proven = "proven" if best.proven else "best known"
        rows.append(f"| {name} (optimum {proven}) | {ceiling / best.value:.4f} | {cells} |")
    sys.stdout.write("\n".join(rows) + "\n")
    picture = io.BytesIO()
    figure.savefig(picture, dpi=110)
    Image.open(picture).convert("RGB").quantize(48).save(HERE / "two_arms.png", optimize=True)


if __name__ == "__main__":
    main()
