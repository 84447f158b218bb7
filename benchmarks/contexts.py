"""What contexts add to a round of the engine, measured side by side in one run. Prints Markdown.

python benchmarks/contexts.py
python benchmarks/contexts.py --quick
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

import gbb
from _rows import unit_arms
from against import show
from gbb.contexts import Regimes, Vector
from gbb.policies import AnyPolicy, EpsilonGreedy, ImprovedOFUL, JointOFUL, ThompsonSampling
from gbb.simulation.engine import run_engine

REPEATS = 5
REGIMES, NUMBERS = 4, 3

Instance = tuple[gbb.Environment, AnyPolicy]


def instances(
    kind: type[AnyPolicy], graph: gbb.Graph, arms: np.ndarray, rounds: int
) -> Iterator[tuple[str, Instance]]:
    """The problem without contexts, with regimes, with numbers, and as many features of each edge."""
    rng, m = np.random.default_rng(0), graph.m
    regimes = rng.integers(0, REGIMES, rounds)
    numbers = rng.uniform(-1.0, 1.0, (rounds, NUMBERS))
    features = np.tile(rng.uniform(0.1, 1.0, NUMBERS), (m, 1))
    settings: list[tuple[str, dict[str, object], object]] = [
        ("none", {}, None),
        (f"{REGIMES} regimes", {"contexts": Regimes(REGIMES)}, regimes),
        (f"{NUMBERS} numbers", {"contexts": Vector(NUMBERS)}, numbers),
        (f"{NUMBERS} features", {"features": features}, None),
    ]
    for name, given, contexts in settings:
        problem = gbb.Problem(graph, arms, S=4.0, **given)
        M = rng.standard_normal((problem.types, problem.d, problem.d))
        M *= 4.0 / np.linalg.norm(M, axis=(1, 2))[:, None, None]
        env = gbb.Environment(problem, M if problem.types > 1 else M[0], contexts=contexts)
        yield name, (env, kind(problem, cut=gbb.cuts.greedy(graph)))


def play(instance: Instance, rounds: int) -> float:
    """Seconds of so many rounds, on the process's own clock."""
    start = time.process_time()
    run_engine(*instance, rounds, np.array([rounds]), np.random.SeedSequence(0))
    return time.process_time() - start


def seconds_a_round(given: dict[str, Instance], rounds: int) -> dict[str, float]:
    """Of each instance, in turns; what a run costs beside its rounds is taken off."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in given}
    for instance in given.values():
        play(instance, 20)
    for _ in range(REPEATS):
        for name, instance in given.items():
            times[name].append((play(instance, rounds), play(instance, rounds // 10)))
    found = {}
    for name, each in times.items():
        long, short = (min(column) for column in zip(*each, strict=True))
        found[name] = (long - short) / (rounds - rounds // 10)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds")
    rounds = 800 if parser.parse_args().quick else 4000
    graphs = {"complete:5": gbb.Graph.complete(5), "4 x 4 grid": gbb.Graph.grid(4, 4)}
    arms = {"one-hot, d=K=5": np.eye(5), "general, d=3, K=5": unit_arms(5, 3)}
    columns = ["graph, arms, policy", "none", f"{REGIMES} regimes", "ratio"]
    columns += [f"{NUMBERS} numbers", "ratio", f"{NUMBERS} features", "ratio to these"]
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * 7}")
    with threadpool_limits(1):
        for graph, on in graphs.items():
            for what, each in arms.items():
                for kind in (ThompsonSampling, JointOFUL, ImprovedOFUL, EpsilonGreedy):
                    found = seconds_a_round(dict(instances(kind, on, each, rounds)), rounds)
                    none, regimes, numbers, features = found.values()
                    print(
                        f"| {graph}, {what}, {kind.__name__} | {show(none)} "
                        f"| {show(regimes)} | {regimes / none:.1f} "
                        f"| {show(numbers)} | {numbers / none:.1f} "
                        f"| {show(features)} | {numbers / features:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
