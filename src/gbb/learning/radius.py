"""Radii of the confidence set ``C_t = {theta : ||theta - theta_hat||_A <= radius}``.

The paper writes the norm with ``A^-1``; its proof uses A, and so does everything here.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.ridge import Ridge
from gbb.problem import Problem

Radius = Callable[[Problem, FloatArray, float, float], FloatArray]
"""``radius(problem, rounds, lam, delta)``: radii that depend on the number of rounds alone."""


def paper(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """Return ``sigma sqrt(d^2 log((1 + t m L^2 / lam) / delta)) + sqrt(lam) S`` (the paper's Section 3).

    With several types d^2 is the number of parameters and S the norm of all matrices together; with
    weights or sums of edges m is :attr:`gbb.Problem.gram_growth_per_round`, which bounds what a round
    adds to A. With a single parameter (d = 1, one type) it is a little too small for its delta;
    ``complete`` is not.
    """
    grown = np.log((1.0 + rounds * (problem.gram_growth_per_round * problem.L**2 / lam)) / delta)
    noise = problem.sigma * np.sqrt(problem.parameters * grown)
    return np.asarray(noise + np.sqrt(lam) * problem.norm)


def released(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """Return the released code's radius: ``d^2`` squared again, no m, S doubled. For parity only."""
    grown = np.log((1.0 + rounds * (problem.L**2 / lam)) / delta)
    noise = problem.sigma * np.sqrt(problem.d**4 * grown)
    return np.asarray(noise + np.sqrt(lam) * 2.0 * problem.S)


RADII_BY_ROUND: dict[str, Radius] = {"paper": paper, "released": released}

RADII = (*RADII_BY_ROUND, "symmetric", "complete")
"""The radii by name; ``symmetric`` and ``complete`` follow the record instead of the rounds."""


def self_normalised(sigma: float, log_det: float, delta: float) -> float:
    """Return ``sigma sqrt(log det(A / lam) + 2 log(1 / delta))``.

    With probability 1 - delta the sum of noise times edge-arms, ``s = sum z noise``, never has a larger
    ``A^-1``-norm (Abbasi-Yadkori, Pal and Szepesvari 2011, Theorem 1). That needs neither all edges of a
    round nor both directions of a link. Weights w <= 1 that stay what they are leave it valid (``sum w^2
    z z' <= sum w z z'``); whenever they change it starts anew, with a delta of its own:
    :func:`delta_after`.
    """
    # Before the first round, rounding may leave log det(A / lam) a little below 0.
    return sigma * math.sqrt(max(log_det, 0.0) - 2.0 * math.log(delta))


def delta_after(forgettings: int, delta: float) -> float:
    """Return the delta left for a confidence set after so many discounts or dropped rounds.

    Each time old rounds are discounted or dropped, the sum of noise is another one, and the bound on it
    may fail anew. With ``delta / ((k + 1) (k + 2))`` after k times, k = 0, 1, 2, ..., all of them fail
    together with probability ``delta`` at most, those after the first time with ``delta / 2``. Who never
    forgets says everything with ``delta`` itself.

    It must not have been decided by the rewards when and by how much to forget.
    """
    return delta / ((forgettings + 1) * (forgettings + 2))


def confidence_radius(
    ridge: Ridge, delta: float, *, shrinking: bool = False, scale: float = 1.0
) -> float:
    """Return ``scale sigma sqrt(log det(A / lam) + 2 log(1 / delta)) + sqrt(lam) S`` of an estimate.

    On symmetric parts this is the ``symmetric`` radius: the responses are ``(y_ij + y_ji) / sqrt 2``,
    one per link, whose features live in d (d + 1) / 2 dimensions; or the links' own rewards, where these
    are seen. On everything it is ``complete``.

    Parameters
    ----------
    ridge
        The estimate.
    delta
        The probability of a miss, at most.
    shrinking
        Charge ``lam S / sqrt(smallest eigenvalue of A)`` for the regulariser's bias, which is no more
        than ``sqrt(lam) S`` and vanishes as everything gets played.
    scale
        The noise of a round is ``scale sigma``-sub-Gaussian in every direction.
    """
    # ||lam theta*||_{A^-1}, which is lam S over the root of the smallest eigenvalue of A, at most.
    bias = math.sqrt(ridge.lam) * ridge.problem.norm
    if shrinking:
        bias *= math.sqrt(ridge.lam / ridge.smallest)
    return self_normalised(scale * ridge.problem.sigma, ridge.log_det, delta) + bias


def default_radius(problem: Problem) -> str:
    """Return the name of the smallest radius that is valid for ``problem``."""
    return "symmetric" if problem.symmetric else "complete"


def check_radius(problem: Problem, radius: str | Radius) -> str | Radius:
    """Return ``radius`` if it is a function, or the name of a radius that is valid for this problem.

    ``default`` becomes the smallest valid one.
    """
    if callable(radius):
        return radius
    if radius == "default":
        return default_radius(problem)
    checks.choice("radius", radius, (*RADII, "default"))
    if radius == "symmetric" and not problem.symmetric:
        rule = "be 'paper' or 'complete' unless links are seen one by one, both directions alike"
        raise checks.input_error("radius", rule, repr(radius), "Pass radius='complete'.")
    if radius == "released" and not problem.is_paper_problem:
        rule = "be 'paper' or 'complete' beyond the paper's problem"
        raise checks.input_error("radius", rule, "'released'")
    return radius
