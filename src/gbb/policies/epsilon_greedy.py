"""Epsilon-greedy: the best estimated allocation, and now and then a random one."""

from __future__ import annotations

from gbb.cuts import Cut, KCut
from gbb.policies._index import STARTS, IndexPolicy
from gbb.problem import Problem


class EpsilonGreedy(IndexPolicy):
    """Plays arms at random with probability ``explore``, else the best estimated allocation it finds.

    Its regret grows linearly, at the rate of ``explore`` times what a random allocation loses; the
    simplest baseline that learns.

    Parameters
    ----------
    problem, cut, starts, lam, name
        As for :class:`~gbb.policies.IndexPolicy`.
    explore
        The probability of a random round, epsilon.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        explore: float = 0.05,
        starts: int = STARTS,
        lam: float = 1.0,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, cut=cut, explore=explore, starts=starts, lam=lam, name=name)
