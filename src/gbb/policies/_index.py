"""Indices: what an allocation is worth under a posterior, and which of the best is played."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Protocol

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.radius import RADII_BY_ROUND, Radius, check_radius, confidence_radius
from gbb.policies._learner import Posterior
from gbb.policies._policy import Choice
from gbb.policies._search import TIE, Objective, Search
from gbb.policies.baselines import draw_arms
from gbb.problem import Problem


class Index(Protocol):
    """Chooses an allocation by its value under a posterior."""

    @property
    def proven(self) -> bool:
        """Whether the theorems hold for policies with this index."""

    def check(self, problem: Problem) -> None:
        """Raise InputError if the index does not suit ``problem``."""

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        """Return what to play."""


@dataclass(frozen=True)
class Optimistic:
    """``max over theta in C of <phi, theta> = <phi, theta_hat> + radius ||phi||_{A^-1}``.

    Parameters
    ----------
    radius
        One of :data:`gbb.radius.RADII`, ``default`` for the smallest that is valid for the problem, or a
        function ``radius(problem, rounds, lam, delta)`` of an array of numbers of rounds.
    shrinking
        Charge the radii that follow the record only ``lam S / sqrt(smallest eigenvalue of A)`` for the
        regulariser's bias instead of ``sqrt(lam) S``.
    """

    radius: str | Radius = "default"
    _: KW_ONLY
    shrinking: bool = False

    @property
    def proven(self) -> bool:
        return self.radius != "released" and not callable(self.radius)

    @property
    def follows_record(self) -> bool:
        """Whether the radius follows the record instead of the number of rounds."""
        return not callable(self.radius) and self.radius not in RADII_BY_ROUND

    def check(self, problem: Problem) -> None:
        check_radius(problem, self.radius)

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        return search.maximise(self.objective(posterior), rng)

    def objective(self, posterior: Posterior) -> Objective:
        """Return the optimistic value of sums of edge-arms."""
        problem, ridge = posterior.problem, posterior.ridge
        if self.follows_record:
            bounded = ridge.at(problem)
            radius = confidence_radius(bounded, posterior.delta, shrinking=self.shrinking)
        else:
            rounds = np.array([float(posterior.rounds)])
            radius = float(self.radii(problem, rounds, ridge.lam, posterior.delta)[0])
        return Objective(ridge, posterior.mean, radius)

    def radii(self, problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
        """Return the radius after each number of rounds; 0 if the record decides."""
        if self.follows_record:
            return np.zeros_like(rounds)
        radius = self.radius if callable(self.radius) else RADII_BY_ROUND[self.radius]
        return radius(problem, rounds, lam, delta)


@dataclass(frozen=True)
class PosteriorSample:
    """``<phi, theta>`` for a theta drawn from the posterior; for its mean if v = 0."""

    proven = True

    def check(self, problem: Problem) -> None:
        pass

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        return search.maximise(Objective(posterior.ridge, posterior.sample(rng), 0.0), rng)


@dataclass(frozen=True)
class EpsilonRandom:
    """Another index, or with probability ``epsilon`` an allocation drawn uniformly."""

    index: Index
    epsilon: float

    @property
    def proven(self) -> bool:
        return self.epsilon == 0.0 and self.index.proven

    def check(self, problem: Problem) -> None:
        checks.real("epsilon", self.epsilon, low=0.0, high=1.0)
        if problem.parts is not None and self.epsilon > 0.0:
            rule = "be 0 for a network in shards, where a part plays one arm"
            raise checks.input_error("epsilon", rule, self.epsilon)
        self.index.check(problem)

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        if self.epsilon > 0.0 and rng.random() < self.epsilon:
            # Exploration is drawn first, and only if there is any: the engine draws in the same order.
            return Choice(draw_arms(posterior.problem.allowed, posterior.problem.n, rng))
        return self.index.choose(posterior, search, rng)


@dataclass(frozen=True)
class Guarded:
    """Play a proposal if it is nearly as optimistic as the best; else that.

    With U the optimistic value and a_J the best allocation found for it, the proposal is played if

        ``U(proposal) >= U(a_J) - (1 - beta_t) |U(a_J)|``,  beta_t = beta, or max(0, 1 - c / sqrt(t)).

    U(a_J) is never below that of the best tuple over the cut, on which the theorems rest.
    """

    proposal: Index
    guard: Optimistic
    beta: float | None = None
    c: float | None = None

    @property
    def proven(self) -> bool:
        return self.guard.proven

    def check(self, problem: Problem) -> None:
        if (self.beta is None) == (self.c is None):
            raise checks.conflict("`beta` and `c` are two guards: give one of them.")
        if self.beta is not None:
            checks.real("beta", self.beta, low=0.0, high=1.0)
        if self.c is not None:
            checks.real("c", self.c, low=0.0)
        self.proposal.check(problem)
        self.guard.check(problem)

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        # The proposal is searched first: both searches draw from the same generator.
        proposal = self.proposal.choose(posterior, search, rng)
        objective = self.guard.objective(posterior)
        best = search.maximise(objective, rng)
        # U(a) = <phi, theta_hat> + radius ||phi||, phi the sum of the edge-arms of the allocation.
        mean, width = posterior.ridge.total(proposal.allocation)
        value = mean + objective.radius * width
        if self.beta is not None:
            slack = 1.0 - self.beta
        else:
            slack = min(1.0, (self.c or 0.0) / np.sqrt(posterior.rounds + 1.0))
        rounding = TIE * (abs(mean) + objective.radius * width)
        if value >= best.value - slack * abs(best.value) - rounding:
            return proposal._replace(value=value)
        return best
