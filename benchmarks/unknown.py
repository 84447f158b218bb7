"""What it costs not to be told sigma and S, in the setting of the paper's Figure 2. Prints Markdown.

python benchmarks/unknown.py [MATRICES] [RUNS] [SEED OF THE FIRST MATRIX] [SCALE]

SCALE multiplies the matrices and the noise: nothing but the first column should change.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

import gbb
from gbb import sweep
from gbb.policies import AnyPolicy, GuardedThompson, ThompsonSampling
from policies import ROUNDS, instances

DEFAULTS = (20, 16, 7000, 1.0)
"""Matrices, runs on each, the seed of the first matrix, and the scale."""


def contenders(problem: gbb.Problem) -> list[AnyPolicy]:
    cut = gbb.cuts.greedy(problem.graph)
    return [ThompsonSampling(problem, cut=cut), GuardedThompson(problem, cut=cut)]


def regrets(M: np.ndarray, runs: int, scale: float, told: bool) -> np.ndarray:
    """Total regret by policy and run, in units of the scale."""
    known = {"sigma": scale, "S": 4.0 * scale} if told else {"sigma": None, "S": None}
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), **known)
    env = gbb.Environment(problem, scale * M, sigma=scale)
    given = {"rounds": ROUNDS, "runs": runs, "seed": 5, "record": [ROUNDS], "workers": 1}
    result = gbb.simulate(env, contenders(problem), **given)
    return np.asarray(result.regret[..., -1]) / scale


def main() -> None:
    given = [float(text) for text in sys.argv[1:]]
    count, runs, first, scale = (*given, *DEFAULTS[len(given) :])
    matrices = [env.M_star for env in instances(int(count), int(first))]
    calls = [
        partial(regrets, M, int(runs), scale, told) for told in (True, False) for M in matrices
    ]
    found = sweep.gather(calls, sweep.executors.local())
    told, untold = np.reshape(found, (2, len(matrices), 2, -1)).swapaxes(1, 2)
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(matrices), size=(10_000, len(matrices)))
    print("| policy | told | not told | worst run, told | not told | ratio of means (95 %) |")
    print("| --- | --- | --- | --- | --- | --- |")
    names = ("ThompsonSampling", "GuardedThompson")
    for name, known, unknown in zip(names, told, untold, strict=True):
        one, two = known.mean(axis=1), unknown.mean(axis=1)
        low, high = np.quantile(two[drawn].sum(axis=1) / one[drawn].sum(axis=1), [0.025, 0.975])
        print(
            f"| {name} | {known.mean():,.0f} | {unknown.mean():,.0f} | {known.max():,.0f} "
            f"| {unknown.max():,.0f} | {two.mean() / one.mean():.2f} ({low:.2f} to {high:.2f}) |"
        )


if __name__ == "__main__":
    main()
