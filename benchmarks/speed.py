"""Seconds a round, here or beside another checkout. Prints Markdown.

python benchmarks/speed.py [PATTERN] [--quick] [--repeats 5]
python benchmarks/speed.py [PATTERN] --against CHECKOUT

PATTERN chooses rows by their names, which begin with `engine`, `growth`, `whole`, `beyond`,
`allocation`, `select`, `contexts`, `size` or `threads`. With a checkout of another version, one process
for each takes turns with the other, row by row and repeat by repeat, on one core with one BLAS thread,
so that whatever else the machine does falls on both. A ratio above 1 says that this one is faster.

A time is the fastest repeat's. Of `whole` and `contexts` rows it is that of a call as a user makes it,
with set-up, optimum, theory and result; of `select` rows that of `policy.select`, after 30 rounds; of
all others that of the rounds alone: a call with one round is taken off.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gbb

P = gbb.policies
HERE = Path(__file__).resolve().parents[1]
CORES = sorted(os.sched_getaffinity(0))

Instance = tuple[gbb.Environment, P.AnyPolicy]


class Row(NamedTuple):
    """What is played: an instance, for how many rounds and runs, on how many threads.

    ``timed`` is "rounds", "whole" or "select", as above.
    """

    build: Callable[[], Instance]
    rounds: int
    runs: int = 1
    workers: int = 1
    timed: str = "rounds"


def unit_arms(K: int, d: int) -> np.ndarray:
    arms = np.random.default_rng(0).standard_normal((K, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


@lru_cache(maxsize=1)
def random_graph(n: int, p: float) -> gbb.Graph:
    return gbb.Graph.complete(n) if p == 1.0 else gbb.Graph.random(n, p=p, seed=0)


def paper(
    kind: type[P.AnyPolicy], arms: np.ndarray, n: int = 5, p: float = 1.0, *, rivals: bool = False
) -> Instance:
    """The paper's problem; with `rivals`, like arms do not go together, so much is to be improved."""
    d = arms.shape[1]
    M = gbb.instances.absolute_normal(d, seed=0, frobenius=4.0)
    if rivals:
        M = np.random.default_rng(0).standard_normal((d, d))
        np.fill_diagonal(M, -1.0)
        M *= 4.0 / np.linalg.norm(M)
    problem = gbb.Problem(random_graph(n, p), arms, S=4.0)
    return gbb.Environment(problem, M), kind(problem, cut=gbb.cuts.greedy(problem.graph))


def general(
    kind: type[P.AnyPolicy], graph: gbb.Graph, arms: np.ndarray, **settings: Any
) -> Instance:
    """Edge types, or rewards in sums."""
    problem = gbb.Problem(graph, arms, S=4.0, **settings)
    M = np.abs(np.random.default_rng(0).standard_normal((problem.types, problem.d, problem.d)))
    M *= 4.0 / np.linalg.norm(M, axis=(1, 2), keepdims=True)
    optimistic = kind is not P.ThompsonSampling and not problem.symmetric
    radius = {"radius": "complete"} if optimistic else {}
    return gbb.Environment(problem, M), kind(problem, cut=gbb.cuts.greedy(graph), **radius)


def with_contexts(
    kind: type[P.AnyPolicy], graph: gbb.Graph, arms: np.ndarray, name: str, rounds: int
) -> Instance:
    """No contexts, four regimes, or three numbers, of which 20 vectors come again and again."""
    rng = np.random.default_rng(0)
    vectors = rng.uniform(-1.0, 1.0, (20, 3))
    kinds = {
        "none": (None, None),
        "4 regimes": (gbb.contexts.Regimes(4), rng.integers(0, 4, rounds)),
        "3 numbers": (gbb.contexts.Vector(3), vectors[rng.integers(0, 20, rounds)]),
    }
    declared, contexts = kinds[name]
    problem = gbb.Problem(graph, arms, S=4.0, contexts=declared)
    M = rng.standard_normal((problem.types, problem.d, problem.d))
    M *= 4.0 / np.linalg.norm(M, axis=(1, 2))[:, None, None]
    env = gbb.Environment(problem, M if problem.types > 1 else M[0], contexts=contexts)
    return env, kind(problem, cut=gbb.cuts.greedy(graph))


COUPLES = (P.ImprovedOFUL, P.OFUL)
CASES = {
    "one-hot, d=K=5": (np.eye(5), 200_000),
    "one-hot, d=K=10": (np.eye(10), 100_000),
    "general, d=K=5": (unit_arms(5, 5), 100_000),
    "general, d=K=10": (unit_arms(10, 10), 40_000),
    "general, d=5, K=20": (unit_arms(20, 5), 20_000),
    "general, d=5, K=100": (unit_arms(100, 5), 8192),
}
"""Arms by name, and rounds enough for them."""

