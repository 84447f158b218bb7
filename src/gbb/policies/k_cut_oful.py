"""The paper's Max-k-Cut extension: optimism over k parts."""

from __future__ import annotations

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
    over two groups of the parts, so there is no regret against alpha_2 of every such grouping, hence
    against the largest. The attribute ``cut`` holds the grouping with most edges between the groups.

    Parameters
    ----------
    problem, lam, delta, name
        As for :class:`~gbb.policies.IndexPolicy`.
    cut
        A :class:`gbb.cuts.KCut` of k parts, or a :class:`gbb.Cut`: with k = 2 its own parts, with more
        those of :func:`gbb.cuts.refine`.
    k
        Number of parts; K^k tuples are compared each round.
    radius
        As for :class:`~gbb.policies.ImprovedOFUL`.
    """

    guarantee = "alpha_2"

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        k: int = 3,
        radius: str | Schedule = "paper",
        lam: float = 1.0,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        k = checks.integer("k", k, low=2)
        if isinstance(cut, KCut) and cut.k != k:
            raise checks.input_error("cut", f"have k = {k} parts", cut.k)
        if isinstance(cut, Cut) and k > 2 and isinstance(problem, Problem):
            cut = refine(check_cut(problem.graph, cut), k)
        super().__init__(problem, cut=cut, radius=radius, starts=0, lam=lam, delta=delta, name=name)

    @property
    def k(self) -> int:
        """Number of parts."""
        return self.parts.k
