"""What weighing yes/no rewards by their variance gains (docs/problems.md).

``python benchmarks/yes_no.py [matrices] [rounds]``
"""

import sys

import numpy as np

import gbb
from gbb.policies import BernoulliThompson, ThompsonSampling

MATRICES = int(sys.argv[1]) if len(sys.argv) > 1 else 16
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 1500


def environment(kind: str, low: float, high: float, seed: int) -> gbb.Environment:
    """Probabilities between ``low`` and ``high``; general arms are mixtures of three."""
    rng = np.random.default_rng(seed)
    arms = np.eye(3) if kind == "one-hot" else rng.dirichlet(np.ones(3), size=5)
    M = low + (high - low) * rng.random((3, 3))
    S = float(np.linalg.norm(M)) * (1 + 1e-9)
    problem = gbb.Problem(gbb.Graph.complete(5), arms, sigma=0.5, S=S)
    return gbb.Environment(problem, M, noise="bernoulli")


def main() -> None:
    """Print mean regrets with standard errors over matrices, and the worst."""
    print("| arms | probabilities | ThompsonSampling | worst | BernoulliThompson | worst |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in ("one-hot", "general"):
        for low, high in ((0.0, 1.0), (0.0, 0.1), (0.9, 1.0)):
            lost = []
            for seed in range(MATRICES):
                env = environment(kind, low, high, seed)
                cut = gbb.cuts.greedy(env.problem.graph)
                policies = [
                    each(env.problem, cut=cut) for each in (ThompsonSampling, BernoulliThompson)
                ]
                found = gbb.simulate(env, policies, rounds=ROUNDS, seed=seed, record=ROUNDS)
                lost.append(found.regret.values[:, 0, -1])
            mean, error = np.mean(lost, axis=0), np.std(lost, axis=0, ddof=1) / np.sqrt(MATRICES)
            cells = [
                f"{m:.0f} ± {e:.0f} | {w:.0f}"
                for m, e, w in zip(mean, error, np.max(lost, axis=0), strict=True)
            ]
            print(f"| {kind} | {low:g} to {high:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
