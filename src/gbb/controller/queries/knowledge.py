"""What the record says: estimates with widths, predictions with intervals, recommendations."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.controller.messages import Estimate, Prediction, Recommendation, name_arms
from gbb.controller.state.context import name_row, problem_in
from gbb.controller.state.report import limit_text, limits_of
from gbb.controller.state.state import State
from gbb.learning import Ridge, confidence, radius
from gbb.learning.record import weigh
from gbb.learning.ridge import EPS, ROUNDINGS
from gbb.learning.scales import MAX_RATIO, UNSEEN, Scales, estimate_scales
from gbb.optimum import Optimum, solve
from gbb.pairwise import PairProblem
from gbb.policies import AnyPolicy, CutSearch, IndexPolicy

SHARE = 1e-12
"""Arms whose squared norms are this near to L, relatively, may be the longest."""

LAM, DELTA = 1.0, 1e-3
"""Regulariser and failure probability where the policy has none."""

TOO_FEW = (
    f"Too few rewards were told to bound sigma, which is taken to be at most {MAX_RATIO:g} times its "
    "estimate; intervals and bounds rely on that and may be wrong."
)


class Knowledge:
    """The ridge estimate from everything told, with a confidence set that partial rewards leave valid.

    All statements hold together with probability ``1 - delta``: what is said of a sum of edges is off
    by the smaller of two bounds (:func:`gbb.learning.confidence.errors`), in all ``types d^2``
    dimensions, or in symmetric parts where rewards per link show nothing else. As everything told may be
    discounted at any time, those before the first discount have half of delta, and all that come after
    it the other half (:func:`gbb.learning.radius.delta_after`). What rounding can do is added
    (:attr:`gbb.Ridge.rounding`), and shows where sigma is near the last digit of the rewards.

    Parameters
    ----------
    state
        What a controller was told. ``lam`` and ``delta``, the regulariser and the probability that a
        statement is wrong, are those of its policy if it has them.
    context
        The row of the context of a round that is asked about. One set holds all matrices, so that all
        statements of all contexts hold together.
    shared
        The estimate from the same state for another context, which need not be made anew.

    Notes
    -----
    Where nobody knows sigma or S, half of delta is for what everything told says they are at most
    (:func:`gbb.learning.scales.estimate_scales`), and all statements hold as far as that does.
    """

    def __init__(
        self, state: State, context: FloatArray | None = None, shared: Ridge | None = None
    ) -> None:
        setup, policy = state.setup, state.setup.policy
        self.problem = problem_in(setup.problem, context)
        self.context = name_row(setup.problem, context)
        self._by_context = setup.problem.contexts is not None
        self.record, self.cut = state.record, getattr(policy, "cut", None)
        own = setup.problem.allowed
        self.allowed = own if setup.allowed is None else own & setup.allowed
        self.lam = _regulariser(policy)
        declared = setup.spec["settings"].get("delta", DELTA)
        self.delta = radius.delta_after(setup.discounts, declared)
        self.scales = scales_of(state, self.delta)
        if self.scales is not None:
            self.problem = self.problem.with_scales(self.scales.sigma_max, self.scales.S_max)
            self.delta /= 2.0
        self._doubt: str | None = None
        if "sigma" in setup.problem.unknown and self.scales:
            # While nothing is proven, sigma_max is only so many times the estimate.
            self._doubt = (
                TOO_FEW if self.scales.sigma_max >= MAX_RATIO * self.scales.sigma else None
            )
        self.out_of_bounds_rounds = state.out_of_bounds_rounds
        self._shared = shared

    @property
    def caveat(self) -> str | None:
        """Why all of this is unreliable.

        Rewards were told that the declared bounds rule out; or nobody knows the bounds, and what was
        told says nothing of them, or too little.
        """
        if self.scales == UNSEEN:
            return (
                "Nothing but zeros was told yet, so that sigma and S are taken for 1 where they were "
                "not declared; intervals and bounds rely on them and may be wrong."
            )
        count = self.out_of_bounds_rounds
        if not count:
            return self._doubt
        most = f"+-({limit_text(self.problem)})"
        if not self._by_context and float(np.ptp(limits := limits_of(self.problem))) == 0.0:
            most = f"+-{float(limits[0]):g} {most[2:]}"
        return (
            f"{'1 round' if count == 1 else f'{count} rounds'} told rewards beyond {most}; "
            "intervals and bounds rely on S, L and sigma and may be wrong. The history lists these "
            "rounds as warnings; retract what was told by mistake."
        )

    @cached_property
    def ridge(self) -> Ridge:
        """The estimator."""
        if self._shared is not None:
            return self._shared.at(self.problem)
        return Ridge(self.problem, self.record, self.lam)

    @cached_property
    def errors(self) -> confidence.Errors:
        """How far off the estimate can be."""
        return confidence.errors(self.ridge, self.delta)

    @property
    def radius(self) -> float:
        """Radius of the confidence set."""
        return self.errors.radius

    @cached_property
    def norms(self) -> FloatArray:
        """``||z||`` by arms (K x K)."""
        norms = np.linalg.norm(self.problem.arms, axis=1)
        return np.outer(norms, norms)

    @cached_property
    def widths(self) -> FloatArray:
        """Half-widths of the intervals around an edge's reward by type and arms (types x K x K)."""
        off = self.errors.along(self.ridge.widths, self.ridge.inverse_norms)
        widths: FloatArray = off + self.ridge.rounding_per_unit * self.norms
        return widths

    @property
    def optimistic(self) -> FloatArray:
        """What an edge may pay at most, by type and arms (types x K x K)."""
        most: FloatArray = self.ridge.means + self.widths
        return most

    def estimate(self) -> tuple[Estimate, ...]:
        """All of it, type by type."""
        d, types, tables = self.problem.d, self.problem.types, self.record.tables
        names = self.problem.matrix_names
        entries = self.errors.along(*self.ridge.norms(np.eye(d * d))) + self.ridge.rounding_per_unit
        entries = entries.reshape(types, d, d).transpose(0, 2, 1)  # vec stacks columns
        return tuple(
            Estimate(
                edge_type=g,
                M_hat=_copy(self.ridge.M_hats[g]),
                M_width=_copy(entries[g]),
                table=_copy(self.ridge.means[g]),
                table_width=_copy(self.widths[g]),
                N=None if tables is None else _copy(tables[0][g] / self.problem.ways),
                Y=None if tables is None else _copy(tables[1][g] / self.problem.ways),
                caveat=self.caveat,
                matrix=None if names is None else names[g],
            )
            for g in range(types)
        )

    def predict(self, allocation: IntArray) -> Prediction:
        """The global reward of ``allocation`` and the interval around it.

        Both within ``+-S`` times the sum over types of ``||sum of w z over the type's edges||``, as
        every type's matrix has a norm of at most S.
        """
        problem = self.problem
        value, width = self.ridge.total(allocation)
        sums = weigh(problem, allocation) @ problem.edge_arms
        most = problem.S * float(np.linalg.norm(sums, axis=1).sum()) + self.slack
        most = min(most, self.ceiling)
        ends = allocation[problem.sources], allocation[problem.targets]
        along = float(np.abs(problem.edge_totals) @ self.norms[ends])
        inverse_norm = self.ridge.inverse_norm(allocation)
        off = self.errors.along(width, inverse_norm) + self.ridge.rounding_per_unit * along
        reward, low, high = np.clip([value, value - off, value + off], -most, most).tolist()
        return Prediction(reward, low, high, self.caveat)

    @cached_property
    def ceiling(self) -> float:
        """What no allocation pays more than, whatever was seen: the sum of ``|w| L S``, rounded up."""
        problem = self.problem
        m = float(problem.link_count)
        weights = np.abs(problem.edge_totals).tolist() if problem.weighted else [m]
        total = math.fsum(weights)
        if math.fsum([*weights, -total]) > 0.0:
            total = math.nextafter(total, math.inf)
        longest = problem.arms[np.sum(problem.arms**2, axis=1) >= problem.L * (1.0 - SHARE)]
        squares = (sum(Fraction(x) ** 2 for x in arm) for arm in longest.tolist())
        exact = Fraction(total) * max([Fraction(problem.L), *squares]) * Fraction(problem.S)
        near = float(exact)
        return near if near >= exact else math.nextafter(near, math.inf)

    @property
    def slack(self) -> float:
        """How far rounding may move a sum over the edges: ends of intervals are moved out by it."""
        return EPS * (self.problem.link_count + ROUNDINGS * self.problem.parameters) * self.ceiling

    def recommend(self, seconds: float) -> Recommendation:
        """The best allowed allocation for the estimate that is found within ``seconds``."""
        problem = self.problem
        arms, upper, proven = self._solve(seconds) if problem.parts is None else self._best_tuple()
        found = self.predict(arms)
        return Recommendation(
            allocation=name_arms(problem.graph, arms, problem.arm_names),
            arms=arms,
            reward=min(found.reward, upper),
            low=min(found.low, upper),
            high=min(found.high, upper),
            upper_bound=upper,
            proven=proven,
            caveat=self.caveat,
            context=self.context,
        )

    def _solve(self, seconds: float) -> tuple[IntArray, float, bool]:
        best = solve(self.problem, self.ridge.M_hats, allowed=self.allowed, seconds=seconds)
        return best.allocation, self.upper_bound(best), best.proven

    def _best_tuple(self) -> tuple[IntArray, float, bool]:
        """The best tuple of arms over the parts, which is all that a network in shards can be sent."""
        problem = self.problem
        assert self.cut is not None
        tuples = CutSearch(self.cut).tuples(problem)
        arms = tuples.allocation(int(tuples.combine(self.ridge.means).argmax()))
        return arms, self.upper_bound(None), False

    def upper_bound(self, best: Optimum | None) -> float:
        """No allowed allocation pays more than this in expectation.

        The smallest of three bounds: every link at its optimistic best, in which no edge pays more
        than ``|w| ||z|| S``; the optimum of the estimate with every edge as uncertain as the most
        uncertain one of its type, where it is known; and the sum of ``|w| L S``.
        """
        problem = self.problem
        reach = problem.S * self.norms
        most = np.minimum(self.optimistic, reach)
        least = np.maximum(self.ridge.means - self.widths, -reach)
        # An edge with a negative weight pays most where its matrix pays least.
        weights, types = problem.edge_totals, problem.edge_types
        turned = types + problem.types * (weights < 0)
        features = replace(problem.edges, type=turned, weight=weights)
        both = np.concatenate([most, least])
        links = PairProblem.directed(problem.graph, both, features, self.allowed)
        wide = self.widths.max(axis=(1, 2))
        near = math.inf if best is None else best.upper_bound
        apart = near + float(np.abs(weights) @ wide[types])
        return min(min(links.edge_bound, apart) + self.slack, self.ceiling)


def _regulariser(policy: AnyPolicy) -> float:
    """The lam of a policy, before sigma and S are estimated; 1 if it has none."""
    if isinstance(policy, IndexPolicy):
        return policy.learner.scale(policy.problem, None)[2]
    return getattr(policy, "lam", LAM)


def scales_of(state: State, delta: float) -> Scales | None:
    """What everything told says of sigma and S, with half of delta for it; None where both are known."""
    problem = state.setup.problem
    return estimate_scales(problem, state.record, delta / 2.0) if problem.unknown else None


def _copy(table: FloatArray | IntArray) -> FloatArray:
    return checks.frozen(np.array(table, dtype=np.float64))
