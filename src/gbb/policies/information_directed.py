"""Information-directed sampling: the regret of a round is weighed against what it tells."""

from __future__ import annotations

from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.policies._index import STARTS, IndexPolicy
from gbb.problem import Problem

SAMPLES = 100
"""Draws from the posterior in every round."""

POWER = 1.25
"""The power of the regret in the ratio. With 2, little is explored where little is lost, more runs stay
with a poor allocation, and the mean regret is higher where the paper's Figure 2 is set."""

FLOOR = 0.1
"""How often it plays as Thompson sampling does."""

WIDENING = 2.0
"""How many times as wide as Thompson sampling's the prior is without a guard."""


class InformationDirected(IndexPolicy):
    """Draws many matrices from the posterior and plays what loses least for what it tells.

    For every matrix it finds the best allocation, as :class:`~gbb.policies.ThompsonSampling` does for
    one. Draws with the same allocation k are a group, of the share p_k. For the allocations found,

        ``Delta(a) = mean over draws of (the reward of the draw's own allocation - that of a)``,
        ``g(a) = sum over numbers o that a round reports of log(Var[o] / sum_k p_k Var[o | k])``

    are the expected regret and the information gain. Noise is part of both variances, so g is twice
    what normal numbers tell of which allocation is the best, in nats. Edges on which an allocation plays
    the same pair of arms are one number, with less noise, unless numbers are sums: what is told again
    tells less. The mixture of two allocations is played that makes
    ``(q Delta_i + (1 - q) Delta_j)^power / (q g_i + (1 - q) g_j)`` least. Two suffice, since what the
    ratio does not exceed is a convex set of regrets and gains. Where all draws agree, their allocation
    is played.

    With probability ``floor`` the first draw's allocation is played instead. So whatever Thompson
    sampling plays is played at least ``floor`` times as often, however few of the draws favour it: the
    gain of a group with hardly a draw is hardly known. By the same convexity the ratio of what is played
    is, as the draws have it, still at most Thompson sampling's.

    Variances within few draws are too small by chance, which is made good, as adjusted R^2 does it.
    Allocations that pay the same for every matrix, as when alike agents change places, are one.

    Parameters
    ----------
    problem, cut, v, starts, name
        As for :class:`~gbb.policies.ThompsonSampling`.
    lam
        As for it, but a quarter without a guard: a prior twice as wide. What is held to be improbable is
        tried less often than Thompson sampling tries it, so what a few rounds have shown should count
        for more than the prior. A guard's radius is the smaller for the larger lam.
    samples
        How many matrices to draw in every round, 100 when left out; a round costs as many searches. With
        1 it is Thompson sampling with this lam.
    power
        That of the regret, > 1; 2 is Russo and Van Roy's. The smaller it is, the more is explored where
        little is lost: where g_j = 0, ``q = Delta_j / (power - 1) / (Delta_i - Delta_j)``.
    floor
        The probability of playing the first draw's allocation, from 0 to 1; at 1 it is Thompson
        sampling, at the price of all the draws.
    beta, c, radius, delta
        As for :class:`~gbb.policies.GuardedThompson`, whose guard and promise it then has; without beta
        and c there is no guard, no promise, and nothing to use a radius.

    References
    ----------
    Russo and Van Roy (2014), "Learning to optimize via information-directed sampling"; Lattimore and
    Gyorgy (2021), "Mirror descent and the information ratio", for other powers.
    """

    plays_parts = False

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        samples: int = SAMPLES,
        power: float = POWER,
        floor: float = FLOOR,
        beta: float | None = None,
        c: float | None = None,
        radius: str | Schedule | None = "default",
        v: float | None = None,
        starts: int = STARTS,
        lam: float | None = None,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        guarded = beta is not None or c is not None
        if guarded:
            self.guarantee = "alpha_2"
        else:
            self.widening = WIDENING
        super().__init__(
            problem,
            cut=cut,
            radius=radius if guarded else None,
            v=v,
            samples=samples,
            power=power,
            floor=floor,
            beta=beta,
            c=c,
            starts=starts,
            shrinking=guarded,
            lam=lam,
            delta=delta,
            name=name,
        )
