"""Pure exploration: a design in phases, until the best couple is certain enough."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.learning.confidence import Confidence
from gbb.learning.design import g_optimal
from gbb.learning.record import AnyRecord, empty
from gbb.learning.tuples import Tuples
from gbb.policies._policy import DERIVED, Choice, RecordPolicy
from gbb.policies.baselines import draw_arms
from gbb.problem import check_lam


class Phased(NamedTuple):
    """State of :class:`PhasedExploration`.

    Attributes
    ----------
    rounds, record
        The rounds seen and their record.
    phase_end
        The number of rounds after which the phase is over.
    alive
        Which couples may still be the best (K x K).
    weights
        The design of this phase: how likely each arm is drawn.
    gap
        How much more than the leading couple any other can pay, as of the last phase.
    couple
        The certified couple, once there is one.
    """

    rounds: float
    record: AnyRecord
    phase_end: float
    alive: NDArray[np.bool_]
    weights: FloatArray
    gap: float = math.inf
    couple: tuple[int, int] | None = None


class PhasedExploration(RecordPolicy[Phased]):
    """Explores by a G-optimal design until a couple is certified, and plays that one for good.

    In every phase each agent draws its arm independently from the G-optimal design over the arms that
    are left, which makes the edge-arms G-optimal too (Rizk et al. 2021). At its end, couples that
    certainly pay less over the cut than the leading one are dropped, and arms with all their couples.
    The leading couple (a, b) is certified, and exploring ends, when over all couples

        ``gap = max <v - v_ab, theta_hat> + error(v - v_ab) <= epsilon``,

    v the couple's sum of edge-arms over the cut, ``m12 z_ab + m21 z_ba + m1 z_aa + m2 z_bb``. The
    error is that of :class:`gbb.learning.Confidence`, with two ellipsoids at delta / 2 each: that of
    the symmetric block for records with both directions of every pair of arms equally often, as whole
    rounds have them, and that of all dimensions for others.

    What is proven: with probability at least 1 - delta, over all phases at once and however long it
    plays, no couple is dropped that is better than all that are kept, and a certified couple pays within
    epsilon of the best couple over the cut. The best couple earns alpha_2 of the optimum (Theorem 4.1),
    so the certified one at least that less epsilon. Whole allocations are certified by
    :func:`gbb.identify`.

    Parameters
    ----------
    problem, cut, lam
        As for :class:`ExploreThenCommit`.
    epsilon
        How much less than the best couple the certified one may pay a round, over all edges; a
        hundredth of the most that they can pay, ``m L S / 100``, by default. With 0 only the best
        itself is certified, and never one of two that differ and tie.
    delta
        The probability that a certificate is wrong, at most.
    growth
        How many times the rounds of all phases before it a phase extends them to, > 1.

    References
    ----------
    Rizk, Thomas, Colin, Laraki and Chevaleyre (2021), "Best arm identification in graphical bilinear
    bandits", for the design; Soare, Lazaric and Munos (2014), "Best-arm identification in linear
    bandits", for stopping and dropping by a confidence set.
    """

    cut: Cut = DERIVED
    epsilon: float = DERIVED
    delta: float = 1e-3
    lam: float = 1.0
    growth: float = 1.25

    requires = "has_one_matrix"
    state_types = (*RecordPolicy.state_types, Phased)

    def __post_init__(self) -> None:
        super().__post_init__()
        problem = self.problem
        if self.epsilon is DERIVED:
            self._set("epsilon", problem.m * problem.L * problem.S / 100)
        checks.real("epsilon", self.epsilon, low=0.0)
        checks.real("delta", self.delta, low=0.0, low_open=True, high=1.0)
        check_lam(self.lam)
        checks.real("growth", self.growth, low=1.0, low_open=True)

    @cached_property
    def couples(self) -> Tuples:
        """The couples of arms over the cut."""
        sides = self.cut.sides.astype(np.int64)
        return Tuples(self.problem, sides, 2, self.problem.edge_weights)

    def init(self) -> Phased:
        problem, alive = self.problem, np.ones((self.problem.K,) * 2, dtype=np.bool_)
        # Fewer rewards than parameters tell little.
        first = math.ceil(problem.d * (problem.d + 1) / 2 / problem.observations)
        return Phased(0, empty(problem), first, alive, self._design(alive))

    def select(self, state: Phased, rng: np.random.Generator) -> Choice:
        if state.couple is not None:
            return Choice(self.cut.allocation(state.couple), state.couple)
        return Choice(draw_arms(state.weights, self.problem.n, rng))

    def absorb(
        self, state: Phased, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> Phased:
        total, merged = state.rounds + rounds, state.record.merge(record)
        state = state._replace(rounds=total, record=merged)
        return state if state.couple or total < state.phase_end else self._next_phase(state)

    def _next_phase(self, state: Phased) -> Phased:
        """Return the state with couples dropped, and perhaps one certified."""
        seen = Confidence(self.problem, state.record, self.lam)
        # Rewards may be missing in one phase and not in another: two ellipsoids must hold.
        combine, radius = self.couples.combine, seen.ellipsoid(self.delta / 2)
        alive = state.alive.ravel()
        # A couple that was dropped is certainly worse than one kept, so it need not be compared again.
        values = np.where(alive, combine(seen.ridge.means), -np.inf)
        leader = int(np.argmax(values))
        excess = seen.excess(combine, leader, radius)
        gap = float(excess[alive].max())
        remaining = (alive & (excess >= 0.0)).reshape(state.alive.shape)
        weights = state.weights if (remaining == state.alive).all() else self._design(remaining)
        couple = divmod(leader, self.problem.K) if gap <= self.epsilon else None
        phase_end = max(state.rounds + 1, math.ceil(self.growth * state.rounds))
        return Phased(state.rounds, state.record, phase_end, remaining, weights, gap, couple)

    def _design(self, alive: NDArray[np.bool_]) -> FloatArray:
        """Return the G-optimal design over the arms of the couples that are left."""
        arms = np.flatnonzero(alive.any(axis=0) | alive.any(axis=1))
        weights = np.zeros(self.problem.K)
        useful = bool(self.problem.arms[arms].any())
        # Arms that are all zero have no design; any of them tells the same.
        weights[arms] = g_optimal(self.problem.arms[arms]).weights if useful else 1.0
        return weights
