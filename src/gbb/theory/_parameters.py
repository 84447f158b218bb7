"""gamma, Delta, epsilon and the two alphas (the paper's Theorems 3.2 and 4.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.optimum import Optimum


class CoupleGain(NamedTuple):
    """What counting the unwanted edges gains.

    ``best_couple`` is ``(x*, x*')``, best along one edge; ``best_couple_over_cut`` is
    ``(x~*, x~*')``, best over the whole cut graph; ``Delta`` is the difference of their values over
    the cut graph.
    """

    best_couple: tuple[int, int]
    best_couple_over_cut: tuple[int, int]
    Delta: float


def gamma(env: Environment, optimum: Optimum) -> float:
    """``min_x <z_xx, theta*> / (optimal reward / m)``; NaN unless the optimal reward is positive."""
    if optimum.value <= 0:
        return float("nan")
    return float(np.diag(env.reward_table).min() * env.problem.m / optimum.value)


def couple_gain(env: Environment, cut: Cut) -> CoupleGain:
    """Delta and the two couples it compares.

    Both orders of ``(x*, x*')`` attain the maximum along one edge, and the proof of Theorem 4.1 holds
    for either; the one with the larger Delta is taken, which gives the larger alpha_2.
    """
    R = env.reward_table
    K = len(R)
    values = cut.couple_values(R)
    a, b = divmod(int(np.argmax(R + R.T)), K)
    star = (a, b) if values[a, b] <= values[b, a] else (b, a)
    tilde = divmod(int(np.argmax(values)), K)
    return CoupleGain(star, tilde, float(values[tilde] - values[star]))


def alpha_1(gamma: float) -> float:
    """Algorithm 1's alpha as the paper states it: ``(1 + gamma) / 2``."""
    return (1.0 + gamma) / 2.0


def alpha_1_sharp(gamma: float, cut: Cut) -> float:
    """Algorithm 1's alpha for the cut at hand: ``rho + (1 - rho) gamma``.

    The paper's proof bounds the uncut edges by m/2; counting them gives this, which is
    ``(1 + gamma) / 2`` when exactly half of the edges are cut and larger otherwise (if gamma <= 1).
    """
    return cut.rho + (1.0 - cut.rho) * gamma


def alpha_2(gamma: float, epsilon: float, cut: Cut) -> float:
    """The improved algorithm's alpha: ``1 - [(m1 + m2)/m (1 - gamma) - epsilon]``."""
    return 1.0 - (cut.uncut * (1.0 - gamma) - epsilon)
