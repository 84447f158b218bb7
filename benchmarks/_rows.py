"""The rows that `against.py` measures, played by a worker that imports one checkout's gbb.

The worker prints the names of the rows, then answers each request on its standard input, a line of
JSON, by one line: `{"row": name, "scale": 1.0}` builds a row and compiles what it plays, `{}` plays it
once and gives its seconds a round.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

import gbb
from gbb.policies import (
    OFUL,
    AnyPolicy,
    GuardedThompson,
    ImprovedOFUL,
    InformationDirected,
    JointOFUL,
    ThompsonSampling,
)

Clock = Callable[[], float]
Instance = tuple[gbb.Environment, AnyPolicy]


class Row(NamedTuple):
    """What to play: an instance, for how many rounds and runs, on how many threads.

    A `whole` row is timed as a user calls it, with set-up, optimum, theory and result. A `select` row
    times `policy.select` alone, on what it has learnt in 30 rounds of the reference loop.
    """

    build: Callable[[], Instance]
    rounds: int
    runs: int = 1
    workers: int = 1
    whole: bool = False
    select: bool = False


GRAPHS = ((5, 1.0), (100, 0.1), (10_000, 1e-3), (1_000_000, 1e-5))
"""Agents and edge probabilities of graphs that grow, of about ten links an agent."""


def rounds_on(n: int) -> int:
    """More rounds where a call's fixed cost, which is taken off, is the larger part."""
    return 4_000_000 if n > 100_000 else 200_000


