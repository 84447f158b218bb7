"""Draw the picture of the README from simulated rounds: ``python docs/images/readme_figure.py``.

The paper's setting for its Figure 2 (complete graph, n = d = 5, zeta = 0), on the first five matrices
of the generator, ten runs each.
"""

import io
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from PIL import Image

import gbb
from gbb.plotting import plot_fraction

HERE = Path(__file__).parent
ROUNDS, RUNS, MATRICES = 20_000, 10, 5


def simulated(seed: int) -> xr.Dataset:
    """Ten runs on the matrix of ``seed``, its regret in units of the optimum."""
    graph = gbb.Graph.complete(5)
    M_star = gbb.instances.absolute_normal(5, seed=seed, zeta=0.0, distinct_couple=True)
    problem = gbb.Problem(graph, arms=np.eye(5), S=float(np.linalg.norm(M_star)))
    cut = gbb.cuts.greedy(graph)
    symmetric = gbb.policies.ImprovedOFUL(
        problem, cut=cut, radius="symmetric", name="ImprovedOFUL, symmetric radius"
    )
    names = ("ImprovedOFUL", "OFUL", "ExploreThenCommit", "UniformRandom")
    policies = [gbb.policies.build(name, problem, cut=cut, horizon=ROUNDS) for name in names]
    env = gbb.Environment(problem, M_star)
    result = gbb.simulate(
        env, [symmetric, *policies], rounds=ROUNDS, runs=RUNS, seed=seed, record=100
    )
    return result.assign(regret=result["regret"] / result.attrs["optimum"])


def main() -> None:
    """Simulate and draw."""
    results = [simulated(seed)[["fraction", "regret"]] for seed in range(MATRICES)]
    together = xr.concat(results, dim="run", coords="minimal", compat="override")
    together.attrs["optimum"] = 1.0
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    ax = figure.add_subplot()
    plot_fraction(together, ax, window=500, alphas=False)
    ax.set_ylim(0.2, 1.02)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120)
    Image.open(picture).convert("RGB").quantize(64).save(HERE / "fraction.png", optimize=True)


if __name__ == "__main__":
    main()
