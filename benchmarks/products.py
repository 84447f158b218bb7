"""What the best product distribution over a cut pays, over the best couple (docs/theory.md).

``python benchmarks/products.py [matrices]``: for dense graphs, the alphas and what they are shares of.
"""

import sys

import numpy as np

import gbb

MATRICES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
GRAPHS = {
    "complete:5": lambda seed: gbb.Graph.complete(5),  # noqa: ARG005
    "complete:10": lambda seed: gbb.Graph.complete(10),  # noqa: ARG005
    "complete:30": lambda seed: gbb.Graph.complete(30),  # noqa: ARG005
    "random:12, p = 0.6": lambda seed: gbb.Graph.random(12, p=0.6, seed=seed),
}


def matrix(K: int, seed: int, own: bool) -> np.ndarray:
    """Absolute normals; without ``own`` no arm pays with itself."""
    M = gbb.instances.absolute_normal(K, seed=seed, zeta=0.0, distinct_couple=True)
    if not own:
        np.fill_diagonal(M, 0.0)
    return M


def row(graph: str, K: int, own: bool) -> None:
    """A line of the table: means over the matrices."""
    found = []
    for seed in range(7000, 7000 + MATRICES):
        M = matrix(K, seed, own)
        problem = gbb.Problem(GRAPHS[graph](seed), np.eye(K), S=float(np.linalg.norm(M)))
        env = gbb.Environment(problem, M)
        report = gbb.theory.report(env, cut=gbb.cuts.greedy(problem.graph))
        couple = env.expected_reward(report.cut.allocation(report.best_couple_over_cut))
        arms = gbb.theory.derandomise(env, report.cut, report.product)
        best = report.optimum.value
        found.append(
            (report.alpha_2, couple / best, report.alpha_3, env.expected_reward(arms) / best)
        )
    alpha_2, couples, alpha_3, played = np.array(found).T
    gains = alpha_3 / couples - 1.0
    assert (alpha_3 >= alpha_2 - 1e-12).all()
    assert (played >= alpha_3 - 1e-12).all()
    cells = [alpha_2.mean(), couples.mean(), alpha_3.mean(), played.mean()]
    numbers = " | ".join(f"{cell:.3f}" for cell in cells)
    diagonal = "zeta = 0" if own else "0"
    mean, most = 100 * gains.mean(), 100 * gains.max()
    print(f"| {graph} | {K} | {diagonal} | {numbers} | {mean:.1f} | {most:.1f} |")


if __name__ == "__main__":
    print(
        "| graph | K | diagonal | alpha_2 | couple | alpha_3 | derandomised | gain, % | most, % |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for graph in GRAPHS:
        for K, own in ((3, True), (3, False), (5, True)):
            row(graph, K, own)
