"""The paper's Figure 2 on thousands of matrices, on a GPU: what five matrices could not show.

python benchmarks/figure2_many.py prepare many.npz     the matrices, their optima and alphas; no GPU
python benchmarks/figure2_many.py play many.npz        10,000 matrices x 100 runs x 20,000 rounds x 3
python benchmarks/figure2_many.py report many.npz      Markdown tables, and a picture with --picture FILE
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np

from gbb import cuts, theory
from gbb._support import seeds
from gbb.environment import Environment
from gbb.experiments.figure2._constants import PAPER
from gbb.graph import Graph
from gbb.instances import absolute_normal
from gbb.optimum import Optimum
from gbb.policies import OFUL, ExploreThenCommit, ImprovedOFUL
from gbb.problem import Problem
from gbb.simulation.cuda import couples, launch, random_play

MATRICES, RUNS = 10_000, 100
MARKS = (200, 2000, PAPER.T - PAPER.last, PAPER.T)
"""The rounds that totals are kept of."""

NAMES = {
    "OFUL": "OFUL",
    "ImprovedOFUL": "improved OFUL",
    "ExploreThenCommit": "explore-then-commit",
}
"""What the algorithms are called in the picture."""


def setting() -> tuple[Problem, cuts.Cut]:
    problem = Problem(Graph.complete(PAPER.n), np.eye(PAPER.d), sigma=PAPER.sigma, S=PAPER.S)
    return problem, cuts.greedy(problem.graph)


def optima(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best allocation of every matrix on the complete graph, by going through all of them."""
    multisets = np.array(list(itertools.combinations_with_replacement(range(PAPER.d), PAPER.n)))
    one_hot = np.eye(PAPER.d)[multisets]  # allocations x agents x arms
    counts = one_hot.sum(axis=1)
    pays = np.einsum("ma,mb->mab", counts, counts) - one_hot.transpose(0, 2, 1) @ one_hot
    values = M.reshape(len(M), -1) @ pays.reshape(len(pays), -1).T
    best = values.argmax(axis=1)
    return values[np.arange(len(M)), best], multisets[best]


def prepare(path: Path, matrices: int) -> None:
    """Matrix k is that of the paper's experiment in this package, as far as that one goes."""
    problem, cut = setting()
    M = np.stack(
        [
            absolute_normal(
                PAPER.d,
                seed=seeds.spawn(child, 2)[0],
                frobenius=PAPER.S,
                distinct_couple=True,
                zeta=PAPER.zeta,
            )
            for child in seeds.spawn(0, matrices)
        ]
    )
    value, allocation = optima(M)
    found = []
    for each, best, arms in zip(M, value, allocation, strict=True):
        known = Optimum(arms, float(best), float(best), proven=True, method="all")
        about = theory.report(Environment(problem, each), cut=cut, optimum=known, lam=PAPER.lam)
        found.append((about.gamma, about.epsilon, about.alpha_1, about.alpha_2))
    gamma, epsilon, alpha_1, alpha_2 = np.array(found).T
    np.savez_compressed(
        path, M=M, optimum=value, gamma=gamma, epsilon=epsilon, alpha_1=alpha_1, alpha_2=alpha_2
    )


def play(path: Path, runs: int) -> None:
    """All runs of each algorithm in one launch; kept are means and spreads over the runs of a matrix."""
    stored: dict[str, Any] = dict(np.load(path))
    M, optimum = stored["M"], stored["optimum"]
    problem, cut = setting()
    words = np.random.SeedSequence(1).generate_state(4 * len(M) * runs)
    keys = words.reshape(len(M), runs, 4)
    settings = {"cut": cut, "lam": PAPER.lam}
    optimistic = {**settings, "delta": PAPER.delta, "radius": PAPER.radius}
    policies = [
        OFUL(problem, **optimistic),
        ImprovedOFUL(problem, **optimistic),
        ExploreThenCommit(problem, horizon=PAPER.T, **settings),
    ]
    envs = [Environment(problem, each) for each in M]
    device, recorded = launch.launcher(), np.array(MARKS)
    for policy in policies:
        start = time.perf_counter()
        listed = [(env, policy, own) for env, own in zip(envs, keys, strict=True)]
        if isinstance(policy, ExploreThenCommit):
            shape = random_play.shape_of(policy, PAPER.T, False)
            early = np.append(recorded[recorded < shape.rounds], shape.rounds)
            drawn = random_play.play_random(device, shape, listed, early)
            total = np.empty((len(recorded), len(M), runs))
            for m, (env, _, own) in enumerate(listed):
                span = slice(m * runs, (m + 1) * runs)
                couple = random_play.commit_all(env, policy, drawn.links[:, span], own)
                payoff = cut.couple_values(env.M_star[0] if env.M_star.ndim == 3 else env.M_star)
                late = (recorded - shape.rounds)[:, None] * payoff.ravel()[couple]
                now = np.where(late > 0, drawn.cumulative[-1, span] + late, 0.0)
                now[: len(early) - 1] = drawn.cumulative[:-1, span]
                total[:, m] = now
        else:
            played = couples.play_couples(device, couples.shape_of(policy, False), listed, recorded)
            total = played.cumulative.reshape(len(recorded), len(M), runs)
        seconds = time.perf_counter() - start
        shares = total / (recorded[:, None, None] * optimum[:, None])
        last = (total[-1] - total[-2]) / (PAPER.last * optimum[:, None])
        name = policy.name
        stored |= {
            f"{name} all": shares.mean(axis=2).astype(np.float64),
            f"{name} last": last.mean(axis=1),
            f"{name} all spread": shares[-1].std(axis=1, ddof=1),
            f"{name} last spread": last.std(axis=1, ddof=1),
            f"{name} last runs": last[:, :20].astype(np.float32),
            f"{name} seconds": np.array(seconds),
        }
        rounds = len(M) * runs * PAPER.T
        print(f"{name}: {rounds:.1e} rounds in {seconds:.1f} s, set-up and commit steps included")
    np.savez_compressed(path, **stored)


