"""Thompson sampling that keeps a promise: a draw's allocation is played if it is optimistic enough."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gbb.cuts import Cut
from gbb.learning.radius import Radius
from gbb.policies._index import Guarded, Index, Optimistic, PosteriorSample
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._learner import RidgeLearner
from gbb.policies._policy import DERIVED
from gbb.policies._search import STARTS, LocalSearch

BETA = 0.9
"""The guard if none is given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GuardedThompson(IndexPolicy):
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

    cut: Cut = DERIVED
    beta: float | None = None
    c: float | None = None
    radius: str | Radius = "default"
    v: float | None = None
    starts: int = STARTS
    lam: float | None = None
    delta: float = 1e-3

    theorem = "alpha_2"

    def __post_init__(self) -> None:
        if self.beta is None and self.c is None:
            self._set("beta", BETA)
        super().__post_init__()

    @property
    def guaranteed_share(self) -> float:
        return 1.0 if self.beta is None else self.beta

    @cached_property
    def learner(self) -> RidgeLearner:
        symmetric = self.radius != "complete"
        return RidgeLearner(lam=self.lam, v=self.v, symmetric=symmetric, delta=self.delta)

    @cached_property
    def index(self) -> Index:
        guard = Optimistic(self.radius, shrinking=True)
        return Guarded(PosteriorSample(), guard, self.beta, self.c)

    @cached_property
    def search(self) -> LocalSearch:
        return LocalSearch(self.cut, self.starts)
