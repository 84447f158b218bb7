"""Traffic lights: the offsets of a 4 x 4 grid of signals, learnt live in SUMO.

Agents are signals, arms are six offsets of the cycle, and the reward of edge (i, j) is
``1 - (time lost per vehicle from j to i) / 60 s``. One matrix is shared by all streets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gbb
from gbb._support import checks, seeds
from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore
from gbb.applications._live import Live
from gbb.applications._outcome import Effort, Outcome, choose_effort
from gbb.applications._require import require
from gbb.applications._system import play_together
from gbb.applications.traffic.learner import FEATURES, fit, make_policy
from gbb.applications.traffic.pictures import draw_loss
from gbb.applications.traffic.report import make_outcome
from gbb.applications.traffic.rounds import Rounds, late
from gbb.applications.traffic.streets import Grid
from gbb.applications.traffic.sumo import Measured, Simulator
from gbb.applications.traffic.system import OFFSETS, TrafficSystem
from gbb.applications.traffic.threads import run_all

Watch = Callable[[Figure], None]


@dataclass(frozen=True)
class TrafficEffort(Effort):
    """How many simulated rounds of each kind, and how many minutes each measures."""

    rounds: int = 40
    survey: int = 30
    repeats: int = 5
    minutes: int = 15


EFFORTS = TrafficEffort(), TrafficEffort(rounds=24, survey=16, repeats=3, minutes=5)
"""In full, and quick."""


def steps(*, arms: str = "both", rounds: int | None = None, quick: bool = False) -> int:
    """How many rounds :func:`run` simulates; checks that it can run."""
    require("traffic", "SUMO", "sumo")
    todo = choose_effort(*EFFORTS, rounds, quick)
    return todo.survey + todo.repeats + late(todo.rounds) + len(choose_kinds(arms)) * todo.rounds


def choose_kinds(arms: str) -> tuple[str, ...]:
    """The feature sets that ``arms`` stands for."""
    chosen = checks.choice("arms", arms, [*FEATURES, "both"])
    return tuple(FEATURES) if chosen == "both" else (chosen,)


SIGMA = 0.022
"""Noise of a street's reward from round to round, as surveys measure it (docs/tutorials/traffic.md)."""


@contextmanager
def live(
    *, arms: str = "both", rounds: int | None = None, seed: int = 0, quick: bool = False
) -> Iterator[Live]:
    """The grid under the improved algorithm, which sees offsets smoothly unless told otherwise."""
    steps(arms=arms, rounds=rounds, quick=quick)
    todo = choose_effort(*EFFORTS, rounds, quick)
    with Simulator(Grid(minutes=todo.minutes)) as simulator:
        policy = make_policy(simulator.grid.graph, choose_kinds(arms)[-1], SIGMA)
        traffic = seeds.generator(seed).integers(0, 2**31 - 1, todo.rounds)
        system = TrafficSystem(simulator, policy.problem, traffic)
        settings = {"lam": policy.lam, "radius": "symmetric"}
        yield Live(system, "ImprovedOFUL", settings, todo.rounds)


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
    todo, names = choose_effort(*EFFORTS, rounds, quick), choose_kinds(arms)
    with Simulator(Grid(minutes=todo.minutes)) as simulator:
        return _Demo(simulator, todo, seed, advance).run(names, watch)


class _Demo:
    """One run of the demo; everything random comes from children of the seed."""

    def __init__(
        self, simulator: Simulator, todo: TrafficEffort, seed: int, advance: Advance
    ) -> None:
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
        random = self.survey(self.survey_arms, self.survey_seeds)
        zero = self.survey(zeros, self.zero_seeds)
        history = random.join(zero)
        free = gbb.Problem(self.graph, FEATURES["one-hot"])
        table = fit(free, history)
        best = gbb.optimum.solve(free, table)
        seeds = self.live_seeds[
            -late(self.todo.rounds) :
        ]  # the traffic that learners are judged on
        judged = self.survey(np.tile(best.allocation, (seeds.size, 1)), seeds)
        everything = history.join(judged)
        sigma = gbb.diagnose(free, everything.allocations, everything.rewards).sigma_hat
        policies = {name: make_policy(self.graph, name, sigma) for name in names}
        fixed = {"random": random, "zero": zero, "best_fixed": judged}
        for done, lives in enumerate(self.live(policies), start=1):
            if watch is not None and (done % 4 == 0 or done == self.todo.rounds):
                watch(draw_loss(lives, fixed))
        fits = {
            name: gbb.diagnose(each.problem, random.allocations, random.rewards)
            for name, each in policies.items()
        }
        return make_outcome(
            self.graph, lives, fixed, best=best, table=table, sigma=sigma, fits=fits
        )

    def survey(self, allocations: IntArray, seeds: IntArray) -> Rounds:
        """Simulate fixed rounds, side by side."""

        def simulate(t: int) -> Measured:
            return self.simulator.run(OFFSETS[allocations[t]], int(seeds[t]))

        return Rounds.of(allocations, list(self._run_all(simulate, range(len(seeds)))))

    def live(self, policies: dict[str, gbb.policies.ImprovedOFUL]) -> Iterator[dict[str, Rounds]]:
        """Play every policy side by side, in the same traffic; what each has done so far."""
        learners = list(policies.values())
        systems = [TrafficSystem(self.simulator, x.problem, self.live_seeds) for x in learners]
        streams = self.choices.spawn(len(learners))
        done: list[list[tuple[IntArray, Measured]]] = []
        for together in play_together(
            systems, learners, self.todo.rounds, streams, run_all=self._run_all
        ):
            done.append([(step.choice.allocation, measured) for step, measured in together])
            each = [Rounds.of(*zip(*told, strict=True)) for told in zip(*done, strict=True)]
            yield dict(zip(policies, each, strict=True))

    def _run_all(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """``work`` on every item side by side; each simulates one round."""
        return run_all(work, items, self.advance)
