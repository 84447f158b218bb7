"""What policies earn on a GPU with its own noise, against the engine: 20 instances, equally many runs.

python benchmarks/gpu_agreement.py

z is the difference of the two means of the total reward over its standard error. A row has z of the
sum over all instances, in the last round and where it is largest, and then z of each instance by
itself in the last round: how many are beyond 3, the largest, and the mean of z squared, which is
near 1 where both sides have the same law. Prints Markdown.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import gbb
from gbb.policies import AnyPolicy
from gbb.simulation.cuda import Job, trace_jobs
from gbb.simulation.simulate import trace_runs
from gbb.simulation.trace import recorded_rounds

INSTANCES, ROUNDS, RUNS, RUNS_ON_GRAPHS = 20, 2000, 1000, 200
ROWS: list[tuple[str, str, str]] = [
    *((name, arms, radius) for name in ("OFUL", "ImprovedOFUL") for arms in ("one-hot", "general")
      for radius in ("paper", "symmetric")),
    ("ExploreThenCommit", "one-hot", ""),
    ("ExploreThenCommit", "general", ""),
    ("UniformRandom", "one-hot", ""),
    ("JointOFUL", "one-hot", ""),
    ("ThompsonSampling", "one-hot", ""),
    ("EpsilonGreedy", "one-hot", ""),
    ("JointOFUL", "one-hot, random graphs", ""),
    ("ThompsonSampling", "one-hot, random graphs", ""),
]  # fmt: skip
"""Policy, arms, radius."""


def instance(row: tuple[str, str, str], i: int) -> tuple[gbb.Environment, AnyPolicy]:
    """Five arms; five agents all linked, or 20 to 96 of which three tenths are."""
    name, arms, radius = row
    rng = np.random.default_rng((7, i))
    graphs = arms.endswith("graphs")
    graph = gbb.Graph.random(20 + 4 * i, p=0.3, seed=i) if graphs else gbb.Graph.complete(5)
    x = rng.normal(size=(5, 5)) if arms == "general" else np.eye(5)
    M = np.abs(rng.normal(size=(5, 5)))
    problem = gbb.Problem(graph, x / np.linalg.norm(x, axis=1)[:, None], sigma=1.0, S=4.0)
    settings: dict[str, Any] = {"cut": gbb.cuts.greedy(graph), "horizon": ROUNDS}
    if radius:
        settings["radius"] = radius
    env = gbb.Environment(problem, 4.0 * M / np.linalg.norm(M))
    return env, gbb.policies.build(name, problem, **settings)


def moments(traces: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the total reward over runs, and its squared standard error, by recorded round."""
    total = np.stack([trace.cumulative for trace in traces])
    return total.mean(axis=0), total.var(axis=0, ddof=1) / len(total)


def ratio(apart: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """z, which is 0 where all runs of both sides earned the same."""
    same = (apart == 0.0) & (spread == 0.0)
    return np.where(same, 0.0, apart / np.sqrt(np.where(same, 1.0, spread)))


def compare(row: tuple[str, str, str]) -> str:
    """One row of the table."""
    recorded = recorded_rounds(ROUNDS, "log")
    runs = RUNS_ON_GRAPHS if row[1].endswith("graphs") else RUNS
    cases = [instance(row, i) for i in range(INSTANCES)]
    seeds = [np.random.SeedSequence((11, i)).spawn(runs) for i in range(INSTANCES)]
    jobs = [Job(env, policy, own) for (env, policy), own in zip(cases, seeds, strict=True)]
    there = [moments(found) for found in trace_jobs(jobs, recorded)]
    here = [
        moments(trace_runs(env, [policy], recorded, own, workers=os.cpu_count())[0])
        for (env, policy), own in zip(cases, seeds, strict=True)
    ]
    apart = np.stack([one[0] - two[0] for one, two in zip(here, there, strict=True)])
    spread = np.stack([one[1] + two[1] for one, two in zip(here, there, strict=True)])
    pooled = ratio(apart.sum(axis=0), spread.sum(axis=0))
    single = ratio(apart, spread)[:, -1]
    name, arms, radius = row
    return (
        f"| {name}{', ' * bool(radius)}{radius} | {arms} | {runs} "
        f"| {pooled[-1]:+.2f} | {np.abs(pooled).max():.2f} "
        f"| {(np.abs(single) > 3).sum()} | {np.abs(single).max():.2f} | {(single**2).mean():.2f} |"
    )


def main() -> None:
    print(
        "| policy | arms | runs | z, last round | largest | instances beyond 3 | largest | mean z^2 |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in ROWS:
        print(compare(row), flush=True)


if __name__ == "__main__":
    main()
