"""What the record says: estimates with widths, predictions with intervals, recommendations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb import _checks, radius
from gbb._checks import FloatArray, IntArray
from gbb._kernels.allocations import ascend_within
from gbb.controller._state import Allowed, State
from gbb.cuts import greedy
from gbb.estimator import Record, Ridge
from gbb.optimum import Optimum, solve, value_of
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

    def best(self, allowed: Allowed | None) -> Optimum:
        """The best allocation for the estimate, among those allowed."""
        if allowed is None:
            return solve(self.problem, self.ridge.M_hat)
        return best_within(self.problem, self.table + self.table.T, allowed)

    def upper_bound(self, best: Optimum, allowed: Allowed | None) -> float:
        """No allowed allocation pays more than this in expectation.

        The smaller of two bounds: every link at its optimistic best, and the optimum of the estimate
        with every link as uncertain as the most uncertain one.
        """
        wide = self.widths + self.widths.T
        links = most_by_link(self.problem, self.optimistic, allowed)
        return min(links, best.upper_bound + self.problem.m / 2 * float(wide.max()))


def best_within(problem: Problem, W: FloatArray, allowed: Allowed) -> Optimum:
    """Coordinate ascent among allowed arms, with the bound that takes every link at its best."""
    graph, K = problem.graph, problem.K
    cut = greedy(graph)
    own = np.diag(W)
    over_cut = cut.m12 * W + (cut.m1 * own[:, None] + cut.m2 * own[None, :]) / 2
    order = np.argsort(-over_cut.ravel(), kind="stable")[: 2 * K]
    starts = [cut.allocation(divmod(int(code), K)) for code in order]
    ends = [ascend_within(graph.indptr, graph.indices, W, start, allowed) for start in starts]
    values = [value_of(problem, W, end) for end in ends]
    best = int(np.argmax(values))
    bound = max(most_by_link(problem, W, allowed), values[best])
    proven = values[best] >= bound - 1e-12 * abs(bound)
    arms: IntArray = _checks.frozen(ends[best])
    return Optimum(arms, values[best], bound, proven, "allowed_arms")


def most_by_link(problem: Problem, W: FloatArray, allowed: Allowed | None) -> float:
    """The sum over links of the most that each could pay for the pair table W."""
    if allowed is None:
        return problem.m / 2 * float(W.max())
    kinds, which = np.unique(allowed, axis=0, return_inverse=True)
    most = np.array([[W[np.ix_(a, b)].max() for b in kinds] for a in kinds])
    which = which.ravel()
    return float(most[which[problem.graph.sources], which[problem.graph.indices]].sum() / 2)
