"""Information-directed sampling: the regret of a round is weighed against what it tells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gbb._support import checks
from gbb.cuts import Cut
from gbb.learning.radius import Radius
from gbb.policies._index import Guarded, Index, Optimistic
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._information import InformationRatio
from gbb.policies._learner import RidgeLearner
from gbb.policies._policy import DERIVED
from gbb.policies._search import STARTS, Search, local_search

SAMPLES = 100
"""Draws from the posterior in every round."""

POWER = 1.25
"""The power of the regret in the ratio. With 2, little is explored where little is lost, more runs stay
with a poor allocation, and the mean regret is higher where the paper's Figure 2 is set."""

FLOOR = 0.1
"""How often it plays as Thompson sampling does."""

PRIOR_SCALE = 2.0
"""How many times as wide as Thompson sampling's the prior is without a guard."""


@dataclass(frozen=True, eq=False, kw_only=True)
class InformationDirected(IndexPolicy):
    """What loses least for what it tells, of the allocations that are best for posterior draws.

    For every draw it finds the best allocation, as :class:`ThompsonSampling` does for one, and plays the
    mixture of two of them with the least ratio of expected regret to information gain
    (:class:`gbb.policies.InformationRatio` has the formulas). Where all draws agree, their allocation is
    played. With probability ``floor`` the first draw's allocation is played instead, so that whatever
    Thompson sampling plays is played at least ``floor`` times as often: the gain of a group with
    hardly a draw is hardly known. By convexity the ratio of what is played is still at most Thompson
    sampling's.

    Edges on which an allocation plays the same pair of arms are one number, with less noise, unless
    numbers are sums: what is told again tells less.

    Parameters
    ----------
    problem, cut, v, starts
        As for :class:`ThompsonSampling`.
    lam
        As for it, but a quarter without a guard: a prior twice as wide. What seems improbable is tried
        less often than Thompson sampling tries it, so a few rounds should count for more than the prior.
        A guard's radius is the smaller for the larger lam.
    samples
        The number of draws in every round; a round costs as many searches. With 1 it is Thompson
        sampling with this lam.
    power
        That of the regret, > 1; 2 is Russo and Van Roy's. The smaller it is, the more is explored where
        little is lost.
    floor
        The probability of playing the first draw's allocation, from 0 to 1.
    beta, c, radius, delta
        As for :class:`GuardedThompson`, whose guard and promise it then has; without beta and c there is
        no guard and no promise, and the radius is not used.

    References
    ----------
    Russo and Van Roy (2014), "Learning to optimize via information-directed sampling"; Lattimore and
    Gyorgy (2021), "Mirror descent and the information ratio", for other powers.
    """

    cut: Cut = DERIVED
    samples: int = SAMPLES
    power: float = POWER
    floor: float = FLOOR
    beta: float | None = None
    c: float | None = None
    radius: str | Radius = "default"
    v: float | None = None
    starts: int = STARTS
    lam: float | None = None
    delta: float = 1e-3

    theorem = "alpha_2"  # behind a guard
    plays_shards = False

    def __post_init__(self) -> None:
        checks.integer("starts", self.starts, low=1 if self.guarded else 0)
        super().__post_init__()

    @property
    def guarded(self) -> bool:
        """Whether its proposals are guarded by optimism."""
        return self.beta is not None or self.c is not None

    @property
    def guarantee(self) -> str | None:
        return super().guarantee if self.guarded else None

    @property
    def guaranteed_share(self) -> float:
        return 1.0 if self.beta is None else self.beta

    @cached_property
    def learner(self) -> RidgeLearner:
        return RidgeLearner(
            lam=self.lam,
            v=self.v,
            prior_scale=1.0 if self.guarded else PRIOR_SCALE,
            symmetric=not self.guarded or self.radius != "complete",
            delta=self.delta,
        )

    @cached_property
    def index(self) -> Index:
        ratio = InformationRatio(samples=self.samples, power=self.power, floor=self.floor)
        if not self.guarded:
            return ratio
        return Guarded(ratio, Optimistic(self.radius, shrinking=True), self.beta, self.c)

    @cached_property
    def search(self) -> Search:
        return local_search(self.cut, self.starts)
