"""Speed of the engine as ratios measured side by side in one run. Prints Markdown.

make bench            all tables
python benchmarks/engine.py --quick
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import gbb
from _peer import bayesian_ucb
from _textbook import textbook
from gbb.policies import CouplePolicy, ImprovedOFUL
from gbb.simulation._couples import best_form
from gbb.simulation._trace import recorded_rounds
from gbb.simulation.engine import run_engine

REPEATS = 5


def unit_arms(K: int, d: int) -> np.ndarray:
    arms = np.random.default_rng(0).standard_normal((K, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


def instance(graph: gbb.Graph, arms: np.ndarray) -> tuple[gbb.Environment, CouplePolicy]:
    M = gbb.instances.absolute_normal(arms.shape[1], seed=0, frobenius=4.0)
    problem = gbb.Problem(graph, arms, S=4.0)
    return gbb.Environment(problem, M), ImprovedOFUL(problem, cut=gbb.cuts.greedy(graph))


def fastest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def engine_round(env: gbb.Environment, policy: CouplePolicy, rounds: int) -> float:
    """Seconds a round of the engine, noise and recording included, after compilation."""
    kept = recorded_rounds(rounds, "log")

    def play(seed: int = 0) -> None:
        run_engine(env, policy, rounds, kept, np.random.SeedSequence(seed))

    run_engine(env, policy, 8, np.array([8]), np.random.SeedSequence(0))
    return fastest(play) / rounds


def ratios(scale: float) -> None:
    print("| case | form | engine | textbook | ratio | bayesianbandits | ratio |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    cases = [
        ("one-hot, d=K=5", np.eye(5), 200_000, 2000, 200),
        ("one-hot, d=K=10", np.eye(10), 100_000, 500, 100),
        ("general, d=K=5", unit_arms(5, 5), 100_000, 2000, 200),
        ("general, d=K=10", unit_arms(10, 10), 40_000, 500, 100),
        ("general, d=5, K=20", unit_arms(20, 5), 20_000, 1000, 50),
        ("general, d=5, K=100", unit_arms(100, 5), 8192, 150, 5),
    ]
    for name, arms, *sizes in cases:
        compare(name, arms, *(max(2, int(size * scale)) for size in sizes))


def compare(name: str, arms: np.ndarray, fast: int, slow: int, peer: int) -> None:
    """One row: so many rounds of the engine, of the textbook and of the peer."""
    env, policy = instance(gbb.Graph.complete(5), arms)
    engine = engine_round(env, policy, fast)
    plain = fastest(lambda: textbook(env, policy.cut, policy.weights, slow, 0), 3) / slow
    other = fastest(lambda: bayesian_ucb(env, policy.cut, peer, 0), 2) / peer
    print(
        f"| {name} | {best_form(env.problem)} | {show(engine)} | {show(plain)} "
        f"| {plain / engine:.0f}x | {show(other)} | {other / engine:.0f}x |",
        flush=True,
    )


def growth(scale: float) -> None:
    print("\n| what grows | d | K | n | m | form | a round |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: |")
    small = gbb.Graph.complete(5)
    rows = [("d = K, one-hot", small, np.eye(k)) for k in (2, 5, 10, 20, 50)]
    rows += [("d = K, general", small, unit_arms(k, k)) for k in (2, 5, 10, 15)]
    rows += [("K, general", small, unit_arms(k, 5)) for k in (10, 30, 100, 200)]
    for name, graph, arms in rows:
        env, policy = instance(graph, arms)
        rounds = int(scale * (100_000 if arms.size <= 100 else 8192))
        line(name, policy, engine_round(env, policy, rounds))
    for arms in (np.eye(5), unit_arms(5, 5)):
        for n, p in ((5, 1.0), (100, 0.1), (10_000, 1e-3), (1_000_000, 1e-5)):
            graph = gbb.Graph.complete(5) if n == 5 else gbb.Graph.random(n, p=p, seed=0)
            env, policy = instance(graph, arms)
            name = (
                "the graph, one-hot"
                if best_form(env.problem) == "orthogonal"
                else "the graph, general"
            )
            line(name, policy, engine_round(env, policy, int(scale * 100_000)))


def line(name: str, policy: CouplePolicy, seconds: float) -> None:
    p = policy.problem
    print(
        f"| {name} | {p.d} | {p.K} | {p.n:,} | {p.m:,} | {best_form(p)} | {show(seconds)} |",
        flush=True,
    )


def threads(scale: float) -> None:
    env, policy = instance(gbb.Graph.complete(5), np.eye(5))
    best = gbb.optimum.solve(env.problem, env.M_star)
    rounds = int(scale * 50_000)

    def play(workers: int) -> None:
        gbb.simulate(
            env, policy, rounds=rounds, runs=64, record="log", workers=workers, optimum=best
        )

    play(1)
    one, two = zip(
        *[(fastest(lambda: play(1), 1), fastest(lambda: play(2), 1)) for _ in range(REPEATS)],
        strict=True,
    )
    print(f"\n64 runs of {rounds:,} rounds: 2 threads are {min(one) / min(two):.2f}x as fast as 1.")


def show(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    scale = 0.1 if parser.parse_args().quick else 1.0
    print(
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, one core.\n"
    )
    with threadpool_limits(1):
        ratios(scale)
        growth(scale)
    threads(scale)


if __name__ == "__main__":
    main()
