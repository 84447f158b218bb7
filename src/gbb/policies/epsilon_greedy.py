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
    problem
        What the learner knows.
    cut
        The parts V1 and V2, or k parts to start from the best k-tuple of arms over them.
    lam
        The ridge regulariser lambda, > 0.
    explore
        The probability of a random round, epsilon.
    starts
        From how many couples, the best with different arms, local search starts; 0 to play the
        best couple as it is.
    name
        How results call this policy.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        lam: float = 1.0,
        explore: float = 0.05,
        starts: int = STARTS,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, cut=cut, lam=lam, explore=explore, starts=starts, name=name)
