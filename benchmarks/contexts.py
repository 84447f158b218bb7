"""What contexts add to a round of `gbb.simulate` as a user calls it. Prints Markdown.

python benchmarks/contexts.py
python benchmarks/contexts.py --quick

Everything counts: set-up, the optimum of every different context, theory and result. Runs that are
played side by side are measured one alone and 64 together.
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
from gbb.policies import OFUL, AnyPolicy, EpsilonGreedy, ImprovedOFUL, JointOFUL, ThompsonSampling
from gbb.simulation.engine import loop_for

REPEATS = 3
ROUNDS, MANY = 20_000, 64
REGIMES, NUMBERS, DIFFERENT = 4, 3, 20
"""How many regimes; numbers of a vector; different vectors of them."""
POLICIES = (OFUL, ImprovedOFUL, ThompsonSampling, JointOFUL, EpsilonGreedy)

Instance = tuple[gbb.Environment, AnyPolicy]


def instances(
    kind: type[AnyPolicy], graph: gbb.Graph, arms: np.ndarray, rounds: int
) -> Iterator[Instance]:
    """The problem without contexts, with regimes, and with numbers."""
    rng = np.random.default_rng(0)
    vectors = rng.uniform(-1.0, 1.0, (DIFFERENT, NUMBERS))
    settings = (
        (None, None),
        (Regimes(REGIMES), rng.integers(0, REGIMES, rounds)),
        (Vector(NUMBERS), vectors[rng.integers(0, DIFFERENT, rounds)]),
    )
    for given, contexts in settings:
        problem = gbb.Problem(graph, arms, S=4.0, contexts=given)
        M = rng.standard_normal((problem.types, problem.d, problem.d))
        M *= 4.0 / np.linalg.norm(M, axis=(1, 2))[:, None, None]
        env = gbb.Environment(problem, M if problem.types > 1 else M[0], contexts=contexts)
        yield env, kind(problem, cut=gbb.cuts.greedy(graph))


def play(instance: Instance, rounds: int, runs: int) -> float:
    """Seconds a round of a run, on the process's own clock."""
    env, policy = instance
    start = time.process_time()
    gbb.simulate(env, policy, rounds=rounds, runs=runs, workers=1, record="log")
    return (time.process_time() - start) / (rounds * runs)


def seconds_a_round(given: list[Instance], rounds: int, runs: int) -> list[float]:
    """The least of each instance, in turns."""
    for instance in given:
        play(instance, 20, runs)
    times = [[play(instance, rounds, runs) for instance in given] for _ in range(REPEATS)]
    return np.min(times, axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds")
    rounds = ROUNDS // 5 if parser.parse_args().quick else ROUNDS
    graphs = {"complete:5": gbb.Graph.complete(5), "4 x 4 grid": gbb.Graph.grid(4, 4)}
    arms = {"one-hot, d=K=5": np.eye(5)}
    arms |= {f"general, d={d}, K=5": unit_arms(5, d) for d in (5, 3)}
    columns = ["graph, arms, policy", "runs", "none", f"{REGIMES} regimes", "ratio"]
    columns += [f"{NUMBERS} numbers", "ratio"]
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * 6}")
    with threadpool_limits(1):
        for graph, on in graphs.items():
            for what, each in arms.items():
                for kind in POLICIES:
                    given = list(instances(kind, on, each, rounds))
                    loop = loop_for(given[0][1])
                    for runs in (1, MANY) if loop is not None and loop.batch > 1 else (1,):
                        none, regimes, numbers = seconds_a_round(given, rounds, runs)
                        print(
                            f"| {graph}, {what}, {kind.__name__} | {runs} | {show(none)} "
                            f"| {show(regimes)} | {regimes / none:.1f} "
                            f"| {show(numbers)} | {numbers / none:.1f} |",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
