"""What the record says: estimates with widths, predictions with intervals, recommendations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb import _checks, radius
from gbb._checks import FloatArray, IntArray
from gbb.controller._allowed import Allowed, pairs_of
from gbb.controller._state import State
from gbb.estimator import Record, Ridge
from gbb.optimum import Optimum, solve
from gbb.problem import Problem

LAM, DELTA = 1.0, 1e-3
"""Regulariser and failure probability where the policy has none."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The ridge estimate from everything told, with a confidence set that partial rewards leave valid.

    All statements hold together with probability ``1 - delta``: the radius is that of the
    self-normalised bound in d^2 dimensions (:func:`gbb.radius.complete`).
    """

    problem: Problem
    record: Record
    lam: float = LAM
    delta: float = DELTA

    @classmethod
    def of(cls, state: State) -> Knowledge:
        """With the policy's ``lam`` and ``delta`` if it has them."""
        policy = state.setup.policy
        lam, delta = getattr(policy, "lam", LAM), getattr(policy, "delta", DELTA)
        return cls(state.setup.problem, state.record, lam, delta)

    @cached_property
    def ridge(self) -> Ridge:
        """The estimator."""
        return Ridge(self.problem, self.record, self.lam)

    @cached_property
    def radius(self) -> float:
        """Radius of the confidence set."""
        return radius.complete(self.problem, self.ridge.log_det, self.delta, self.lam)

    @cached_property
    def table(self) -> FloatArray:
        """Estimated reward of an edge by its two arms (K x K)."""
        K = self.problem.K
        table: FloatArray = (self.problem.edge_arms @ self.ridge.theta_hat).reshape(K, K)
        return _checks.frozen(table)

    @cached_property
    def widths(self) -> FloatArray:
        """Half-widths of the intervals around :attr:`table`."""
        K = self.problem.K
        widths = self.radius * self.ridge.width(self.problem.edge_arms)
        return _checks.frozen(widths.reshape(K, K))

    @property
    def optimistic(self) -> FloatArray:
        """What the two directions of a link may pay at most, by their arms (K x K)."""
        most = self.table + self.widths
        return most + most.T

    def predict(self, allocation: IntArray) -> tuple[float, float]:
        """The global reward of ``allocation`` and the half-width of its interval."""
        counts = Record.of(self.problem.graph, allocation, np.zeros(self.problem.m), self.problem.K)
        total = counts.N.ravel() @ self.problem.edge_arms
        width = self.radius * float(self.ridge.width(total[None, :])[0])
        return float(total @ self.ridge.theta_hat), width

    def best(self, allowed: Allowed | None, seconds: float) -> Optimum:
        """The best allocation for the estimate, among those allowed."""
        return solve(self.problem, self.ridge.M_hat, allowed=allowed, seconds=seconds)

    def upper_bound(self, best: Optimum, allowed: Allowed | None) -> float:
        """No allowed allocation pays more than this in expectation.

        The smaller of two bounds: every link at its optimistic best, and the optimum of the estimate
        with every link as uncertain as the most uncertain one.
        """
        wide = self.widths + self.widths.T
        links = pairs_of(self.problem.graph, self.optimistic, allowed).edge_bound
        return min(links, best.upper_bound + self.problem.m / 2 * float(wide.max()))
