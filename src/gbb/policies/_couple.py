"""Optimism over a cut: a couple policy is four weights."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut, check_cut
from gbb.learning.estimator import Record, Ridge
from gbb.learning.radius import check_radius
from gbb.learning.radius import radius as confidence_radius
from gbb.learning.typed import empty
from gbb.policies._base import Choice, Learned, Policy, observe, random_argmax
from gbb.policies._general import Chooser
from gbb.problem import Problem

Weights = tuple[float, float, float, float]


class CouplePolicy(Policy[Learned]):
    """Plays the couple of arms over a cut with the best optimistic value.

    With weights ``(w12, w21, w1, w2)`` the couple (a, b) has the objective vector
    ``v_ab = w12 z_ab + w21 z_ba + w1 z_aa + w2 z_bb`` and the optimistic value

        ``max over theta in C_t of <v_ab, theta> = <v_ab, theta_hat> + radius ||v_ab||_{A^-1}``.

    V1 plays the best couple's first arm and V2 its second. Ties are broken uniformly at random.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts V1 and V2.
    lam
        The ridge regulariser lambda, > 0.
    delta
        The confidence set misses theta* (its symmetric part, with the symmetric radius) with
        probability at most delta.
    radius
        ``paper``, ``symmetric`` (valid and smaller), ``complete`` (the same in all dimensions, valid
        for any problem) or ``released`` (for parity with released code).
    name
        How results call this policy.

    Notes
    -----
    On a problem with edge types or weights, the objective of a couple is the weighted sum over the
    edges between and inside the parts, each with its own type's matrix; agents that may not play their
    part's arm play their first allowed one. The theorems are about one shared matrix.
    """

    plays_any_problem: ClassVar[bool] = True

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut,
        lam: float = 1.0,
        delta: float = 1e-3,
        radius: str = "paper",
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.cut = check_cut(problem.graph, cut)
        self.lam = checks.real("lam", lam, low=0.0, low_open=True)
        self.delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
        self.radius = check_radius(problem, radius)
        w12, w21, _, _ = self.weights
        if self.radius == "symmetric" and w12 != w21:
            rule = "be 'paper' unless z_ab and z_ba weigh the same"
            raise checks.input_error(
                "radius", rule, f"'symmetric' with weights {w12:g} and {w21:g}"
            )

    @property
    @abstractmethod
    def weights(self) -> Weights:
        """``(w12, w21, w1, w2)``."""

    @cached_property
    def objectives(self) -> FloatArray:
        """The vectors ``v_ab``, row ``a * K + b`` (K^2 x d^2)."""
        return couple_objectives(self.problem, self.weights)

    def init(self) -> Learned:
        return Learned(0, empty(self.problem))

    @cached_property
    def chooser(self) -> Chooser:
        """How couples are compared on a problem that is not the paper's."""
        source, target = (self.cut.sides[ends] for ends in self.problem.graph.edges.T)
        totals = dict(zip(((0, 1), (1, 0), (0, 0), (1, 1)), self.cut.weights, strict=True))
        factor = np.zeros((2, 2))
        for (ends, count), weight in zip(totals.items(), self.weights, strict=True):
            factor[ends] = weight / count if count else 0.0
        return Chooser(
            problem=self.problem,
            parts=self.cut.sides.astype(np.int64),
            k=2,
            weights=factor[source, target] * self.problem.edge_weights,
            lam=self.lam,
            delta=self.delta,
            radius=self.radius,
        )

    def select(self, state: Learned, rng: np.random.Generator) -> Choice:
        optimistic = self._optimistic(state)
        return self._choice(optimistic, random_argmax(optimistic, rng))

    def select_within(
        self, state: Learned, rng: np.random.Generator, allowed: NDArray[np.bool_]
    ) -> Choice:
        """The best couple that every agent of V1 and V2 may play; the best one if there is none."""
        first, second = (allowed[side].all(axis=0) for side in (self.cut.V1, self.cut.V2))
        couples = np.flatnonzero(np.outer(first, second))
        optimistic = self._optimistic(state)
        if couples.size == 0:
            return self._choice(optimistic, random_argmax(optimistic, rng))
        return self._choice(optimistic, int(couples[random_argmax(optimistic[couples], rng)]))

    def update(self, state: Learned, choice: Choice, rewards: FloatArray) -> Learned:
        return observe(self.problem, state, choice, rewards)

    def _optimistic(self, state: Learned) -> FloatArray:
        """The optimistic value of every couple, entry ``a * K + b``."""
        if not isinstance(state.record, Record) or not self.problem.is_paper_problem:
            return self.chooser.values(state.record, state.rounds)
        ridge = Ridge(self.problem, state.record, self.lam)
        radius = confidence_radius(
            self.radius,
            self.problem,
            state.record.N,
            state.rounds,
            lam=self.lam,
            delta=self.delta,
        )
        values: FloatArray = self.objectives @ ridge.theta_hat
        return values + radius * ridge.width(self.objectives)

    def _choice(self, optimistic: FloatArray, best: int) -> Choice:
        couple = divmod(best, self.problem.K)
        plain = self.problem.is_paper_problem
        arms = self.cut.allocation(couple) if plain else self.chooser.place(couple)
        return Choice(arms, couple, float(optimistic[best]))


def couple_objectives(problem: Problem, weights: Weights) -> FloatArray:
    """``v_ab = w12 z_ab + w21 z_ba + w1 z_aa + w2 z_bb`` for every couple, row ``a * K + b``."""
    K, size = problem.K, problem.d**2
    z = problem.edge_arms.reshape(K, K, size)
    own = z[np.arange(K), np.arange(K)]
    w12, w21, w1, w2 = weights
    v: FloatArray = w12 * z + w21 * z.transpose(1, 0, 2) + w1 * own[:, None] + w2 * own[None, :]
    return v.reshape(K * K, size)
