"""The paper's Max-k-Cut extension: optimism over k parts."""

from __future__ import annotations

from typing import ClassVar

from gbb._support import checks
from gbb.cuts import Cut, KCut, check_cut, refine
from gbb.learning.radius import Schedule
from gbb.policies._index import IndexPolicy
from gbb.problem import Problem


class KCutOFUL(IndexPolicy):
    """The k-tuple of arms over k parts that pays most, by optimism (the paper's conclusion).

    With ``m_pq`` directed edges from part p to part q, plays the best tuple of

        ``max over theta in C_t of <sum over p, q of m_pq z_{x_p x_q}, theta>``.

    With k = 2 this is :class:`~gbb.policies.ImprovedOFUL`. The tuple is at least as good as any couple
    over two groups of the parts, so there is no regret against alpha_2 of the best such grouping,
    which the attribute ``cut`` holds.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        A :class:`gbb.cuts.KCut` of k parts, or a :class:`gbb.Cut`: with k = 2 its own parts, with more
        those of :func:`gbb.cuts.refine`.
    k
        Number of parts; K^k tuples are compared each round.
    lam
        The ridge regulariser lambda, > 0.
    delta
        The confidence set misses theta* with probability at most delta.
    radius
        As for :class:`~gbb.policies.ImprovedOFUL`.
    name
        How results call this policy.
    """

    guarantee: ClassVar[str | None] = "alpha_2"

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        k: int = 3,
        lam: float = 1.0,
        delta: float = 1e-3,
        radius: str | Schedule = "paper",
        name: str | None = None,
    ) -> None:
        k = checks.integer("k", k, low=2)
        if isinstance(cut, KCut):
            if cut.k != k:
                raise checks.input_error("cut", f"have k = {k} parts", cut.k)
            parts: Cut | KCut = cut
        elif k > 2 and isinstance(problem, Problem):
            check_cut(problem.graph, cut)
            parts = refine(cut, k)
        else:
            parts = cut
        super().__init__(
            problem, cut=parts, lam=lam, delta=delta, radius=radius, starts=0, name=name
        )

    @property
    def k(self) -> int:
        """Number of parts."""
        return self.parts.k
