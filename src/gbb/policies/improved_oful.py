"""Algorithm 3 of the paper: the improved OFUL, which counts the unwanted edges."""

from __future__ import annotations

from gbb.cuts import Cut, check_cut
from gbb.learning.radius import Schedule
from gbb.policies._index import IndexPolicy, Weights
from gbb.problem import Problem


class ImprovedOFUL(IndexPolicy):
    """The couple that pays most over the whole cut graph, by optimism (the paper's Algorithm 3).

    Plays ``argmax <m12 z_xx' + m21 z_x'x + m1 z_xx + m2 z_x'x', theta>`` over couples and theta in
    C_t: V1 plays the first arm of the best couple and V2 its second. Theorem 4.1: no regret against
    ``alpha_2 = 1 - [(m1 + m2)/m (1 - gamma) - epsilon]`` times the optimum.

    Parameters
    ----------
    problem, cut, lam, name
        As for :class:`~gbb.policies.IndexPolicy`; V1 and V2 are the only parts.
    delta
        The confidence set misses theta* (its symmetric part, with the symmetric radius) with
        probability at most delta.
    radius
        ``paper``, ``symmetric`` (valid and smaller), ``complete`` (the same in all dimensions, valid
        for any problem), ``released`` (for parity with released code), or a function of the problem, an
        array of numbers of rounds, lam and delta.

    Notes
    -----
    On a problem with edge types or weights, the objective of a couple is the weighted sum over the
    edges between and inside the parts, each with its own type's matrix; agents that may not play their
    part's arm play their first allowed one. The theorems are about one shared matrix.
    """

    guarantee = "alpha_2"

    couple_weights: Weights | None = None
    """``(w12, w21, w1, w2)``, what z_xx', z_x'x, z_xx and z_x'x' count for; the cut's when left out."""

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut,
        radius: str | Schedule = "paper",
        lam: float = 1.0,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        super().__init__(
            problem,
            cut=cut,
            radius=radius,
            starts=0,
            weights=self.couple_weights,
            halves=radius == "symmetric",
            lam=lam,
            delta=delta,
            name=name,
        )
        check_cut(problem.graph, cut)