FIVE = (("one-hot", np.eye(5)), ("general", unit_arms(5, 5)))
TEN = (("K = 10 one-hot", np.eye(10)), ("d = 5, K = 10", unit_arms(10, 5)))
GRID = gbb.Graph.grid(4, 4)


def rows() -> Iterator[tuple[str, Row]]:
    """Every row by its name."""
    yield from of_couples()
    yield from beyond()
    yield from of_allocations()
    yield from of_contexts()
    for workers in (1, 2):
        row = Row(partial(paper, P.ImprovedOFUL, np.eye(5)), 50_000, runs=64, workers=workers)
        yield f"threads: 64 runs on {workers}", row


def of_couples() -> Iterator[tuple[str, Row]]:
    one_hot = {K: np.eye(K) for K in (2, 5, 10, 20, 50)}
    for name, (arms, rounds) in CASES.items():
        yield f"engine: {name}", Row(partial(paper, P.ImprovedOFUL, arms), rounds)
    growth = [(f"d = K = {K}, one-hot", arms) for K, arms in one_hot.items()]
    growth += [(f"d = K = {K}, general", unit_arms(K, K)) for K in (2, 5, 10, 15)]
    growth += [(f"d = 5, K = {K}, general", unit_arms(K, 5)) for K in (10, 30, 100, 200)]
    for name, arms in growth:
        rounds = 100_000 if arms.size <= 100 else 8192
        yield f"growth: {name}", Row(partial(paper, P.ImprovedOFUL, arms), rounds)
    for n, p in ((5, 1.0), (100, 0.1), (10_000, 1e-3), (1_000_000, 1e-5)):
        # The fixed cost of a call, which is taken off, is the larger part on large graphs.
        rounds = 4_000_000 if n > 100_000 else 200_000
        for name, arms in FIVE:
            row = Row(partial(paper, P.ImprovedOFUL, arms, n, p), rounds)
            yield f"growth: n = {n:,}, {name}", row
    for runs, kind, name in product((64, 1), COUPLES, list(CASES)[:4]):
        row = Row(partial(paper, kind, CASES[name][0]), 20_000, runs, timed="whole")
        yield f"whole: {kind.__name__}, {name}, runs = {runs}", row


def beyond() -> Iterator[tuple[str, Row]]:
    downwards = (np.abs(GRID.sources - GRID.indices) > 1).astype(np.int64)
    kinds = {
        "own matrices": {"edge_types": "source"},
        "agent feedback": {"feedback": "agent"},
        "global feedback": {"feedback": "global"},
    }
    problems = [
        (f"{name}, d=K=5 {how}", gbb.Graph.complete(5), arms, settings)
        for (name, settings), (how, arms) in product(kinds.items(), FIVE)
    ]
    types = {"edge_types": downwards}
    problems.append(("4 x 4 grid, two types, K=11 d=3", GRID, unit_arms(11, 3), types))
    for name, graph, arms, settings in problems:
        for kind in (P.ThompsonSampling, P.ImprovedOFUL, P.JointOFUL):
            row = Row(partial(general, kind, graph, arms, **settings), 2000)
            yield f"beyond: {name}, {kind.__name__}", row


def of_allocations() -> Iterator[tuple[str, Row]]:
    for kind in (P.JointOFUL, P.ThompsonSampling):
        for name, arms in FIVE:
            row = Row(partial(paper, kind, arms), 20_000 if name == "one-hot" else 5000)
            yield f"allocation: {kind.__name__}, n = d = K = 5, {name}", row
        for name, arms in TEN:
            row = Row(partial(paper, kind, arms, 1000, 10 / 999, rivals=True), 60)
            yield f"allocation: {kind.__name__}, n = 1,000, {name}", row
        sizes = [(n, 10) for n in (250, 500, 1000, 2000, 4000)] + [(1000, m) for m in (5, 20, 40)]
        for n, degree in sizes:
            build = partial(paper, kind, unit_arms(10, 5), n, degree / (n - 1), rivals=True)
            yield f"size: {kind.__name__}, n = {n:,}, mean degree {degree}", Row(build, 60)
    for n, p in ((20, 0.3), (1000, 10 / 999)):
        for kind in (P.ImprovedOFUL, P.JointOFUL, P.GuardedThompson, P.InformationDirected):
            for name, arms in TEN:
                calls = 20 if kind is P.InformationDirected else 200
                row = Row(partial(paper, kind, arms, n, p, rivals=True), calls, timed="select")
                yield f"select: {kind.__name__}, n = {n:,}, {name}", row


