"""The paper's Max-k-Cut extension: optimism over k parts."""

from __future__ import annotations

from dataclasses import replace

from gbb import cuts
from gbb._support import checks
from gbb.cuts import Cut
from gbb.policies._learner import RidgeLearner
from gbb.policies.improved_oful import ImprovedOFUL


class KCutOFUL(ImprovedOFUL):
    """The k-tuple of arms with the largest optimistic reward over k parts (the paper's conclusion).

    With ``m_pq`` directed edges from part p to part q, plays the best tuple of

        ``max over theta in C_t of <sum over p, q of m_pq z_{x_p x_q}, theta>``.

    With k = 2 this is :class:`ImprovedOFUL`. The tuple is at least as good as any couple over two
    groups of the parts, so there is no regret against alpha_2 of every such grouping, hence against the
    largest.

    Parameters
    ----------
    problem, lam, delta
        As for :class:`ImprovedOFUL`.
    cut
        k parts, or two parts that :func:`gbb.cuts.refine` makes k of; the best found by default.
    k
        Number of parts; K^k tuples are compared each round.
    radius
        As for :class:`ImprovedOFUL`.
    """

    k: int = 3

    def _choose_cut(self, cut: Cut | None) -> Cut:
        checks.integer("k", self.k, low=2)
        graph = self.problem.graph
        cut = cuts.best(graph) if cut is None else cuts.check_cut(graph, cut, k=None)
        if cut.k == 2 < self.k:
            cut = cuts.refine(cut, self.k)
        return cuts.check_cut(graph, cut, k=self.k)

    @property
    def learner(self) -> RidgeLearner:
        # No theorem asks for the paper's own estimate here; the symmetric part alone errs less.
        return replace(super().learner, symmetric=self.radius != "complete")
