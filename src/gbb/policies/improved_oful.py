"""Algorithm 3 of the paper: the improved OFUL, which counts the unwanted edges."""

from __future__ import annotations

from typing import ClassVar

from gbb.policies._couple import CouplePolicy, Weights


class ImprovedOFUL(CouplePolicy):
    """The couple that pays most over the whole cut graph, by optimism (the paper's Algorithm 3).

    Plays ``argmax <m12 z_xx' + m21 z_x'x + m1 z_xx + m2 z_x'x', theta>`` over couples and theta in
    C_t. Theorem 4.1: no regret against ``alpha_2 = 1 - [(m1 + m2)/m (1 - gamma) - epsilon]`` times
    the optimum.
    """

    guarantee: ClassVar[str | None] = "alpha_2"

    @property
    def weights(self) -> Weights:
        m12, m21, m1, m2 = self.cut.weights
        return float(m12), float(m21), float(m1), float(m2)
