"""Optimism over whole allocations, started from the paper's couple."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from gbb.learning.radius import Radius
from gbb.policies._index import Optimistic
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._learner import Discounted, RidgeLearner, SlidingWindow, Window
from gbb.policies._policy import RecordPolicy
from gbb.policies._search import STARTS, LocalSearch


class JointOFUL(IndexPolicy):
    """The allocation with the largest optimistic reward that local search finds.

    Starts from the couple of :class:`ImprovedOFUL` and from the next best, and lets agents in turn take
    the arm that raises most

        ``sum over E of <z, theta_hat> + radius || sum over E of z ||_{A^-1}``.

    The value reached is never below the couple's, which is all that the proof of Theorem 4.1 asks of the
    allocation that is played: no regret against alpha_2 times the optimum, and rewards beyond what two
    arms can earn.

    Parameters
    ----------
    problem, lam, delta
        As for :class:`ImprovedOFUL`.
    cut
        As for :class:`ImprovedOFUL`; it may have k parts.
    radius
        ``default`` is ``symmetric`` where that is valid and ``complete`` elsewhere, both with a smaller
        charge for the regulariser's bias (see the notes); or as for :class:`ImprovedOFUL`.
    starts
        The number of couples that local search starts from, at least 1.

    Notes
    -----
    The error of ``theta_hat`` is ``A^-1 sum z noise - lam A^-1 theta*``. The symmetric radius bounds the
    second part, along the sum phi of an allocation's edge-arms, by ``sqrt(lam) S ||phi||_{A^-1}``; but
    ``|<phi, lam A^-1 theta*>|`` is at most ``lam S / sqrt(smallest eigenvalue of A_sym)
    ||phi||_{A^-1}``, which vanishes as every pair of arms gets played, and is what this policy charges.
    The confidence set still holds theta* with probability 1 - delta.

    References
    ----------
    Rizk, Colin, Thomas, Laraki and Chevaleyre (2022), Algorithm 3 and Theorem 4.1, for the couple.
    """

    radius: str | Radius = "default"
    starts: int = STARTS
    lam: float = 1.0
    delta: float = 1e-3

    theorem: ClassVar[str | None] = "alpha_2"

    @property
    def learner(self) -> RidgeLearner:
        # With links seen both ways rewards follow from the symmetric part, of half the dimensions.
        return RidgeLearner(lam=self.lam, symmetric=self.radius != "complete", delta=self.delta)

    @property
    def index(self) -> Optimistic:
        return Optimistic(self.radius, shrinking=True)

    @cached_property
    def search(self) -> LocalSearch:
        return LocalSearch(self.cut, self.starts)


class DiscountedOFUL(JointOFUL):
    """:class:`JointOFUL` on a record in which a round of age s weighs ``gamma^s``, for a drifting M*.

    A record counts as some ``1 / (1 - gamma)`` rounds at most. Each round starts the bound on the noise
    anew, so that after t rounds the confidence set uses ``delta / ((t + 1) (t + 2))``: where M* does not
    change, it fails in any round at all with probability delta at most. With gamma = 1 nothing fades.

    Parameters
    ----------
    gamma
        The share of its weight that a round keeps each round, in (0, 1].

    References
    ----------
    Russac, Vernade and Cappe (2019), "Weighted linear bandits for non-stationary environments". The
    width keeps ``A^-1``, which is larger than their ``A^-1 A_2 A^-1`` with weights ``gamma^(2 s)``.
    """

    gamma: float = 0.99

    estimates_scales = controllable = False  # a record does not know which rounds are old
    theorem = None

    @property
    def learner(self) -> RidgeLearner:
        return replace(super().learner, memory=Discounted(self.gamma))


class SlidingWindowOFUL(JointOFUL):
    """:class:`JointOFUL` on the record of the last ``window`` rounds, for an M* that drifts or jumps.

    Each round that is dropped starts the bound on the noise anew, as in :class:`DiscountedOFUL`.

    Parameters
    ----------
    window
        The number of rounds that are remembered.

    References
    ----------
    Cheung, Simchi-Levi and Zhu (2019), "Learning to optimize under non-stationarity".
    """

    window: int = 100

    estimates_scales = controllable = False
    theorem = None
    state_types = (*RecordPolicy.state_types, Window)

    @property
    def learner(self) -> RidgeLearner:
        return replace(super().learner, memory=SlidingWindow(self.window))
