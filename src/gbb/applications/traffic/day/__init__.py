"""Traffic lights through the day: a plan of offsets for each time of day, learnt live in SUMO.

Traffic goes inbound in the morning, outbound in the evening and both ways at noon. One learner is told
the time of day (:class:`gbb.contexts.Regimes`), another is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import gbb
from gbb._support import checks
from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore
from gbb.applications._outcome import Effort, Outcome, choose_effort
from gbb.applications._require import require
from gbb.applications._system import play_together
from gbb.applications.traffic.day.fits import compare_models, diagnose, find_single
from gbb.applications.traffic.day.hours import HOURS, REGIMES
from gbb.applications.traffic.day.learners import best_plans, make_learner
from gbb.applications.traffic.day.model import alternate, make_model
from gbb.applications.traffic.day.played import Hours, Plans, Told
from gbb.applications.traffic.day.report import make_outcome
from gbb.applications.traffic.day.simulator import DayLoss, DaySimulator, DaySystem
from gbb.applications.traffic.learner import FEATURES
from gbb.applications.traffic.rounds import Rounds
from gbb.applications.traffic.sumo import Measured
from gbb.applications.traffic.system import OFFSETS
from gbb.applications.traffic.threads import run_all

SINGLE = ("fitted", "double alternate", *(f"{regime} all day" for regime in REGIMES), "blind")
"""Plans that stay all day, by name."""


@dataclass(frozen=True)
class DayEffort(Effort):
    """Rounds are hours that learners play, ``survey`` days have random offsets.

    Attributes
    ----------
    minutes
        Simulated minutes that are measured of such an hour.
    length
        Simulated minutes of an hour of the day on which plans are judged.
    """

    rounds: int = 6 * len(HOURS)
    survey: int = 4
    minutes: int = 10
    length: int = 60


EFFORTS = DayEffort(), DayEffort(rounds=3 * len(HOURS), survey=2, minutes=5, length=6)
"""In full, and quick."""


def steps(*, arms: str = "fourier", rounds: int | None = None, quick: bool = False) -> int:
    """How many hours :func:`run` simulates; checks that it can run."""
    require("traffic", "SUMO", "sumo")
    checks.choice("arms", arms, list(FEATURES))
    todo = choose_effort(*EFFORTS, rounds, quick)
    return todo.survey * len(HOURS) + 2 * todo.rounds + (len(SINGLE) + 2) * len(HOURS)


def run(
    *,
    seed: int = 0,
    quick: bool = False,
    rounds: int | None = None,
    arms: str = "fourier",
    advance: Advance = ignore,
) -> Outcome:
    """Learn a plan for each time of day, and judge it over a whole day that nobody has seen.

    Parameters
    ----------
    seed
        Where the traffic of every hour and all choices come from.
    quick
        Fewer and shorter hours.
    rounds
        Hours that each learner plays, day after day.
    arms
        ``one-hot`` or ``fourier``.
    advance
        Told how many simulated hours have ended.
    """
    checks.integer("seed", seed, low=0)
    checks.choice("arms", arms, list(FEATURES))
    todo = choose_effort(*EFFORTS, rounds, quick)
    with DaySimulator(todo.minutes, todo.length) as simulator:
        return _Demo(simulator, todo, seed, advance).run(arms)


class _Demo:
    """One run of the demo; everything random comes from children of the seed."""

    def __init__(
        self, simulator: DaySimulator, todo: DayEffort, seed: int, advance: Advance
    ) -> None:
        self.simulator, self.todo, self.advance = simulator, todo, advance
        self.model = make_model(simulator.grid)
        draws = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(5)]
        top, hours = 2**31 - 1, todo.survey * len(HOURS)
        self.survey_arms = draws[0].integers(0, OFFSETS.size, (hours, self.model.graph.n))
        self.survey_seeds = draws[1].integers(0, top, hours)
        self.live_seeds = draws[2].integers(0, top, todo.rounds)
        self.day_seed = int(draws[3].integers(0, top))
        self.choices = draws[4]

    def run(self, arms: str) -> Outcome:
        """Survey with random offsets, learn from nothing, then judge all plans on the same day."""
        survey = self.survey()
        sigma = max(fit.sigma_hat for fit in diagnose(self.model, survey))
        told = self.learn(
            {
                name: self.model.problem(arms, sigma, regimes=name == "regimes")
                for name in ("regimes", "blind")
            }
        )
        seen = survey
        for each in told.values():
            seen = seen.join(each.hours)
        single = find_single(self.model, seen)
        plans = self.list_plans(told, single.allocation)
        losses = self.judge(plans)
        return make_outcome(
            self.simulator.grid, told, plans, losses, single=SINGLE, sigma=sigma,
            proven=single.proven, fits=compare_models(self.simulator.grid, survey),
        )  # fmt: skip

    def survey(self) -> Hours:
        """Days with random offsets."""
        places = np.arange(len(self.survey_seeds)) % len(HOURS)

        def simulate(t: int) -> Measured:
            arms, seed = self.survey_arms[t], int(self.survey_seeds[t])
            return self.simulator.run_hour(int(places[t]), arms, seed)

        measured = list(self._run_all(simulate, range(len(places))))
        return Hours(places, Rounds.of(self.survey_arms, measured))

    def learn(self, problems: dict[str, gbb.Problem]) -> dict[str, Told]:
        """Learn side by side, in the same traffic: what happened, and the plans that came of it."""
        learners = [make_learner(problem, name) for name, problem in problems.items()]
        systems = [DaySystem(self.simulator, x.problem, self.live_seeds) for x in learners]
        streams = self.choices.spawn(len(learners))
        steps = list(
            play_together(systems, learners, self.todo.rounds, streams, run_all=self._run_all)
        )
        places = np.arange(self.todo.rounds) % len(HOURS)
        found = {}
        for policy, played in zip(learners, zip(*steps, strict=True), strict=True):
            allocations = [step.choice.allocation for step, _ in played]
            rounds = Rounds.of(allocations, [measured for _, measured in played])
            plans = best_plans(policy, played[-1][0].state.record)
            found[policy.name] = Told(Hours(places, rounds), plans)
        return found

    def list_plans(self, told: dict[str, Told], fitted: IntArray) -> dict[str, Plans]:
        """Everything that is judged: what was learnt, plans that stay all day, and no offsets."""
        learnt = told["regimes"].plans
        stay = {f"{regime} all day": plan for regime, plan in learnt.items()}
        stay |= {
            "fitted": fitted,
            "double alternate": alternate(self.simulator.grid),
            "zero": np.zeros_like(fitted),
        }
        held = {name: dict.fromkeys(REGIMES, plan) for name, plan in stay.items()}
        return {"regimes": learnt, "blind": told["blind"].plans, **held}

    def judge(self, plans: dict[str, Plans]) -> dict[str, DayLoss]:
        """A whole day of the same traffic for each."""

        def simulate(each: Plans) -> DayLoss:
            return self.simulator.run_day([each[hour.regime] for hour in HOURS], self.day_seed)

        found = run_all(simulate, list(plans.values()), self.advance, len(HOURS))
        return dict(zip(plans, found, strict=True))

    def _run_all(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        return run_all(work, items, self.advance)
