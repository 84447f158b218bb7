"""What each policy loses in the setting of the paper's Figure 2. Prints Markdown.

python benchmarks/policies.py [MATRICES] [RUNS] [SEED OF THE FIRST MATRIX]
"""

from __future__ import annotations

import sys

import numpy as np

import gbb
from gbb.policies import (
    OFUL,
    AnyPolicy,
    EpsilonGreedy,
    ImprovedOFUL,
    JointOFUL,
    KCutOFUL,
    ThompsonSampling,
)

ROUNDS = 20_000
DEFAULTS = (20, 10, 1000)
"""Matrices, runs on each, and the seed of the first matrix."""


def policies(problem: gbb.Problem) -> list[AnyPolicy]:
    cut = gbb.cuts.greedy(problem.graph)
    symmetric = {"cut": cut, "radius": "symmetric"}
    return [
        ImprovedOFUL(problem, cut=cut),
        OFUL(problem, cut=cut),
        ImprovedOFUL(problem, **symmetric, name="ImprovedOFUL, symmetric"),
        KCutOFUL(problem, k=3, **symmetric, name="KCutOFUL(3), symmetric"),
        JointOFUL(problem, cut=cut, radius="paper", name="JointOFUL, paper"),
        JointOFUL(problem, **symmetric, name="JointOFUL, symmetric"),
        EpsilonGreedy(problem, cut=cut),
        ThompsonSampling(problem, cut=cut, starts=0, name="ThompsonSampling, couple"),
        ThompsonSampling(problem, cut=cut),
    ]


def instances(count: int, first: int) -> list[gbb.Environment]:
    graph = gbb.Graph.complete(5)
    draw = {"frobenius": 4.0, "zeta": 0.0, "distinct_couple": True}
    matrices = (gbb.instances.absolute_normal(5, seed=first + i, **draw) for i in range(count))
    return [gbb.Environment(gbb.Problem(graph, np.eye(5), S=4.0), M) for M in matrices]


def main() -> None:
    given = [int(text) for text in sys.argv[1:]]
    count, runs, first = (*given, *DEFAULTS[len(given) :])
    result = gbb.compare(
        instances(count, first), policies, rounds=ROUNDS, runs=runs, record=[1000, ROUNDS]
    )
    print("| policy | lost, % of the optimum | total regret | of ImprovedOFUL's |")
    print("| --- | --- | --- | --- |")
    for row in gbb.comparison(result).itertuples():
        lost = f"{100 * row.lost:.2f} ({100 * row.lost_low:.2f} to {100 * row.lost_high:.2f})"
        regret = f"{row.regret:,.0f} ({row.regret_low:,.0f} to {row.regret_high:,.0f})"
        print(
            f"| {row.policy} | {lost} | {regret} "
            f"| 1/{1 / row.ratio:.1f} ({row.ratio_low:.4f} to {row.ratio_high:.4f}) |"
        )


if __name__ == "__main__":
    main()
