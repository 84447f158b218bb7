"""Learners: from the rounds seen to a posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.radius import delta_after
from gbb.learning.record import AnyRecord, empty
from gbb.learning.ridge import Ridge
from gbb.learning.scales import UNSEEN, estimate_scales, needs_estimate
from gbb.policies._policy import Learned
from gbb.problem import Problem, check_lam

MIN_NOISE = 1e-6
"""The smallest noise that a posterior is drawn for, as a share of the rewards the prior expects."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """``N(theta_hat, v^2 A^-1)``, and what a confidence set around theta_hat needs.

    Attributes
    ----------
    problem
        The round's problem, with sigma and S as declared, or estimated upper bounds on them.
    ridge
        theta_hat and A.
    rounds
        The number of rounds that the record counts as.
    v
        The scale of draws.
    delta
        The probability that the confidence set of this round may fail.
    """

    problem: Problem
    ridge: Ridge
    rounds: float
    v: float
    delta: float

    @property
    def mean(self) -> FloatArray:
        """theta_hat, whitened."""
        return self.ridge.theta

    def sample(self, rng: np.random.Generator) -> FloatArray:
        """Return a draw of theta, whitened; its mean if v = 0."""
        return self.ridge.draw(self.v, rng) if self.v > 0.0 else self.mean


class Memory:
    """Remember every round."""

    def init(self, problem: Problem) -> Any:
        """Return the memory of no rounds."""
        return Learned(0, empty(problem))

    def add(self, state: Any, record: AnyRecord, rounds: int) -> Any:
        """Return the memory after some more rounds."""
        merged = state.record.merge(record)
        return state._replace(rounds=state.rounds + rounds, record=merged)

    def recall(self, problem: Problem, state: Any, delta: float) -> tuple[float, AnyRecord, float]:
        """Return how many rounds the memory counts as, their record, and the delta to use.

        Each time something is forgotten the noise left is another sum, for which the bound starts anew.
        """
        return state.rounds, state.record, delta


CUMULATIVE = Memory()


@dataclass(frozen=True)
class Discounted(Memory):
    """Weigh a round of age s by ``gamma^s``."""

    gamma: float = 0.99

    def __post_init__(self) -> None:
        checks.real("gamma", self.gamma, low=0.0, low_open=True, high=1.0)

    def init(self, problem: Problem) -> Any:
        return Learned(0, empty(problem).discount(1.0))  # counts that fade are no whole numbers

    def add(self, state: Any, record: AnyRecord, rounds: int) -> Any:
        faded = state.record.discount(self.gamma).merge(record)
        return state._replace(rounds=state.rounds + rounds, record=faded)

    def recall(self, problem: Problem, state: Any, delta: float) -> tuple[float, AnyRecord, float]:
        rounds = state.record.weight(problem) / problem.gram_growth_per_round
        remaining = delta_after(state.rounds, delta) if self.gamma < 1.0 else delta
        return rounds, state.record, remaining


class Window(NamedTuple):
    """The rounds seen, and the records of the last of them, the oldest first."""

    rounds: int
    records: tuple[AnyRecord, ...]

    @property
    def record(self) -> AnyRecord | None:
        """What is remembered; None before the first round."""
        return reduce(lambda a, b: a.merge(b), self.records) if self.records else None


@dataclass(frozen=True)
class SlidingWindow(Memory):
    """Remember the last ``window`` rounds."""

    window: int = 100

    def __post_init__(self) -> None:
        checks.integer("window", self.window, low=1)

    def init(self, problem: Problem) -> Any:
        return Window(0, ())

    def add(self, state: Any, record: AnyRecord, rounds: int) -> Any:
        return Window(state.rounds + rounds, (*state.records, record)[-self.window :])

    def recall(self, problem: Problem, state: Any, delta: float) -> tuple[float, AnyRecord, float]:
        length, record = len(state.records), state.record or empty(problem)
        # Half of delta even before the first round is dropped, as some will be.
        return length, record, delta_after(state.rounds - length, delta)


@dataclass(frozen=True, eq=False)
class RidgeLearner:
    """Ridge regression of the rewards on the edge-arms: ``theta_hat = A^-1 b``.

    Parameters
    ----------
    lam
        The regulariser lambda, > 0; None for ``(v d / S)^2``, which makes the prior as wide as the
        entries S / d of a matrix of norm S, within ``(1e-6 L)^2`` and 1.
    v
        The scale of posterior draws; None for sigma, and at least ``1e-6 L S / d``.
    prior_scale
        How many times as wide the prior is if ``lam`` is None.
    symmetric
        Estimate the symmetric part of M* alone where that decides, from links seen in both directions.
    memory
        Which rounds count how much.
    reweight
        Weighs the record before it is learnt.
    sigma
        The noise of problems that do not declare it, if known.
    delta
        The probability that confidence sets fail.
    """

    _: KW_ONLY
    lam: float | None = 1.0
    v: float | None = 0.0
    prior_scale: float = 1.0
    symmetric: bool = True
    memory: Memory = CUMULATIVE
    reweight: Callable[[AnyRecord], AnyRecord] | None = None
    sigma: float | None = None
    delta: float = 1e-3

    def check(self, problem: Problem) -> None:
        """Raise InputError if a setting is out of range."""
        if self.lam is not None:
            check_lam(self.lam)
        if self.v is not None:
            checks.real("v", self.v, low=0.0)
        checks.real("delta", self.delta, low=0.0, low_open=True, high=1.0)

    def init(self, problem: Problem) -> Any:
        """Return the state before the first round."""
        return self.memory.init(problem)

    def update(self, problem: Problem, state: Any, record: AnyRecord, rounds: int) -> Any:
        """Return the state after ``rounds`` more rounds with this record."""
        after = self.memory.add(state, record, rounds)
        if isinstance(state, Learned):
            # A caller that keeps the states of many rounds need not keep all of their estimates.
            state.record.forget_estimates()
        # Rarely, as an estimate takes long and changes little: at rounds 1 to 4, then 1.5 times as late.
        if problem.unknown and needs_estimate(state.rounds, after.rounds):
            after = after._replace(scales=self.estimate_scales(problem, after.record))
        return after

    def estimate_scales(self, problem: Problem, record: AnyRecord) -> Any:
        """Return what a record says of sigma and S, with half of delta for the bound on sigma."""
        return estimate_scales(problem.with_scales(sigma=self.sigma), record, self.delta / 2.0)

    def posterior(self, problem: Problem, state: Any) -> Posterior:
        """Return the posterior: here alone block, scales and share of delta are decided."""
        rounds, record, delta = self.memory.recall(problem, state, self.delta)
        bounded, v, lam = self.scale(problem, getattr(state, "scales", None))
        if "sigma" in problem.unknown and self.sigma is None:
            delta /= 2.0  # the other half is for the bound on sigma
        symmetric = self.uses_symmetric_part(problem)
        if symmetric and not problem.symmetric_only:
            part = record.two_way_part
            if part.two_way and 2.0 * part.weight(problem) >= record.weight(problem):
                record = part
            else:
                # Less than half is left: everything, in twice the dimensions, says more. It is another
                # confidence set than that of symmetric parts, and both may be needed in one run.
                symmetric, delta = False, delta_after(1, delta)
        if self.reweight is not None:
            record = self.reweight(record)
        ridge = Ridge.of(problem, record, lam, symmetric=symmetric)
        return Posterior(bounded, ridge, rounds, v, delta)

    def uses_symmetric_part(self, problem: Problem) -> bool:
        """Return whether only the symmetric part of M* is learnt, from rounds seen as a whole."""
        return problem.symmetric_only or (self.symmetric and problem.symmetric)

    def scale(self, problem: Problem, scales: Any) -> tuple[Problem, float, float]:
        """Return the problem with bounds on sigma and S, v, and lam; estimated where not declared."""
        declared = problem.with_scales(sigma=self.sigma)
        scales = scales or UNSEEN
        bounded = declared.with_scales(scales.sigma_max, scales.S_max)
        v, lam = self.prior(declared.with_scales(scales.sigma, scales.S))
        return bounded, v, lam

    def prior(self, problem: Problem) -> tuple[float, float]:
        """Return v and lam, or what follows from the problem's sigma and S if they are None."""
        v, smallest = self.v, MIN_NOISE * problem.L
        if v is None:  # without noise, too, what is unknown is drawn as widely as the prior says
            v = max(problem.sigma, smallest * problem.S / problem.d)
        if self.lam is not None:
            return v, self.lam
        # The ridge is the posterior mean of a Gaussian prior when lam = noise variance / prior variance.
        return v, (min(1.0, max(v * problem.d / problem.S, smallest)) / self.prior_scale) ** 2
