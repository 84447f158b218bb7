"""Explore-then-commit with the G-optimal design (GBB-BAI in the paper's Figure 2)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.learning.design import Design, g_optimal
from gbb.learning.low_rank import LowPopArt, LowRank
from gbb.learning.record import AnyRecord, Record, empty
from gbb.learning.ridge import Ridge
from gbb.policies._policy import DERIVED, Choice, RecordPolicy
from gbb.policies._search import Weights, pick_near
from gbb.policies.baselines import draw_arms
from gbb.problem import check_lam

COMMITS: dict[str, Weights] = {"couple": (1.0, 1.0, 0.0, 0.0), "edge-arm": (1.0, 0.0, 0.0, 0.0)}
"""What the commit step maximises: the paper's ``z_xx' + z_x'x``, or ``z_xx'`` as released."""

LOW_RANK: dict[str, type[LowRank | LowPopArt]] = {"low_rank": LowRank, "low_pop_art": LowPopArt}
"""The estimators that know the rank of M*."""


class Committed(NamedTuple):
    """The number of exploring rounds, their record, and the couple once it is settled."""

    explored: float
    record: AnyRecord
    couple: tuple[int, int] | None = None


class ExploreThenCommit(RecordPolicy[Committed]):
    """Explore by a design for a third of the horizon, then play the best estimated couple.

    While exploring, every agent draws its arm independently from the G-optimal design over arms,
    which makes the drawn edge-arms G-optimal too (Rizk et al. 2021). Then V1 and V2 play
    ``argmax <z_xx' + z_x'x, theta_hat>`` for good. Nothing is learnt after the commitment. The paper
    has no theorem for it; with the true best couple it earns alpha_1 of the optimum from then on.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts V1 and V2; the best cut found by default.
    horizon
        The number of rounds to come; needed unless ``exploration`` is given.
    exploration
        The number of exploring rounds; ``ceil(horizon / 3)`` by default.
    lam
        The ridge regulariser lambda, > 0.
    commit
        ``couple`` (the paper's ``z_xx' + z_x'x``) or ``edge-arm`` (``z_xx'`` alone, as released).
    estimator
        ``ridge``; or for an M* of low rank, from rewards per edge, ``low_rank``
        (:class:`gbb.learning.LowRank`) or ``low_pop_art`` (:class:`gbb.learning.LowPopArt`), both with a
        bound on their error; the first errs less after few rounds. With these two the couple is the best
        over the whole cut, ``argmax <m12 z_xx' + m21 z_x'x + m1 z_xx + m2 z_x'x', theta_hat>``.
    rank
        The rank of M*, from 1 to d, for these two: such a matrix has about 2 d r parameters instead of
        d^2, so far fewer exploring rounds suffice. A rank below that of M* leaves an error for ever.

    References
    ----------
    Jun, Willett, Wright and Nowak (2019), "Bilinear bandits with low-rank structure"; Jang, Zhang and
    Jun (2024) for LowPopArt.
    """

    cut: Cut = DERIVED
    horizon: int | None = None
    exploration: int = DERIVED
    lam: float = 1.0
    commit: str = "couple"
    estimator: str = "ridge"
    rank: int = 1

    requires = "has_one_matrix"
    estimates_scales = True
    state_types = (*RecordPolicy.state_types, Committed)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exploration is DERIVED:
            cure = "Give the horizon, or the number of exploring rounds as `exploration`."
            horizon = checks.integer("horizon", self.horizon, low=1, cure=cure)
            self._set("exploration", math.ceil(horizon / 3))
        checks.integer("exploration", self.exploration, low=1)
        check_lam(self.lam)
        checks.choice("commit", self.commit, COMMITS)
        checks.choice("estimator", self.estimator, ("ridge", *LOW_RANK))
        checks.integer("rank", self.rank, low=1, high=self.problem.d)
        # The sum of both directions has up to twice the rank; LowPopArt takes sigma and S.
        fits = self.problem.is_paper_problem and not self.problem.unknown
        if self.estimator in LOW_RANK and not fits:
            rule = "be 'ridge' unless rewards are per edge, and sigma and S are declared"
            raise checks.input_error("estimator", rule, repr(self.estimator))

    @cached_property
    def design(self) -> Design:
        """The G-optimal design over the arms."""
        return g_optimal(self.problem.arms)

    def init(self) -> Committed:
        return Committed(0, empty(self.problem))

    def select(self, state: Committed, rng: np.random.Generator) -> Choice:
        if state.couple is not None:
            return Choice(self.cut.allocation(state.couple), state.couple)
        if state.explored < self.exploration:
            return Choice(draw_arms(self.design.weights, self.problem.n, rng))
        values = self.couple_values(state.record).ravel()
        # Mirrored couples (a, b) and (b, a) always tie, so this draw decides real numbers of Figure 2.
        best = pick_near(values, rng)
        couple = divmod(best, self.problem.K)
        return Choice(self.cut.allocation(couple), couple, float(values[best]))

    def couple_values(self, record: AnyRecord) -> FloatArray:
        """Return what the commit step maximises, for every couple (K x K)."""
        if self.estimator == "ridge":
            means = Ridge(self.problem, record, self.lam).means[0]
            return self.cut.couple_values(means, COMMITS[self.commit])
        assert isinstance(record, Record)
        X = self.problem.arms
        M_hat = LOW_RANK[self.estimator](self.problem, record, self.rank, self.lam).M_hat
        return self.cut.couple_values(X @ M_hat @ X.T)

    def absorb(
        self, state: Committed, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> Committed:
        # The commit step's own choice is what commits: a log or a guard may play something else.
        if choice is not None and choice.couple is not None:
            return state._replace(couple=choice.couple)
        if state.couple is not None:
            return state
        return Committed(state.explored + rounds, state.record.merge(record))
