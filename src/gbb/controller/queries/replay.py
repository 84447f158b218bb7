"""What another policy would have earned on logged rounds: an estimate by the fitted model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, seeds
from gbb._support.checks import FloatArray, IntArray
from gbb._support.seeds import Seed
from gbb.controller.queries.history import LoggedRounds
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.state import State
from gbb.environment import TableSystem
from gbb.learning import empty, observe
from gbb.policies import AnyPolicy
from gbb.problem import Problem
from gbb.simulation import play

ERRORS = 2.0
"""How many standard errors of the runs' mean the interval is moved out by."""

ASSUMPTIONS = (
    "the pairwise model holds, with the declared S and sigma (see diagnose)",
    "what was paid depends on the arms alone, so that the log's rounds may be exchanged",
    "whether a reward is missing does not depend on its value, given the arms",
    "the policy starts with nothing learnt and faces Gaussian noise of size sigma",
)


IN_CONTEXTS = tuple(each.replace("the arms", "the arms and the context") for each in ASSUMPTIONS)


@dataclass(frozen=True)
class Replay:
    """What a policy would have earned, as the model that is fitted to the log says.

    Attributes
    ----------
    policy
        Its name.
    rounds, runs
        How many rounds were replayed, and how many times.
    reward
        The estimate: its expected global reward a round, on average over the rounds.
    low, high
        What it earns, a round, where the model is as bad and as good for what it plays on average as
        the confidence set of the fit allows, and no less than what that set leaves open of what it
        plays; two standard errors further out, of the runs and of the logged rewards that are used.
    logged
        What the log earned a round: what it says, and where it is silent what the model says. None
        where no round says what all agents played.
    matched
        The share of rounds in which the policy played what the log did; what was logged is used there.
    assumptions
        What all of this relies on.
    """

    policy: str
    rounds: int
    runs: int
    reward: float
    low: float
    high: float
    logged: float | None
    matched: float
    assumptions: tuple[str, ...] = ASSUMPTIONS


class Fitted(TableSystem):
    """A system that pays as tables say, and as the log says where the same was played in it.

    Parameters
    ----------
    problem
        What is played.
    tables
        What an edge pays by type and arms (types x K x K).
    told
        The log's allocations, -1 where nobody knows an arm, and rewards, NaN where they are missing; in
        the contexts that its rounds had.
    sigma
        The scale of the noise: declared, or estimated.
    """

    def __init__(
        self, problem: Problem, tables: FloatArray, told: LoggedRounds, sigma: float
    ) -> None:
        super().__init__(problem, "gaussian", sigma)
        self._tables, self._told = tables, told

    def problem_at(self, t: int) -> Problem:
        """The problem of round ``t``, in the context that it had."""
        return self._told.problem_at(self.problem, t - 1)

    def tables_at(self, t: int) -> FloatArray:  # noqa: ARG002
        """The same tables in every round."""
        return self._tables

    def logged(self, t: int, allocation: ArrayLike) -> FloatArray | None:
        """The rewards of round ``t`` of the log if ``allocation`` was played in it."""
        same = np.array_equal(self._told.played[t - 1], np.asarray(allocation))
        return self._told.rewards[t - 1] if same else None

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """The numbers of round ``t``: logged, or drawn."""
        drawn, known = super().draw(t, allocation, rng), self.logged(t, allocation)
        return drawn if known is None else np.where(np.isnan(known), drawn, known)

    def earned(self, t: int, allocation: IntArray) -> float:
        """The global reward of round ``t``: logged, or expected."""
        known = self.logged(t, allocation)
        if known is None:
            return self.expected(t, allocation)
        each = self.problem_at(t).report.sum(self._edge_rewards(t, allocation))
        return float(np.where(np.isnan(known), each, known).sum())


def fit(state: State, told: LoggedRounds) -> Knowledge:
    """What the logged rounds say by themselves, of the problem that is played now."""
    problem = state.setup.problem
    record = empty(problem)
    for t, (arms, values) in enumerate(zip(told.played, told.rewards, strict=True)):
        record = record.merge(observe(told.problem_at(problem, t), arms, values))
    return Knowledge(replace(state, record=record, out_of_bounds_rounds=0))


def replay(
    known: Knowledge,
    policy: AnyPolicy,
    told: LoggedRounds,
    *,
    runs: int,
    seed: Seed,
) -> Replay:
    """Play ``policy`` for as many rounds as were logged; ``known`` is fitted to them."""
    runs = checks.integer("runs", runs, low=1)
    problem, ridge, rounds = policy.problem, known.ridge, len(told.played)
    reach, sigma = known.problem.S * known.norms, known.problem.sigma
    each = seeds.spawn(seed, runs)

    def run(centre: FloatArray) -> tuple[FloatArray, FloatArray, int, int]:
        """What each run earns a round; what all play in sum (whitened); how often as logged, and how

        many logged numbers that has.
        """
        system = Fitted(problem, np.clip(ridge.means_at(centre), -reach, reach), told, sigma)
        earned, direction, same, numbers = np.zeros(runs), np.zeros_like(ridge.theta), 0, 0
        for place, child in enumerate(each):
            for round in play(system, policy, rounds, child):
                arms = round.choice.allocation
                earned[place] += system.earned(round.t, arms) / rounds
                direction += ridge.sums(arms, system.problem_at(round.t))
                if (known_rewards := system.logged(round.t, arms)) is not None:
                    same += 1
                    numbers += int(np.count_nonzero(~np.isnan(known_rewards)))
        return earned, direction, same, numbers

    middle, direction, same, numbers = run(ridge.theta)
    # The ends of the confidence set along what is played; the policy may then play something else.
    length, total = float(np.linalg.norm(direction)), runs * rounds
    step = known.radius * direction / max(length, np.finfo(float).tiny)
    worst, best = run(ridge.theta - step)[0], run(ridge.theta + step)[0]
    mean, spread = float(middle.mean()), known.radius * length / total
    noise = ERRORS * sigma * math.sqrt(numbers / runs) / rounds
    return Replay(
        policy=policy.name,
        rounds=rounds,
        runs=runs,
        reward=mean,
        low=min(mean - spread, float(worst.mean())) - ERRORS * _error(worst) - noise,
        high=max(mean + spread, float(best.mean())) + ERRORS * _error(best) + noise,
        logged=_logged(Fitted(problem, ridge.means, told, sigma), told.played),
        matched=same / total,
        assumptions=ASSUMPTIONS if problem.contexts is None else IN_CONTEXTS,
    )


def _error(earned: FloatArray) -> float:
    """The standard error of the mean over runs."""
    return float(earned.std(ddof=1) / np.sqrt(earned.size)) if earned.size > 1 else 0.0


def _logged(system: Fitted, played: IntArray) -> float | None:
    """What the log earned a round."""
    whole = np.flatnonzero((played >= 0).all(axis=1)).tolist()
    earned = [system.earned(t + 1, played[t]) for t in whole]
    return float(np.mean(earned)) if earned else None
