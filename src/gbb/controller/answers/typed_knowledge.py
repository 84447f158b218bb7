"""What the record says beyond the paper's problem: edge types, weights, rewards that are sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.controller.answers.answers import Estimate
from gbb.controller.answers.knowledge import DELTA, LAM, Knowledge, caveat_of, settings_of
from gbb.controller.state.allowed import Allowed
from gbb.controller.state.state import State
from gbb.learning import radius
from gbb.learning.estimator import Record
from gbb.learning.typed import AnyRecord, TypedRidge
from gbb.optimum import Optimum, solve
from gbb.pairwise import PairProblem
from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class TypedKnowledge:
    """The same as :class:`Knowledge`, with one matrix for each edge type.

    All statements hold together with probability ``1 - delta``: the radius is that of the
    self-normalised bound in all ``types d^2`` dimensions (:func:`gbb.learning.radius.complete`).
    """

    problem: Problem
    record: AnyRecord
    lam: float = LAM
    delta: float = DELTA
    far: int = 0

    @property
    def caveat(self) -> str | None:
        """Why nothing here can be relied on, if so: rewards that the declared bounds rule out."""
        return caveat_of(self.problem, self.far)

    @cached_property
    def ridge(self) -> TypedRidge:
        """The estimator."""
        return TypedRidge(self.problem, self.record, self.lam)

    @cached_property
    def radius(self) -> float:
        """Radius of the confidence set."""
        return radius.complete(self.problem, self.ridge.log_det, self.delta, self.lam)

    @cached_property
    def widths(self) -> FloatArray:
        """Half-widths of the intervals around an edge's reward by type and arms (types x K x K)."""
        widths: FloatArray = self.radius * self.ridge.widths
        return widths

    def estimates(self) -> tuple[Estimate, ...]:
        """All of it, type by type."""
        d, record = self.problem.d, self.record
        entries = self.radius * self.ridge.width(np.eye(d * d))
        entries = entries.reshape(-1, d, d).transpose(0, 2, 1)  # vec stacks columns
        return tuple(
            Estimate(
                edge_type=g,
                M_hat=_copy(self.ridge.M_hat[g]),
                M_width=_copy(entries[g]),
                table=_copy(self.ridge.means[g]),
                table_width=_copy(self.widths[g]),
                N=_copy(record.N[g]) if isinstance(record, Record) else None,
                Y=_copy(record.Y[g]) if isinstance(record, Record) else None,
                caveat=self.caveat,
            )
            for g in range(self.problem.types)
        )

    def predict(self, allocation: IntArray) -> tuple[float, float, float]:
        """The global reward of ``allocation`` and the interval around it.

        Both within ``+-S`` times the sum over types of ``||sum of w z over the type's edges||``, as
        every type's matrix has a norm of at most S.
        """
        problem, graph = self.problem, self.problem.graph
        value, width = self.ridge.total(allocation)
        z = problem.edge_arms[allocation[graph.sources] * problem.K + allocation[graph.indices]]
        sums = np.zeros((problem.types, problem.d**2))
        np.add.at(sums, problem.edge_types, problem.edge_weights[:, None] * z)
        most = min(problem.S * float(np.linalg.norm(sums, axis=1).sum()), self.ceiling)
        off = self.radius * width
        reward, low, high = np.clip([value, value - off, value + off], -most, most).tolist()
        return reward, low, high

    @property
    def ceiling(self) -> float:
        """What no allocation pays more than, whatever was seen: the sum of ``|w| L S``."""
        return float(np.abs(self.problem.edge_weights).sum()) * self.problem.L * self.problem.S

    def best(self, allowed: Allowed | None, seconds: float) -> Optimum:
        """The best allocation for the estimate, among those allowed."""
        return solve(self.problem, self.ridge.M_hat, allowed=allowed, seconds=seconds)

    def upper_bound(self, best: Optimum, allowed: Allowed | None) -> float:
        """No allowed allocation pays more than this in expectation.

        The smallest of three bounds: every link at its optimistic best, in which no edge pays more
        than ``|w| ||z|| S``; the optimum of the estimate with every edge as uncertain as the most
        uncertain one of its type; and the sum of ``|w| L S``.
        """
        problem = self.problem
        norms = np.linalg.norm(problem.arms, axis=1)
        reach = problem.S * np.outer(norms, norms)
        most = np.minimum(self.ridge.means + self.widths, reach)
        least = np.maximum(self.ridge.means - self.widths, -reach)
        # An edge with a negative weight pays most where its matrix pays least.
        weights, types = problem.edge_weights, problem.edge_types
        turned = (types + problem.types * (weights < 0)).astype(np.int32)
        both = np.concatenate([most, least])
        permitted = problem.allowed if allowed is None else problem.allowed & allowed
        links = PairProblem.directed(problem.graph, both, turned, permitted, weights=weights)
        wide = self.widths.max(axis=(1, 2))
        apart = best.upper_bound + float(np.abs(weights) @ wide[types])
        return min(links.edge_bound, apart, self.ceiling)


def known_by(state: State) -> Knowledge | TypedKnowledge:
    """What a controller in ``state`` knows."""
    problem = state.setup.problem
    if problem.is_paper_problem:
        return Knowledge.of(state)
    return TypedKnowledge(problem, state.record, *settings_of(state))


def _copy(table: FloatArray | IntArray) -> FloatArray:
    return checks.frozen(np.array(table, dtype=np.float64))
