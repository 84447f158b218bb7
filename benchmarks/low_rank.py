"""What knowing the rank of M* gains over ridge regression, and where it gains nothing. Prints Markdown.

python benchmarks/low_rank.py [INSTANCES]

Every estimator is given the regulariser of a grid that suits it best on average, so that none is
handicapped by it; a learner has to do without that choice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import gbb
from gbb.learning import AnyRecord, empty, observe
from gbb.policies import ExploreThenCommit
from gbb.policies.baselines import draw_arms

GRID = (0.01, 0.1, 1.0)
"""Regularisers, in units of sigma^2 d^2 / S^2: that of the Bayes estimate for a full random matrix."""


class Setting(NamedTuple):
    """Instances, the rank that the estimator is told, and after how many rounds it is asked."""

    name: str
    draw: Callable[[np.random.Generator], gbb.Environment]
    rank: int
    rounds: tuple[int, ...]


def sphere(
    d: int, r: int, K: int, sigma: float
) -> Callable[[np.random.Generator], gbb.Environment]:
    """Unit arms in all directions and a matrix of rank r and norm 1, on six agents all linked."""

    def draw(rng: np.random.Generator) -> gbb.Environment:
        arms = rng.normal(size=(K, d))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        M = rng.normal(size=(d, r)) @ rng.normal(size=(r, d))
        problem = gbb.Problem(gbb.Graph.complete(6), arms, sigma=sigma, S=1.0)
        return gbb.Environment(problem, M / np.linalg.norm(M))

    return draw


def paper(rng: np.random.Generator) -> gbb.Environment:
    """The setting of the paper's Figure 2: one-hot arms, a full matrix."""
    M = gbb.instances.absolute_normal(5, seed=rng, frobenius=4.0, zeta=0.0, distinct_couple=True)
    return gbb.Environment(gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0), M)


SETTINGS = [
    Setting("d = 20, rank 1", sphere(20, 1, 60, 0.1), 1, (10, 40, 160, 2560)),
    Setting("d = 30, rank 2", sphere(30, 2, 90, 0.1), 2, (40, 160)),
    Setting("d = 20, rank 20, taken for 2", sphere(20, 20, 60, 0.1), 2, (40, 160, 2560)),
    Setting("Figure 2 (d = 5, full), taken for 2", paper, 2, (10, 40, 2560)),
]


def explored(env: gbb.Environment, rounds: int, rng: np.random.Generator) -> AnyRecord:
    problem = env.problem
    weights = gbb.g_optimal(problem.arms).weights
    record = empty(problem)
    for _ in range(rounds):
        arms = draw_arms(weights, problem.n, rng)
        paid = env.draw(1, arms, rng)
        record = record.merge(observe(problem, arms, paid))
    return record


def measures(env: gbb.Environment, M: np.ndarray) -> tuple[float, float]:
    """Error of the symmetric half, and the share of the best couple's reward that M's couple earns."""
    gone, truth = M - env.M_star, env.M_star + env.M_star.T
    values = gbb.cuts.greedy(env.problem.graph).couple_values(env.reward_table)
    X = env.problem.arms
    guess = gbb.cuts.greedy(env.problem.graph).couple_values(X @ M @ X.T)
    share = values.ravel()[int(np.argmax(guess))] / values.max()
    return float(np.linalg.norm(gone + gone.T) / np.linalg.norm(truth)), float(share)


def estimates(
    env: gbb.Environment, record: gbb.Record, rank: int, lam: float
) -> dict[str, np.ndarray]:
    problem = env.problem
    sums = gbb.Record((record.N + record.N.T) / 2, (record.Y + record.Y.T) / 2)
    twice = min(2 * rank, problem.d)
    return {
        "ridge": gbb.LowRank(problem, record, problem.d, lam).M_hat,
        "low rank": gbb.LowRank(problem, record, rank, lam).M_hat,
        "sums": gbb.LowRank(problem, sums, twice, lam).M_hat,
        "LowPopArt": gbb.learning.LowPopArt(problem, record, rank, lam).M_hat,
    }


def row(setting: Setting, rounds: int, count: int) -> str:
    found: dict[str, list[list[tuple[float, float]]]] = {}
    for seed in range(count):
        rng = np.random.default_rng([seed, rounds])
        env = setting.draw(rng)
        record = explored(env, rounds, rng)
        unit = (env.problem.sigma * env.problem.d / env.problem.S) ** 2
        here = [estimates(env, record, setting.rank, factor * unit) for factor in GRID]
        for name in here[0]:
            found.setdefault(name, []).append([measures(env, each[name]) for each in here])
    errors, shares = [], []
    for rows in found.values():
        mean = np.mean(rows, axis=0)
        errors.append(f"{mean[:, 0].min():.3f}")
        shares.append(f"{mean[:, 1].max():.3f}")
    return f"| {setting.name} | {rounds:,} | {' | '.join(errors)} | {' | '.join(shares)} |"


def earned(count: int, horizon: int) -> None:
    """Whole runs, exploring a third of the rounds as is the default."""
    print("\n| policy | share of the optimum, all rounds | after exploring |")
    print("| --- | --- | --- |")
    totals: dict[str, list[tuple[float, float]]] = {}
    for seed in range(count):
        env = sphere(20, 1, 60, 0.1)(np.random.default_rng(seed))
        options = {"cut": gbb.cuts.greedy(env.problem.graph), "horizon": horizon}
        name = "low rank, told rank"
        # The regularisers of the grid that serve each best.
        policies = [
            ExploreThenCommit(env.problem, lam=4.0, **options),
            ExploreThenCommit(
                env.problem, estimator="low_rank", rank=20, lam=4.0, name=f"{name} 20", **options
            ),
            ExploreThenCommit(
                env.problem, estimator="low_rank", rank=1, lam=0.4, name=f"{name} 1", **options
            ),
        ]
        result = gbb.simulate(
            env, policies, rounds=horizon, record=1, seed=seed, method="reference", workers=1
        )
        for policy in policies:
            fraction = result.fraction.sel(policy=policy.name).isel(run=0).to_numpy()
            totals.setdefault(policy.name, []).append((fraction.mean(), fraction[-1]))
    for name, values in totals.items():
        mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(count)
        shares = (f"{m:.3f} ± {e:.3f}" for m, e in zip(mean, error, strict=True))
        print(f"| {name} | {' | '.join(shares)} |")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("| setting | rounds | error: ridge | low rank | of sums, rank 2r | LowPopArt ", end="")
    print("| share: ridge | low rank | of sums, rank 2r | LowPopArt |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for setting in SETTINGS:
        for rounds in setting.rounds:
            print(row(setting, rounds, count), flush=True)
    earned(count, 120)


if __name__ == "__main__":
    main()