def unit_arms(K: int, d: int) -> np.ndarray:
    arms = np.random.default_rng(0).standard_normal((K, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


@lru_cache(maxsize=1)
def sparse_graph(n: int, p: float) -> gbb.Graph:
    return gbb.Graph.complete(n) if p == 1.0 else gbb.Graph.random(n, p=p, seed=0)


def paper(
    kind: type[AnyPolicy],
    arms: np.ndarray,
    n: int = 5,
    p: float = 1.0,
    *,
    rivals: bool = False,
) -> Instance:
    """The paper's problem; with `rivals`, like arms do not go together, so much is to be improved."""
    d = arms.shape[1]
    M = gbb.instances.absolute_normal(d, seed=0, frobenius=4.0)
    if rivals:
        M = np.random.default_rng(0).standard_normal((d, d))
        np.fill_diagonal(M, -1.0)
        M *= 4.0 / np.linalg.norm(M)
    problem = gbb.Problem(sparse_graph(n, p), arms, S=4.0)
    return gbb.Environment(problem, M), kind(problem, cut=gbb.cuts.greedy(problem.graph))


def general(
    kind: type[AnyPolicy], graph: gbb.Graph, arms: np.ndarray, **settings: object
) -> Instance:
    """Another problem than the paper's: edge types, or rewards in sums."""
    problem = gbb.Problem(graph, arms, S=4.0, **settings)
    d, rng = problem.d, np.random.default_rng(0)
    M = np.abs(rng.standard_normal((problem.types, d, d)))
    M *= 4.0 / np.linalg.norm(M, axis=(1, 2), keepdims=True)
    optimistic = kind is not ThompsonSampling and not problem.symmetric
    radius = {"radius": "complete"} if optimistic else {}
    return gbb.Environment(problem, M), kind(problem, cut=gbb.cuts.greedy(graph), **radius)


def rows() -> Iterator[tuple[str, Row]]:
    """Every row of `docs/performance.md`, then the problems beyond the paper's."""
    engine = [
        ("one-hot, d=K=5", np.eye(5), 200_000),
        ("one-hot, d=K=10", np.eye(10), 100_000),
        ("general, d=K=5", unit_arms(5, 5), 100_000),
        ("general, d=K=10", unit_arms(10, 10), 40_000),
        ("general, d=5, K=20", unit_arms(20, 5), 20_000),
        ("general, d=5, K=100", unit_arms(100, 5), 8192),
    ]
    for name, arms, rounds in engine:
        yield f"engine: {name}", Row(partial(paper, ImprovedOFUL, arms), rounds)
    growth = [(f"d = K = {k}, one-hot", np.eye(k)) for k in (2, 5, 10, 20, 50)]
    growth += [(f"d = K = {k}, general", unit_arms(k, k)) for k in (2, 5, 10, 15)]
    growth += [(f"d = 5, K = {k}, general", unit_arms(k, 5)) for k in (10, 30, 100, 200)]
    for name, arms in growth:
        rounds = 100_000 if arms.size <= 100 else 8192
        yield f"growth: {name}", Row(partial(paper, ImprovedOFUL, arms), rounds)
    for n, p in GRAPHS:
        for name, arms in (("one-hot", np.eye(5)), ("general", unit_arms(5, 5))):
            play = partial(paper, ImprovedOFUL, arms, n, p)
            yield f"growth: n = {n:,}, {name}", Row(play, rounds_on(n))
    small = [
        (JointOFUL, "one-hot", np.eye(5)),
        (ThompsonSampling, "one-hot", np.eye(5)),
        (ThompsonSampling, "general", unit_arms(5, 5)),
    ]
    for kind, name, arms in small:
        row = Row(partial(paper, kind, arms), 20_000 if name == "one-hot" else 5000)
        yield f"allocation: {kind.__name__}, n = d = K = 5, {name}", row
    large = [
        (JointOFUL, "K = 10 one-hot", np.eye(10)),
        (ThompsonSampling, "K = 10 one-hot", np.eye(10)),
        (ThompsonSampling, "d = 5, K = 10", unit_arms(10, 5)),
    ]
    for kind, name, arms in large:
        play = partial(paper, kind, arms, 1000, 10 / 999, rivals=True)
        yield f"allocation: {kind.__name__}, n = 1,000, {name}", Row(play, 60)
    for workers in (1, 2):
        play = partial(paper, ImprovedOFUL, np.eye(5))
        yield (
            f"threads: 64 runs on {workers}",
            Row(play, 50_000, runs=64, workers=workers),
        )
    for n, p in ((20, 0.3), (1000, 10 / 999)):
        for kind in (ImprovedOFUL, JointOFUL, GuardedThompson, InformationDirected):
            for name, arms in (("one-hot", np.eye(10)), ("general", unit_arms(10, 5))):
                play = partial(paper, kind, arms, n, p, rivals=True)
                calls = 20 if kind is InformationDirected else 200
                label = f"select: {kind.__name__}, n = {n:,}, {name}"
                yield label, Row(play, calls, select=True)
    yield from beyond()
    yield from side_by_side()


def side_by_side() -> Iterator[tuple[str, Row]]:
    """Many runs at once, and one alone, as a user calls them."""
    cases = [
        (ImprovedOFUL, "one-hot, d=K=5", np.eye(5)),
        (ImprovedOFUL, "one-hot, d=K=10", np.eye(10)),
        (ImprovedOFUL, "general, d=K=5", unit_arms(5, 5)),
        (ImprovedOFUL, "general, d=K=10", unit_arms(10, 10)),
        (OFUL, "one-hot, d=K=5", np.eye(5)),
    ]
    for runs in (64, 1):
        for kind, name, arms in cases:
            row = Row(partial(paper, kind, arms), 20_000, runs=runs, whole=True)
            yield f"whole: {kind.__name__}, {name}, runs = {runs}", row


def beyond() -> Iterator[tuple[str, Row]]:
    """Edge types and rewards in sums, which the paper's problem has not."""
    five, grid = gbb.Graph.complete(5), gbb.Graph.grid(4, 4)
    downwards = (np.abs(grid.sources - grid.indices) > 1).astype(np.int64)
    problems = [
        (f"{name}, d=K=5 {how}", five, arms, settings)
        for name, settings in (
            ("own matrices", {"edge_types": "source"}),
            ("agent feedback", {"feedback": "agent"}),
            ("global feedback", {"feedback": "global"}),
        )
        for how, arms in (("one-hot", np.eye(5)), ("general", unit_arms(5, 5)))
    ]
    problems.append(
        ("4 x 4 grid, two types, K=11 d=3", grid, unit_arms(11, 3), {"edge_types": downwards})
    )
    for name, graph, arms, settings in problems:
        for kind in (ThompsonSampling, ImprovedOFUL, JointOFUL):
            rounds = 2000 if kind is JointOFUL else 4000
            play = partial(general, kind, graph, arms, **settings)
            yield f"beyond: {name}, {kind.__name__}", Row(play, rounds)


class Player:
    """One row, built and compiled."""

    def __init__(self, row: Row, scale: float) -> None:
        self.row = row
        self.rounds = max(20, int(scale * row.rounds))
        self.env, self.policy = row.build()
        if not row.whole:
            # No theory report; `guarantee` is the name in checkouts whose policies have no `theorem`.
            vars(self.policy).update(theorem=None, guarantee=None)
        allocation = np.zeros(self.env.problem.n, dtype=np.int64)
        value = self.env.expected_reward(allocation)
        # Any allocation that pays what it says will do, and keeps the solver out of the timing.
        self.optimum = gbb.optimum.Optimum(allocation, value, value, False, "first arm")
        self.simulate(20)

    @property
    def played(self) -> int:
        """How many rounds the longer of the two calls has more."""
        return (self.rounds - (not self.row.whole)) * self.row.runs

    def simulate(self, rounds: int) -> None:
        gbb.simulate(
            self.env,
            self.policy,
            rounds=rounds,
            runs=self.row.runs,
            record="log",
            workers=self.row.workers,
            optimum=None if self.row.whole else self.optimum,
        )

    def measure(self, clock: Clock) -> dict[str, float]:
        """Seconds of all rounds and of one: the difference is what the rounds cost.

        Of a whole row, of all rounds and of nothing.
        """
        os.sched_setaffinity(0, CORES[-self.row.workers :])
        marks = [clock()]
        for rounds in (self.rounds,) if self.row.whole else (self.rounds, 1, 1, 1):
            self.simulate(rounds)
            marks.append(clock())
        long, *short = np.diff(marks).tolist()
        return {"long": long, "short": min(short, default=0.0)}


class Chooser:
    """One `select` row: what a policy with something learnt takes to choose."""

    def __init__(self, row: Row, scale: float) -> None:
        self.played = max(3, int(scale * row.rounds))
        env, self.policy = row.build()
        self.state = self.policy.init()
        for step in gbb.simulation.play(env, self.policy, 30, 0):
            self.state = step.state
        self.rng = np.random.default_rng(0)

    def measure(self, clock: Clock) -> dict[str, float]:
        """Seconds of all calls, and of none."""
        start = clock()
        for _ in range(self.played):
            self.policy.select(self.state, self.rng)
        return {"long": clock() - start, "short": 0.0}


CORES = sorted(os.sched_getaffinity(0))


def main() -> None:
    every = dict(rows())
    answer: object = {"names": list(every), "gbb": gbb.__file__}
    player: Player | Chooser | None = None
    print(json.dumps(answer), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "row" in request:
            player = None
            row = every[request["row"]]
            player = (Chooser if row.select else Player)(row, request["scale"])
            answer = {"rounds": player.played}
        else:
            assert player is not None
            # Processor time does not count the others on this core, but cannot see threads overlap.
            alone = row.workers == 1
            answer = player.measure(time.process_time if alone else time.perf_counter)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