def report(path: Path, picture: Path | None) -> None:
    stored = np.load(path)
    names = list(NAMES)
    print("| | mean | 1 % | 10 % | median | 90 % | 99 % |")
    print("| --- " + "| ---: " * 6 + "|")
    for part in ("all", "last"):
        for name in names:
            x = stored[f"{name} {part}"]
            x = x[-1] if x.ndim == 2 else x
            cells = [x.mean(), *np.quantile(x, [0.01, 0.1, 0.5, 0.9, 0.99])]
            print(f"| {name}, {part} | " + " | ".join(f"{each:.3f}" for each in cells) + " |")
    alike = stored["epsilon"] < 1e-9
    groups = [("epsilon = 0", alike)]
    edges = np.quantile(stored["alpha_2"][~alike], np.linspace(0.0, 1.0, 6))
    for low, high in itertools.pairwise(edges):
        inside = ~alike & (stored["alpha_2"] >= low) & (stored["alpha_2"] <= high)
        groups.append((f"alpha_2 from {low:.2f} to {high:.2f}", inside))
    print("\n| matrices | share | OFUL | improved | behind, all rounds | behind, last | by |")
    print("| --- " + "| ---: " * 6 + "|")
    early = stored["ImprovedOFUL all"][-1] < stored["OFUL all"][-1]
    lead = stored["ImprovedOFUL last"] - stored["OFUL last"]
    for label, those in groups:
        cells = [stored[f"{name} last"][those].mean() for name in names[:2]]
        late = lead[those] < 0.0
        by = -lead[those][late].mean() if late.any() else 0.0
        cells += [early[those].mean(), late.mean(), by]
        print(f"| {label} | {those.mean():.3f} | " + " | ".join(f"{x:.3f}" for x in cells) + " |")
    short = stored["ImprovedOFUL last"] < stored["alpha_2"]
    print(
        f"\nbehind: {(lead < 0).mean():.4f} of matrices; improved below alpha_2: {short.mean():.4f}"
    )
    apart = np.corrcoef(lead, stored["alpha_2"])[0, 1]
    print(f"correlation of the lead with alpha_2: {apart:.3f}")
    if picture is not None:
        draw(stored, picture)


def draw(stored: Any, path: Path) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    for name, label in NAMES.items():
        fractions = np.sort(stored[f"{name} last"])
        left.plot(fractions, np.arange(1, len(fractions) + 1) / len(fractions), label=label)
    left.set(
        xlabel="fraction of the optimum, last 1,000 rounds", ylabel="share of matrices at or below"
    )
    left.set_xlim(0.6, 1.0)
    left.legend(loc="upper left", fontsize=8)
    lead = stored["ImprovedOFUL last"] - stored["OFUL last"]
    cells = right.hexbin(stored["alpha_2"], lead, gridsize=60, bins="log", cmap="Blues")
    figure.colorbar(cells, ax=right, label="matrices")
    right.axhline(0.0, color="black", linewidth=0.8)
    right.set(
        xlabel="alpha_2 (alpha_1 is 1/2)", ylabel="lead of the improved one, last 1,000 rounds"
    )
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["prepare", "play", "report"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--matrices", type=int, default=MATRICES)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    if given.step == "prepare":
        prepare(given.path, given.matrices)
    elif given.step == "play":
        play(given.path, given.runs)
    else:
        report(given.path, given.picture)


if __name__ == "__main__":
    main()
