"""What the GPU does, in Markdown. Takes a GPU and the extra `cuda`.

python benchmarks/gpu.py rates                rounds a second of the kernels alone
python benchmarks/gpu.py figure2 FILE.npz     the paper's Figure 2 on 10,000 matrices, kept in FILE
    [--matrices 10000] [--runs 100] [--picture FILE.png]
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gbb
from gbb.policies import OFUL, AnyPolicy, ExploreThenCommit, ImprovedOFUL
from gbb.simulation.cuda import Job, check_jobs, launch, runs, trace_jobs
from studies import table

RATES: list[tuple[str, str, int, bool, int, int]] = [
    ("ImprovedOFUL", "paper", 5, False, 1 << 18, 4000),
    ("ImprovedOFUL", "symmetric", 5, False, 1 << 18, 4000),
    ("OFUL", "paper", 5, False, 1 << 18, 4000),
    ("ImprovedOFUL", "paper", 10, False, 1 << 17, 2000),
    ("ImprovedOFUL", "paper", 5, True, 1 << 16, 2000),
    ("ImprovedOFUL", "symmetric", 5, True, 1 << 16, 2000),
    ("OFUL", "paper", 5, True, 1 << 16, 2000),
    ("ImprovedOFUL", "paper", 10, True, 1 << 13, 1000),
    ("ThompsonSampling", "", 5, False, 1 << 17, 1000),
    ("JointOFUL", "", 5, False, 1 << 17, 1000),
    ("EpsilonGreedy", "", 5, False, 1 << 17, 1000),
]
"""Policy, radius, d = K, whether arms are general, runs, rounds."""

T, LAST = 20_000, 1000
"""Rounds of Figure 2, and the last of them."""


class TimedLauncher(launch.CupyLauncher):
    """Adds up how long kernels take."""

    seconds = 0.0

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> launch.Kernel:
        """The kernel, which waits until it is done."""
        kernel = super().compile(source, name, options)

        def timed(*arguments: Any) -> None:
            start, end = (self._cupy.cuda.Event() for _ in range(2))
            start.record()
            kernel(*arguments)
            end.record()
            end.synchronize()
            self.seconds += self._cupy.cuda.get_elapsed_time(start, end) / 1e3

        return timed


def instance(
    name: str, radius: str, graph: gbb.Graph, *, K: int = 5, general: bool, seed: Any
) -> tuple[gbb.Environment, AnyPolicy]:
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(K, K)) if general else np.eye(K)
    M = np.abs(rng.normal(size=(K, K)))
    problem = gbb.Problem(graph, arms / np.linalg.norm(arms, axis=1)[:, None], sigma=1.0, S=4.0)
    settings = {"cut": gbb.cuts.greedy(graph)} | ({"radius": radius} if radius else {})
    env = gbb.Environment(problem, 4.0 * M / np.linalg.norm(M))
    return env, gbb.policies.build(name, problem, **settings)


def rates() -> None:
    """One instance, then 1,000 instances of 32 runs each; the best of three."""
    launch.launcher()  # says what is missing
    import cupy  # noqa: PLC0415

    device, graph = TimedLauncher(cupy), gbb.Graph.complete(5)

    def rate(jobs: Sequence[Job], rounds: int) -> str:
        recorded = np.unique(np.geomspace(1, rounds, 200).astype(np.int64))
        kernel, best = check_jobs(jobs[:1], rounds)[0], 0.0
        assert kernel is not None
        for _ in range(3):
            device.seconds = 0.0
            runs.play(device, kernel, jobs, recorded)
            played = sum(len(job.seeds) for job in jobs) * rounds
            best = max(best, played / device.seconds)
        return f"{best / 1e9:.2f} G/s"

    def rows() -> Iterator[Sequence[Any]]:
        for name, radius, K, general, number, rounds in RATES:
            alone = Job(
                *instance(name, radius, graph, K=K, general=general, seed=0),
                np.random.SeedSequence(0).spawn(number),
            )
            many = [
                Job(
                    *instance(name, radius, graph, K=K, general=general, seed=i),
                    np.random.SeedSequence(i).spawn(32),
                )
                for i in range(1000)
            ]
            title = f"{name}, {radius} radius" if radius else name
            arms = "general" if general else "one-hot"
            yield title, arms, K, rate([alone], rounds), rate(many, rounds)

    table("policy | arms | d = K | one instance | 1,000 instances x 32 runs", rows())


def play_figure2(matrices: int, number: int) -> dict[str, np.ndarray]:
    """Fractions of the optimum, over all rounds and over the last ones, as means over the runs."""
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), sigma=1.0, S=4.0)
    cut, recorded = gbb.cuts.greedy(problem.graph), np.array([T - LAST, T])
    policies: list[AnyPolicy] = [
        OFUL(problem, cut=cut, radius="paper"),
        ImprovedOFUL(problem, cut=cut, radius="paper"),
        ExploreThenCommit(problem, cut=cut, horizon=T),
    ]
    shape: dict[str, Any] = {"frobenius": 4.0, "distinct_couple": True, "zeta": 0.0}
    optima, alpha_2, epsilon = np.empty((3, matrices))
    totals = np.empty((matrices, len(policies), 2))
    # Matrix k is that of `gbb paper figure2`. The traces of a thousand take half a gigabyte.
    children = np.random.SeedSequence(0).spawn(matrices)
    for start in range(0, matrices, 1000):
        jobs = []
        for k, child in enumerate(children[start : start + 1000], start):
            own, players = child.spawn(2)
            env = gbb.Environment(problem, gbb.instances.absolute_normal(5, seed=own, **shape))
            best = gbb.optimum.solve(problem, env.M_star)
            about = gbb.theory.report(env, cut=cut, optimum=best)
            optima[k], alpha_2[k], epsilon[k] = best.value, about.alpha_2, about.epsilon
            jobs += [Job(env, policy, players.spawn(number)) for policy in policies]
        found = [[trace.cumulative for trace in traces] for traces in trace_jobs(jobs, recorded)]
        means = np.mean(found, axis=1).reshape(-1, len(policies), 2)
        totals[start : start + len(means)] = means
    scale = optima[:, None]
    return {
        "alpha_2": alpha_2,
        "epsilon": epsilon,
        "all rounds": totals[..., 1] / (T * scale),
        f"last {LAST:,}": (totals[..., 1] - totals[..., 0]) / (LAST * scale),
    }


def figure2(path: Path, matrices: int, number: int, picture: Path | None) -> None:
    if not path.exists():
        np.savez_compressed(path, **play_figure2(matrices, number))
    stored = dict(np.load(path))
    alpha_2, epsilon, *fractions = stored.values()
    rows = []
    for part, share in zip(list(stored)[2:], fractions, strict=True):
        for name, x in zip(("OFUL", "improved OFUL", "explore-then-commit"), share.T, strict=True):
            numbers = (x.mean(), *np.quantile(x, [0.01, 0.1, 0.5, 0.9, 0.99]))
            rows.append((part, name, *(f"{number:.3f}" for number in numbers)))
    table("rounds | algorithm | mean | 1 % | 10 % | median | 90 % | 99 %", rows)
    leads, last = [share[:, 1] - share[:, 0] for share in fractions], fractions[1]
    alike, groups = epsilon < 1e-9, []
    edges = np.quantile(alpha_2[~alike], np.linspace(0.0, 1.0, 6)) if not alike.all() else []
    groups = [("epsilon = 0", alike)] + [
        (f"alpha_2 from {low:.2f} to {high:.2f}", ~alike & (alpha_2 >= low) & (alpha_2 <= high))
        for low, high in itertools.pairwise(edges)
    ]
    rows = []
    for name, those in groups:
        behind = those & (leads[1] < 0.0)
        by = f"{-leads[1][behind].mean():.3f}" if behind.any() else "-"
        shares = (f"{x:.0%}" for x in (those.mean(), *((lead[those] < 0).mean() for lead in leads)))
        share, all_rounds, late = shares
        means = (f"{x:.3f}" for x in last[those, :2].mean(axis=0))
        rows.append((name, share, *means, all_rounds, late, by))
    head = "share | OFUL | improved | behind, all rounds | behind, last 1,000 | by"
    table(f"matrices | {head}", rows)
    below, slope = (last[:, 1] < alpha_2).mean(), np.corrcoef(leads[1], alpha_2)[0, 1]
    print(f"\nImproved below alpha_2: {below:.4f}; correlation of lead and alpha_2: {slope:.3f}")
    if picture is not None:
        draw(last, alpha_2, picture)


def draw(last: np.ndarray, alpha_2: np.ndarray, path: Path) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    for x, label in zip(last.T, ("OFUL", "improved OFUL", "explore-then-commit"), strict=True):
        left.plot(np.sort(x), np.arange(1, len(x) + 1) / len(x), label=label)
    left.set(xlabel="fraction of the optimum, last 1,000 rounds", xlim=(0.6, 1.0))
    left.set_ylabel("share of matrices at or below")
    left.legend(loc="upper left", fontsize=8)
    cells = right.hexbin(alpha_2, last[:, 1] - last[:, 0], gridsize=60, bins="log", cmap="Blues")
    figure.colorbar(cells, ax=right, label="matrices")
    right.axhline(0.0, color="black", linewidth=0.8)
    right.set(
        xlabel="alpha_2 (alpha_1 is 1/2)", ylabel="lead of the improved one, last 1,000 rounds"
    )
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["rates", "figure2"])
    parser.add_argument("path", type=Path, nargs="?", default=Path("many.npz"))
    parser.add_argument("--matrices", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.what == "figure2":
        figure2(options.path, options.matrices, options.runs, options.picture)
    else:
        rates()


if __name__ == "__main__":
    main()
