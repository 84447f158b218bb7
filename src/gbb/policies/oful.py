"""Algorithm 1 of the paper: OFUL for graphical bilinear bandits."""

from __future__ import annotations

from gbb.policies.improved_oful import ImprovedOFUL


class OFUL(ImprovedOFUL):
    """The couple that pays most along one edge, by optimism (the paper's Algorithm 1).

    Plays ``argmax over (x, x'), theta in C_t of <z_xx' + z_x'x, theta>`` over the cut. Theorem 3.2:
    no regret against ``alpha_1 = (1 + gamma) / 2`` times the optimum. Its settings are those of
    :class:`~gbb.policies.ImprovedOFUL`.
    """

    guarantee = "alpha_1"
    couple_weights = (1.0, 1.0, 0.0, 0.0)
