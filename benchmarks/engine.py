"""Speed of the engine as ratios measured side by side in one run. Prints Markdown.

make bench            all tables
python benchmarks/engine.py --quick
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from _peer import bayesian_ucb
from _rows import GRAPHS, Clock, Instance, Player, Row, paper, rounds_on, unit_arms
from _textbook import textbook
from against import show
from gbb.policies import ImprovedOFUL
from gbb.simulation.engine.couples import choose_form

REPEATS = 5


def fastest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def engine_round(instance: Instance, rounds: int) -> float:
    """Seconds a round of the engine, noise and recording included, after compilation."""
    return seconds_a_round(Player(Row(lambda: instance, rounds), 1.0))


def seconds_a_round(player: Player, clock: Clock = time.process_time) -> float:
    times = [player.measure(clock) for _ in range(REPEATS)]
    long, short = (min(each[key] for each in times) for key in ("long", "short"))
    return (long - short) / player.played


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
    env, policy = paper(ImprovedOFUL, arms)
    engine = engine_round((env, policy), fast)
    plain = fastest(lambda: textbook(env, policy.cut, policy.weights, slow, 0), 3) / slow
    other = fastest(lambda: bayesian_ucb(env, policy.cut, peer, 0), 2) / peer
    print(
        f"| {name} | {choose_form(env.problem).__name__} | {show(engine)} | {show(plain)} "
        f"| {plain / engine:.0f}x | {show(other)} | {other / engine:.0f}x |",
        flush=True,
    )


def growth(scale: float) -> None:
    print("\n| what grows | d | K | n | m | form | a round |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: |")
    rows = [("d = K, one-hot", np.eye(k)) for k in (2, 5, 10, 20, 50)]
    rows += [("d = K, general", unit_arms(k, k)) for k in (2, 5, 10, 15)]
    rows += [("K, general", unit_arms(k, 5)) for k in (10, 30, 100, 200)]
    for name, arms in rows:
        rounds = 100_000 if arms.size <= 100 else 8192
        line(name, paper(ImprovedOFUL, arms), int(scale * rounds))
    for name, arms in (("one-hot", np.eye(5)), ("general", unit_arms(5, 5))):
        for n, p in GRAPHS:
            rounds = int(scale * rounds_on(n))
            line(f"the graph, {name}", paper(ImprovedOFUL, arms, n, p), rounds)


def line(name: str, instance: Instance, rounds: int) -> None:
    p = instance[0].problem
    print(
        f"| {name} | {p.d} | {p.K} | {p.n:,} | {p.m:,} | {choose_form(p).__name__} "
        f"| {show(engine_round(instance, rounds))} |",
        flush=True,
    )


def threads(scale: float) -> None:
    rounds, play = int(scale * 50_000), partial(paper, ImprovedOFUL, np.eye(5))
    players = [Player(Row(play, rounds, runs=64, workers=workers), 1.0) for workers in (1, 2)]
    one, two = (seconds_a_round(player, time.perf_counter) for player in players)
    print(f"\n64 runs of {rounds:,} rounds: 2 threads are {one / two:.2f}x as fast as 1.")


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
