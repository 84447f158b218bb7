"""gamma, Delta, epsilon and the two alphas (the paper's Theorems 3.2 and 4.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.optimum import Optimum

TIE = 1e-12
"""Couples within this share of the largest entry pay the same along one edge."""


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

    Several couples may attain the maximum along one edge, as both orders of ``(x*, x*')`` do, and the
    proof of Theorem 4.1 holds for each; the one with the largest Delta is taken, which gives the largest
    alpha_2.
    """
    R = env.reward_table
    K = len(R)
    values, along = cut.couple_values(R), R + R.T
    ties = along >= along.max() - TIE * np.abs(along).max()
    star = divmod(int(np.argmin(np.where(ties, values, np.inf))), K)
    tilde = divmod(int(np.argmax(values)), K)
    return CoupleGain(star, tilde, float(values[tilde] - values[star]))


def alpha_1(gamma: float) -> float:
    """Algorithm 1's alpha as the paper states it: ``(1 + gamma) / 2``.

    For cuts with at least half of the edges, as the paper's have; :func:`alpha_1_sharp` is for all.
    """
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
