"""Information-directed sampling: the regret of a round is weighed against what it tells."""

from __future__ import annotations

from dataclasses import replace

from gbb.policies._index import Index
from gbb.policies._information import InformationRatio
from gbb.policies._learner import RidgeLearner
from gbb.policies.guarded_thompson import GuardedThompson


class InformationDirected(GuardedThompson):
    """What loses least for what it tells, of the allocations that are best for posterior draws.

    For every draw it finds the best allocation, as :class:`ThompsonSampling` does for one, and plays the
    mixture of two of them with the least ratio of expected regret to information gain
    (:class:`gbb.policies.InformationRatio` has the formulas). Where all draws agree, their allocation is
    played. With probability ``floor`` the first draw's allocation is played instead, so that whatever
    Thompson sampling plays is played at least ``floor`` times as often: the gain of a group with
    hardly a draw is hardly known. By convexity the ratio of the mixture is still at most Thompson
    sampling's.

    Edges on which an allocation plays the same pair of arms are one number, with less noise, unless
    numbers are sums: repeated observations carry less information.

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

    samples: int = 100
    # With 2, little is explored where little is lost: more runs stay with a poor allocation, and the
    # mean regret is higher where the paper's Figure 2 is set.
    power: float = 1.25
    floor: float = 0.1

    default_beta = None  # no guard unless one is asked for

    @property
    def guarantee(self) -> str | None:
        return super().guarantee if self.guarded else None

    @property
    def learner(self) -> RidgeLearner:
        if self.guarded:
            return super().learner
        # Without a guard the radius is not used, and the prior is twice as wide as Thompson sampling's.
        return replace(super().learner, symmetric=True, prior_scale=2.0)

    @property
    def index(self) -> Index:
        ratio = InformationRatio(samples=self.samples, power=self.power, floor=self.floor)
        return self._guard(ratio) if self.guarded else ratio
