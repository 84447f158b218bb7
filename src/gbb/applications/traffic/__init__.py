"""Traffic lights: the offsets of a 4 x 4 grid of signals, learnt live in SUMO.

Agents are signals, arms are six offsets of the cycle, and the reward of edge (i, j) is
``1 - (time lost per vehicle from j to i) / 60 s``. One matrix is shared by all streets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure

import gbb
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.applications._outcome import Advance, Outcome, ignore
from gbb.applications._require import require
from gbb.applications.traffic.report import Live, Rounds, outcome, picture
from gbb.applications.traffic.streets import Grid
from gbb.applications.traffic.sumo import CYCLE, Measured, Simulator

OFFSETS = np.arange(6) * (CYCLE // 6)
"""The six arms, in seconds."""

ANGLES = 2.0 * np.pi * np.arange(OFFSETS.size) / OFFSETS.size
FEATURES = {
    "one-hot": np.eye(OFFSETS.size),
    "fourier": np.stack([np.ones(OFFSETS.size), np.cos(ANGLES), np.sin(ANGLES)], axis=1),
}
"""Arms as the learner sees them: every offset on its own (36 unknowns), or smooth in it (9)."""

WORKERS = 2
Watch = Callable[[Figure], None]


@dataclass(frozen=True)
class Plan:
    """How many simulated rounds of each kind, and how many minutes each measures."""

    rounds: int = 40
    survey: int = 30
    repeats: int = 5
    minutes: int = 15

    @property
    def late(self) -> int:
        """The last quarter of the live rounds, over which learners are judged."""
        return max(1, self.rounds // 4)


FULL, QUICK = Plan(), Plan(rounds=24, survey=16, repeats=3, minutes=5)


def plan_of(rounds: int | None, quick: bool) -> Plan:
    """The full or the quick plan, with another number of live rounds if given."""
    base = QUICK if quick else FULL
    live = base.rounds if rounds is None else checks.integer("rounds", rounds, low=1)
    return replace(base, rounds=live)


def steps(*, arms: str = "both", rounds: int | None = None, quick: bool = False) -> int:
    """How many rounds :func:`run` simulates; checks that it can run."""
    require("traffic", "SUMO", "sumo")
    todo = plan_of(rounds, quick)
    return todo.survey + todo.repeats + todo.late + len(kinds(arms)) * todo.rounds


def kinds(arms: str) -> tuple[str, ...]:
    """The feature sets that ``arms`` stands for."""
    chosen = checks.choice("arms", arms, [*FEATURES, "both"])
    return tuple(FEATURES) if chosen == "both" else (chosen,)


def run(
    *,
    seed: int = 0,
    quick: bool = False,
    rounds: int | None = None,
    arms: str = "both",
    advance: Advance = ignore,
    watch: Watch | None = None,
) -> Outcome:
    """Learn the offsets live, beside random offsets, no offsets and the best fixed ones.

    Parameters
    ----------
    seed
        Where the traffic of every round and all choices come from.
    quick
        Fewer and shorter rounds.
    rounds
        Live rounds.
    arms
        ``one-hot``, ``fourier`` or ``both``.
    advance
        Told how many simulated rounds have ended.
    watch
        Handed the picture of the loss every few live rounds.
    """
    checks.integer("seed", seed, low=0)
    todo, names = plan_of(rounds, quick), kinds(arms)
    with Simulator(Grid(minutes=todo.minutes)) as simulator:
        return _Demo(simulator, todo, seed, advance).run(names, watch)


class _Demo:
    """One run of the demo; everything random comes from children of the seed."""

    def __init__(self, simulator: Simulator, todo: Plan, seed: int, advance: Advance) -> None:
        self.simulator, self.todo, self.advance = simulator, todo, advance
        self.graph = simulator.grid.graph
        draws = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(5)]
        top = 2**31 - 1
        self.survey_arms = draws[0].integers(0, OFFSETS.size, (todo.survey, self.graph.n))
        self.survey_seeds = draws[1].integers(0, top, todo.survey)
        self.zero_seeds = draws[2].integers(0, top, todo.repeats)
        self.live_seeds = draws[3].integers(0, top, todo.rounds)
        self.choices = draws[4]

    def run(self, names: Sequence[str], watch: Watch | None) -> Outcome:
        """Survey with random offsets, fix the settings from it, then learn live from nothing."""
        zeros = np.zeros((self.todo.repeats, self.graph.n), dtype=np.int64)
        random = self.play(self.survey_arms, self.survey_seeds)
        zero = self.play(zeros, self.zero_seeds)
        history = random.joined(zero)
        free = gbb.Problem(self.graph, FEATURES["one-hot"])
        table = fitted(free, history)
        best = gbb.optimum.solve(free, table)
        late = self.live_seeds[-self.todo.late :]  # the traffic that learners are judged on
        fixed = self.play(np.tile(best.allocation, (late.size, 1)), late)
        everything = history.joined(fixed)
        sigma = gbb.diagnose(free, everything.allocations, everything.rewards).sigma_hat
        policies = {name: policy(self.graph, name, sigma) for name in names}
        lives: list[Live] = []
        for lives in self.live(policies):
            done = lives[0].rounds.size
            if watch is not None and (done % 4 == 0 or done == self.todo.rounds):
                watch(picture(lives, random, zero, fixed))
        fits = {
            name: gbb.diagnose(each.problem, random.allocations, random.rewards)
            for name, each in policies.items()
        }
        return outcome(
            self.graph, lives, random, zero, fixed, best=best, table=table, sigma=sigma, fits=fits
        )

    def play(self, allocations: IntArray, seeds: IntArray) -> Rounds:
        """Simulate fixed rounds, side by side."""
        pairs = list(zip(allocations, seeds.tolist(), strict=True))
        return Rounds.of(allocations, list(self._simulate(pairs)))

    def live(self, policies: dict[str, gbb.policies.ImprovedOFUL]) -> Iterator[list[Live]]:
        """Ask every policy, simulate its offsets, tell it the rewards; the same traffic for all."""
        states = {name: each.init() for name, each in policies.items()}
        draws = dict(zip(policies, self.choices.spawn(len(policies)), strict=True))
        played: dict[str, list[tuple[IntArray, Measured]]] = {name: [] for name in policies}
        for seed in self.live_seeds.tolist():
            asked = {
                name: each.select(states[name], draws[name]) for name, each in policies.items()
            }
            found = self._simulate([(choice.allocation, seed) for choice in asked.values()])
            for (name, choice), measured in zip(asked.items(), found, strict=True):
                states[name] = policies[name].update(states[name], choice, measured.rewards)
                played[name].append((choice.allocation, measured))
            yield [
                Live(name, Rounds.of(np.stack([a for a, _ in told]), [each for _, each in told]))
                for name, told in played.items()
            ]

    def _simulate(self, pairs: Sequence[tuple[IntArray, int]]) -> Iterator[Measured]:
        pool = ThreadPoolExecutor(WORKERS)
        try:
            for measured in pool.map(
                lambda pair: self.simulator.run(OFFSETS[pair[0]], pair[1]), pairs
            ):
                self.advance(1)
                yield measured
        finally:
            pool.shutdown(cancel_futures=True)


def policy(graph: gbb.Graph, name: str, sigma: float) -> gbb.policies.ImprovedOFUL:
    """The paper's improved algorithm with the settings of the demo.

    Rewards lie between -1 and 1 as long as vehicles lose less than two minutes on a street, so that
    ``||X M X'||_F <= K`` and ``||M||_F <= K ||X^+||^2 = S``. With ``lam = (sigma / S)^2`` the
    regulariser adds no more than sigma to the radius.
    """
    X: FloatArray = FEATURES[name]
    S = OFFSETS.size * float(np.linalg.norm(np.linalg.pinv(X), 2)) ** 2
    seconds = [f"{offset} s" for offset in OFFSETS]
    problem = gbb.Problem(graph, X, sigma=sigma, S=S, arm_names=seconds)
    return gbb.policies.ImprovedOFUL(
        problem, cut=gbb.cuts.greedy(graph), lam=(sigma / S) ** 2, radius="symmetric", name=name
    )


def fitted(problem: gbb.Problem, history: Rounds) -> FloatArray:
    """The shared matrix that fits all rounds of a history."""
    record = gbb.Record.empty(problem.K)
    for arms, rewards in zip(history.allocations, history.rewards, strict=True):
        record = record.merge(gbb.Record.of(problem.graph, arms, rewards, problem.K))
    return gbb.Ridge(problem, record, 1e-3).M_hat
