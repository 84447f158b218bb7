"""Algorithm 1 of the paper: OFUL for graphical bilinear bandits."""

from __future__ import annotations

from functools import cached_property

from gbb.policies._search import CutSearch
from gbb.policies.improved_oful import ImprovedOFUL


class OFUL(ImprovedOFUL):
    """The couple of arms with the largest optimistic reward on one edge of the cut.

    In round t, over all couples (x, x') and all theta in the confidence set C_{t-1},

        ``(x_t, x_t') = argmax <z_xx' + z_x'x, theta>``;

    the agents of V1 play x_t and those of V2 play x_t'. Theorem 3.2: no regret against
    ``alpha_1 = (1 + gamma) / 2`` times the optimum. Its settings are those of :class:`ImprovedOFUL`.
    """

    theorem = "alpha_1"

    @cached_property
    def search(self) -> CutSearch:  # phi = z_xx' + z_x'x
        return CutSearch(self.cut, weights=(1.0, 1.0, 0.0, 0.0))
