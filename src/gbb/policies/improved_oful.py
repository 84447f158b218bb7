"""Algorithm 3 of the paper: improved OFUL."""

from __future__ import annotations

from functools import cached_property

from gbb.learning.radius import Radius
from gbb.policies._index import Optimistic
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._learner import RidgeLearner
from gbb.policies._search import CutSearch


class ImprovedOFUL(IndexPolicy):
    """The couple of arms with the largest optimistic reward over the whole cut graph.

    In round t, over all couples (x, x') and all theta in the confidence set C_{t-1},

        ``(x_t, x_t') = argmax <m12 z_xx' + m21 z_x'x + m1 z_xx + m2 z_x'x', theta>``;

    the agents of V1 play x_t and those of V2 play x_t'. Theorem 4.1: no regret against
    ``alpha_2 = 1 - [(m1 + m2)/m (1 - gamma) - epsilon]`` times the optimum.

    Parameters
    ----------
    problem
        What the learner knows: the graph, the arms, sigma, S and L.
    cut
        V1 and V2, by Approx-MAX-CUT (:func:`gbb.cuts.greedy`, the paper's Algorithm 2) or another
        method; the best found (:func:`gbb.cuts.best`) by default.
    radius
        The radius of C_t: ``paper`` (Section 3), ``symmetric`` (valid and smaller), ``complete`` (the
        same in all dimensions, valid for any problem), ``released`` (for parity with released code),
        or a function ``radius(problem, rounds, lam, delta)`` of an array of numbers of rounds.
    lam
        The ridge regulariser lambda, > 0.
    delta
        theta* is in C_t for all t with probability at least 1 - delta.

    Notes
    -----
    With edge types or weights the objective is the weighted sum over all edges, each with the matrix
    of its type; agents that may not play their part's arm play their first allowed one. The theorem is
    about one shared matrix, and a radius that is ``released`` or a function has none.
    """

    radius: str | Radius = "paper"
    lam: float = 1.0
    delta: float = 1e-3

    cut_parts = 2  # V1 and V2
    theorem = "alpha_2"

    @property
    def learner(self) -> RidgeLearner:  # theta_hat_t = A_t^-1 b_t (equation 3)
        # With the paper's radius exactly the paper's estimate, in all d^2 dimensions.
        return RidgeLearner(lam=self.lam, symmetric=self.radius == "symmetric", delta=self.delta)

    @property
    def index(self) -> Optimistic:  # max over theta in C_{t-1} of <phi, theta>
        return Optimistic(self.radius)

    @cached_property
    def search(self) -> CutSearch:  # phi = m12 z_xx' + m21 z_x'x + m1 z_xx + m2 z_x'x'
        return CutSearch(self.cut)