def of_contexts() -> Iterator[tuple[str, Row]]:
    graphs = {"complete:5": gbb.Graph.complete(5), "4 x 4 grid": GRID}
    three = {"one-hot, d=K=5": np.eye(5)} | {
        f"general, d={d}, K=5": unit_arms(5, d) for d in (5, 3)
    }
    policies = (P.OFUL, P.ImprovedOFUL, P.ThompsonSampling, P.JointOFUL, P.EpsilonGreedy)
    for (on, graph), (name, arms), kind in product(graphs.items(), three.items(), policies):
        for runs, context in product(
            (1, 64) if kind in COUPLES else (1,), ("none", "4 regimes", "3 numbers")
        ):
            build = partial(with_contexts, kind, graph, arms, context, 20_000)
            label = f"contexts: {on}, {name}, {kind.__name__}, runs = {runs}, {context}"
            yield label, Row(build, 20_000, runs, timed="whole")


class Player:
    """One row, built and compiled."""

    def __init__(self, row: Row, scale: float) -> None:
        self.row, (self.env, self.policy) = row, row.build()
        self.rounds = max(3 if row.timed == "select" else 20, int(scale * row.rounds))
        if row.timed == "select":
            for step in gbb.simulation.play(self.env, self.policy, 30, 0):
                self.state = step.state
            return
        if row.timed == "rounds":
            # No theory report; `guarantee` is the name in checkouts whose policies have no `theorem`.
            vars(self.policy).update(theorem=None, guarantee=None)
        arms = np.zeros(self.env.problem.n, dtype=np.int64)
        value = self.env.expected_reward(arms)
        # Any allocation that pays what it says will do, and keeps the solver out of the timing.
        self.optimum = gbb.optimum.Optimum(arms, value, value, False, "first arm")
        self.simulate(20)

    def simulate(self, rounds: int) -> None:
        """Play so many rounds of all runs."""
        gbb.simulate(
            self.env,
            self.policy,
            rounds=rounds,
            runs=self.row.runs,
            record="log",
            workers=self.row.workers,
            optimum=None if self.row.timed == "whole" else self.optimum,
        )

    def measure(self) -> dict[str, float]:
        """Seconds of all rounds, and of one if the difference is what the rounds cost."""
        os.sched_setaffinity(0, CORES[-self.row.workers :])
        # Processor time does not count the others on this core, but cannot see threads overlap.
        clock = time.process_time if self.row.workers == 1 else time.perf_counter
        marks = [clock()]
        if self.row.timed == "select":
            rng = np.random.default_rng(0)
            for _ in range(self.rounds):
                self.policy.select(self.state, rng)
            return {"long": clock() - marks[0], "short": 0.0, "played": self.rounds}
        single = [1] * 3 if self.row.timed == "rounds" else []
        for rounds in (self.rounds, *single):
            self.simulate(rounds)
            marks.append(clock())
        long, *short = np.diff(marks).tolist()
        played = (self.rounds - bool(single)) * self.row.runs
        return {"long": long, "short": min(short, default=0.0), "played": played}


def work() -> None:
    """Answer requests, a line of JSON each: one with a row builds it, others play it once."""
    every: dict[str, Row] = dict(rows())
    answer: Any = {"names": list(every), "gbb": gbb.__file__}
    print(json.dumps(answer), flush=True)
    player = None
    for line in sys.stdin:
        request = json.loads(line)
        if request:
            player = None  # frees the last one's graph before the next is made
            player = Player(every[request["row"]], request["scale"])
        print(json.dumps(player.measure() if player and not request else {}), flush=True)


class Worker:
    """A process that plays rows with one checkout's gbb."""

    def __init__(self, checkout: Path) -> None:
        source = checkout.resolve() / "src"
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--worker"],
            env=os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        first = self.read()
        if not Path(first["gbb"]).is_relative_to(source):
            sys.exit(f"{checkout} has no gbb of its own: {first['gbb']} was imported.")
        self.names: list[str] = first["names"]

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """Wait for the next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit("A worker stopped; see above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def seconds_a_round(workers: list[Worker], row: str, scale: float, repeats: int) -> list[float]:
    """Each worker's, the workers taking turns."""
    for worker in workers:
        worker.ask(row=row, scale=scale)
    found = [[worker.ask() for worker in workers] for _ in range(repeats)]
    return [
        (min(t["long"] for t in times) - min(t["short"] for t in times)) / times[0]["played"]
        for times in zip(*found, strict=True)
    ]


def show(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="", help="only rows with this in their names")
    parser.add_argument("--against", type=Path, help="the other checkout's folder")
    parser.add_argument("--repeats", type=int, default=5, help="fastest of how many")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return
    checkouts = [HERE] if options.against is None else [options.against, HERE]
    workers = [Worker(checkout) for checkout in checkouts]
    heads = ["a round"] if options.against is None else ["there", "here", "there / here"]
    print(f"| row | {' | '.join(heads)} |\n| --- |{' ---: |' * len(heads)}")
    for row in workers[0].names:
        if re.search(options.pattern, row):
            scale = 0.1 if options.quick else 1.0
            times = seconds_a_round(workers, row, scale, options.repeats)
            cells = [show(each) for each in times] + [
                f"{times[0] / times[1]:.2f}" for _ in times[1:]
            ]
            print(f"| {row} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
