"""The paper's Max-k-Cut extension: optimism over k parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gbb import cuts
from gbb._support import checks
from gbb.cuts import Cut, check_cut, refine
from gbb.learning.radius import Radius
from gbb.policies._index import Optimistic
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._learner import RidgeLearner
from gbb.policies._policy import DERIVED
from gbb.policies._search import CutSearch


@dataclass(frozen=True, eq=False, kw_only=True)
class KCutOFUL(IndexPolicy):
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

    cut: Cut = DERIVED
    k: int = 3
    radius: str | Radius = "paper"
    lam: float = 1.0
    delta: float = 1e-3

    theorem = "alpha_2"

    def __post_init__(self) -> None:
        self.check_problem(self.problem)
        checks.integer("k", self.k, low=2)
        cut = cuts.best(self.problem.graph) if self.cut is DERIVED else self.cut
        if check_cut(self.problem.graph, cut, k=None).k == 2 < self.k:
            cut = refine(cut, self.k)
        self._set("cut", check_cut(self.problem.graph, cut, k=self.k))
        super().__post_init__()

    @cached_property
    def learner(self) -> RidgeLearner:
        return RidgeLearner(lam=self.lam, symmetric=self.radius != "complete", delta=self.delta)

    @cached_property
    def index(self) -> Optimistic:
        return Optimistic(self.radius)

    @cached_property
    def search(self) -> CutSearch:
        return CutSearch(self.cut)
