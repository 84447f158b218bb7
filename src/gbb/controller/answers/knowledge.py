"""What the record says: estimates with widths, predictions with intervals, recommendations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.controller._rewards import limit_text, limits_of
from gbb.controller.answers.answers import Estimate
from gbb.controller.state.allowed import Allowed, pairs_of
from gbb.controller.state.state import State
from gbb.learning import radius
from gbb.learning.estimator import Record, Ridge
from gbb.learning.typed import tables
from gbb.optimum import Optimum, solve
from gbb.problem import Problem

LAM, DELTA = 1.0, 1e-3
"""Regulariser and failure probability where the policy has none."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The ridge estimate from everything told, with a confidence set that partial rewards leave valid.

    All statements hold together with probability ``1 - delta``: the radius is that of the
    self-normalised bound in d^2 dimensions (:func:`gbb.learning.radius.complete`).
    """

    problem: Problem
    record: Record
    lam: float = LAM
    delta: float = DELTA
    far: int = 0

    @classmethod
    def of(cls, state: State) -> Knowledge:
        """With the policy's ``lam`` and ``delta`` if it has them."""
        return cls(state.setup.problem, tables(state.record), *settings_of(state))

    @property
    def caveat(self) -> str | None:
        """Why nothing here can be relied on, if so: rewards that the declared bounds rule out."""
        return caveat_of(self.problem, self.far)

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
        return checks.frozen(table)

    @cached_property
    def widths(self) -> FloatArray:
        """Half-widths of the intervals around :attr:`table`."""
        K = self.problem.K
        widths = self.radius * self.ridge.width(self.problem.edge_arms)
        return checks.frozen(widths.reshape(K, K))

    @property
    def optimistic(self) -> FloatArray:
        """What the two directions of a link may pay at most, by their arms (K x K)."""
        most = self.table + self.widths
        return most + most.T

    def estimates(self) -> tuple[Estimate, ...]:
        """All of it, for the one edge type that there is."""
        d = self.problem.d
        widths = self.radius * self.ridge.width(np.eye(d * d))
        found = Estimate(
            edge_type=0,
            M_hat=self.ridge.M_hat,
            M_width=checks.frozen(widths.reshape(d, d).T),
            table=self.table,
            table_width=self.widths,
            N=checks.frozen(self.record.N.astype(np.float64)),
            Y=checks.frozen(self.record.Y.copy()),
            caveat=self.caveat,
        )
        return (found,)

    def predict(self, allocation: IntArray) -> tuple[float, float, float]:
        """The global reward of ``allocation`` and the interval around it.

        Both within ``+-S ||sum over E of z||``, as ``||theta*|| <= S``; that is at most m L S.
        """
        counts = Record.of(self.problem.graph, allocation, np.zeros(self.problem.m), self.problem.K)
        total = counts.N.ravel() @ self.problem.edge_arms
        width = self.radius * float(self.ridge.width(total[None, :])[0])
        most = self.problem.S * float(np.linalg.norm(total))
        value = float(total @ self.ridge.theta_hat)
        reward, low, high = np.clip([value, value - width, value + width], -most, most).tolist()
        return reward, low, high

    def best(self, allowed: Allowed | None, seconds: float) -> Optimum:
        """The best allocation for the estimate, among those allowed."""
        return solve(self.problem, self.ridge.M_hat, allowed=allowed, seconds=seconds)

    def upper_bound(self, best: Optimum, allowed: Allowed | None) -> float:
        """No allowed allocation pays more than this in expectation.

        The smallest of three bounds: every link at its optimistic best, in which no edge pays more
        than ``||z|| S``; the optimum of the estimate with every link as uncertain as the most
        uncertain one; and m L S.
        """
        problem = self.problem
        norms = np.linalg.norm(problem.arms, axis=1)
        most = np.minimum(self.table + self.widths, problem.S * np.outer(norms, norms))
        links = pairs_of(problem.graph, most + most.T, allowed).edge_bound
        wide = float((self.widths + self.widths.T).max())
        apart = best.upper_bound + problem.m / 2 * wide
        return min(links, apart, problem.m * problem.L * problem.S)


def settings_of(state: State) -> tuple[float, float, int]:
    """The policy's ``lam`` and ``delta`` if it has them, and how many rounds were far out."""
    policy = state.setup.policy
    return getattr(policy, "lam", LAM), getattr(policy, "delta", DELTA), state.far


def caveat_of(problem: Problem, far: int) -> str | None:
    """Why nothing can be relied on after ``far`` rounds with rewards far out; None after none."""
    if not far:
        return None
    rounds, limits = "1 round" if far == 1 else f"{far} rounds", limits_of(problem)
    same = float(np.ptp(limits)) == 0.0
    most = (
        f"+-{float(limits[0]):g} ({limit_text(problem)})" if same else f"+-({limit_text(problem)})"
    )
    return (
        f"{rounds} told rewards beyond {most}; intervals and "
        "bounds take S, L and sigma at their word and may be wrong. The history has them as "
        "warnings; retract what was told by mistake."
    )
