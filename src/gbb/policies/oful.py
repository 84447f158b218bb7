"""Algorithm 1 of the paper: OFUL for graphical bilinear bandits."""

from __future__ import annotations

from typing import ClassVar

from gbb.policies._couple import CouplePolicy, Weights


class OFUL(CouplePolicy):
    """The couple that pays most along one edge, by optimism (the paper's Algorithm 1).

    Plays ``argmax over (x, x'), theta in C_t of <z_xx' + z_x'x, theta>`` over the cut. Theorem 3.2:
    no regret against ``alpha_1 = (1 + gamma) / 2`` times the optimum.
    """

    guarantee: ClassVar[str | None] = "alpha_1"

    @property
    def weights(self) -> Weights:
        return 1.0, 1.0, 0.0, 0.0
