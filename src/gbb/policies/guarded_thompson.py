"""Thompson sampling that keeps a promise: what is drawn is played if it is optimistic enough."""

from __future__ import annotations

from gbb.cuts import Cut, KCut
from gbb.learning.radius import Schedule
from gbb.policies._index import STARTS, IndexPolicy
from gbb.problem import Problem

BETA = 0.9
"""The guard when none is given."""


class GuardedThompson(IndexPolicy):
    """Plays Thompson sampling's allocation as long as that is nearly as optimistic as the best.

    With U the optimistic value of an allocation and a_J the allocation of
    :class:`~gbb.policies.JointOFUL`, what Thompson sampling proposes is played if

        ``U(proposal) >= U(a_J) - (1 - beta) |U(a_J)|``,

    and else a_J. Hence there is no regret against ``beta alpha_2`` times the optimum; nor against
    alpha_2 times it with ``c``, for which beta_t = 1 - c / sqrt(t) grows with the rounds
    (docs/policies.md has the proof).

    Parameters
    ----------
    problem, cut, delta, name
        As for :class:`~gbb.policies.IndexPolicy`.
    beta
        How near, from 0 (anything that promises something) to 1 (JointOFUL's own value); 0.9 when left
        out.
    c
        In place of ``beta``: beta_t = max(0, 1 - c / sqrt(t)) in round t, counted by the rounds that it
        has learnt from. After T rounds it may have cost ``2 c sqrt(T) m L S`` more.
    radius
        As for :class:`~gbb.policies.JointOFUL`.
    v, lam
        As for :class:`~gbb.policies.ThompsonSampling`. One estimate serves both, since the confidence
        set is valid for any lam.
    starts
        From how many couples local search starts, for either; at least 1.
    """

    guarantee = "alpha_2"

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        beta: float | None = None,
        c: float | None = None,
        radius: str | Schedule = "default",
        v: float | None = None,
        starts: int = STARTS,
        lam: float | None = None,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        super().__init__(
            problem,
            cut=cut,
            radius=radius,
            v=v,
            beta=BETA if beta is None and c is None else beta,
            c=c,
            starts=starts,
            shrinking=True,
            lam=lam,
            delta=delta,
            name=name,
        )
