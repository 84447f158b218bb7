"""Thompson sampling that keeps a promise: a draw's allocation is played if it is optimistic enough."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from gbb._support import checks
from gbb.learning.radius import Radius
from gbb.policies._index import Guarded, Index, Optimistic
from gbb.policies._learner import RidgeLearner
from gbb.policies.thompson_sampling import ThompsonSampling


class GuardedThompson(ThompsonSampling):
    """Thompson sampling's allocation as long as that is nearly as optimistic as the best.

    With U the optimistic value of an allocation and a_J the allocation of :class:`JointOFUL`, what
    Thompson sampling proposes is played if

        ``U(proposal) >= U(a_J) - (1 - beta) |U(a_J)|``,

    and else a_J. Hence there is no regret against ``beta alpha_2`` times the optimum; nor against
    alpha_2 times it with ``c``, for which beta_t = 1 - c / sqrt(t) grows with the rounds
    (docs/policies.md has the proof).

    Parameters
    ----------
    problem, cut, delta
        As for :class:`JointOFUL`.
    beta
        How near, from 0 (anything that promises something) to 1 (JointOFUL's own value); 0.9 by default.
    c
        Instead of ``beta``: beta_t = max(0, 1 - c / sqrt(t)) in round t, counted by the rounds learnt
        from. After T rounds it may have cost ``2 c sqrt(T) m L S`` more.
    radius
        As for :class:`JointOFUL`.
    v, lam
        As for :class:`ThompsonSampling`. One estimate serves both, since the confidence set is valid for
        any lam.
    starts
        The number of couples that local search starts from, for either; at least 1.
    """

    beta: float | None = None
    c: float | None = None
    radius: str | Radius = "default"
    delta: float = 1e-3

    default_beta: ClassVar[float | None] = 0.9
    """The guard if none is given."""
    theorem = "alpha_2"

    def __post_init__(self) -> None:
        if not self.guarded:
            self._set("beta", self.default_beta)
        if self.guarded:  # the guard compares with an allocation, not with a tuple
            checks.integer("starts", self.starts, low=1)
        super().__post_init__()

    @property
    def guarded(self) -> bool:
        """Whether its proposals are guarded by optimism."""
        return self.beta is not None or self.c is not None

    @property
    def guaranteed_share(self) -> float:
        return 1.0 if self.beta is None else self.beta

    @property
    def learner(self) -> RidgeLearner:
        # The radius and the draws share one estimate: a confidence set holds for any lam.
        symmetric = self.radius != "complete"
        return replace(super().learner, symmetric=symmetric, delta=self.delta)

    @property
    def index(self) -> Index:
        return self._guard(super().index)

    def _guard(self, proposal: Index) -> Guarded:
        return Guarded(proposal, Optimistic(self.radius, shrinking=True), self.beta, self.c)
