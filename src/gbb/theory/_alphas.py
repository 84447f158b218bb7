"""gamma, Delta and the alphas of Theorems 3.2 and 4.1, and the assumptions that they rest on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb.cuts import Cut, check_cut
from gbb.environment import Environment
from gbb.optimum import Optimum
from gbb.problem import Problem

TIE = 1e-12
"""Couples within this share of the largest entry are tied for the best along one edge."""

ROUNDING = 1e-9
"""Share of its limit by which a value may exceed it through rounding."""


class CoupleGain(NamedTuple):
    """What Algorithm 3 gains over Algorithm 1 by counting the edges inside V1 and V2.

    Attributes
    ----------
    best_couple
        ``(x*, x*')``, with the largest reward along one edge, both directions together.
    best_couple_over_cut
        ``(x~*, x~*')``, with the largest reward over the whole cut graph.
    Delta
        The difference of their rewards over the whole cut graph, >= 0.
    """

    best_couple: tuple[int, int]
    best_couple_over_cut: tuple[int, int]
    Delta: float


class Assumption(NamedTuple):
    """One assumption of the paper, with its value and limit on an instance."""

    rule: str
    value: float
    limit: float
    holds: bool


def gamma(env: Environment, optimum: Optimum) -> float:
    """Return ``min_x <z_xx, theta*> / (optimal reward / m)`` of Theorem 3.2.

    NaN unless the optimal reward is positive.
    """
    if optimum.value <= 0:
        return float("nan")
    return float(np.diag(env.reward_table).min() * env.problem.m / optimum.value)


def couple_gain(env: Environment, cut: Cut) -> CoupleGain:
    """Return Delta of Theorem 4.1 and the two couples that it compares."""
    R = env.reward_table
    K = len(R)
    # m12 R_ab + m21 R_ba + m1 R_aa + m2 R_bb over the cut, R_ab + R_ba along one edge (equation 4).
    over_cut, along_edge = cut.couple_values(R), R + R.T
    # (x*, x*') and (x*', x*) always tie along an edge but not over a cut with m1 != m2. The proof of
    # Theorem 4.1 holds for any couple that ties: we take the largest Delta, hence the largest alpha_2.
    ties = along_edge >= along_edge.max() - TIE * np.abs(along_edge).max()
    best = divmod(int(np.argmin(np.where(ties, over_cut, np.inf))), K)
    best_over_cut = divmod(int(np.argmax(over_cut)), K)
    return CoupleGain(best, best_over_cut, float(over_cut[best_over_cut] - over_cut[best]))


def alpha_1(gamma: float) -> float:
    """Return ``(1 + gamma) / 2``, the alpha of Theorem 3.2 for Algorithm 1.

    It requires a cut of at least half of the edges, as Algorithm 2 finds; :func:`alpha_1_sharp`
    holds for every cut.
    """
    return (1.0 + gamma) / 2.0


def alpha_1_sharp(gamma: float, cut: Cut) -> float:
    """Return Algorithm 1's alpha for the cut at hand, ``rho + (1 - rho) gamma``.

    The proof of Theorem 3.2 bounds the uncut edges by m/2. Counting them gives this, which equals
    ``(1 + gamma) / 2`` if exactly half of the edges are cut and is larger if more are (and gamma <= 1).
    """
    return cut.rho + (1.0 - cut.rho) * gamma


def alpha_2(gamma: float, epsilon: float, cut: Cut) -> float:
    """Return ``1 - [(m1 + m2)/m (1 - gamma) - epsilon]``, the alpha of Theorem 4.1."""
    return 1.0 - (cut.uncut * (1.0 - gamma) - epsilon)


def check_assumptions(env: Environment) -> list[Assumption]:
    """Compare an instance with each assumption of the paper (Section 2)."""
    problem, R = env.problem, env.reward_table
    lowest, norm = float(R.min()), float(np.linalg.norm(env.M_star))

    def bounded(rule: str, value: float, limit: float) -> Assumption:
        return Assumption(rule, value, limit, value <= limit + ROUNDING * max(1.0, abs(limit)))

    return [
        # ||vec(x x'^T)|| = ||x|| ||x'||, so the longest edge-arm has the longest arm twice.
        bounded("edge-arm norms are at most L", float((problem.arms**2).sum(1).max()), problem.L),
        bounded("the Frobenius norm of M* is at most S", norm, problem.S),
        Assumption("expected rewards are at least 0", lowest, 0.0, lowest >= -ROUNDING),
        bounded("expected rewards are at most L S", float(R.max()), problem.L * problem.S),
    ]


def check_has_one_matrix(problem: Problem) -> None:
    """Raise unless the paper's theorems apply to the problem of ``env``."""
    # Rewards per link are covered too: the alphas depend on the rewards of allocations alone, and any
    # valid confidence set reaches them, though with other constants than regret_bound's.
    if not problem.has_one_matrix:
        rule = "be of the paper's problem: one matrix, rewards per edge or link, every arm allowed"
        cure = "" if problem.contexts is None else "Take a round's: env.at(context)."
        raise checks.input_error("env", rule, repr(problem), cure)


def check_covered(env: Environment, cut: Cut | None = None) -> None:
    """Raise unless ``env`` is an instance that the theorems cover and ``cut`` a cut of its graph."""
    if not isinstance(env, Environment):
        raise checks.input_error("env", "be a gbb.Environment", type(env).__name__)
    check_has_one_matrix(env.problem)
    if cut is not None:
        check_cut(env.problem.graph, cut)
