"""Radii of the confidence set ``C_t = {theta : ||theta - theta_hat||_A <= radius}``.

The paper writes the norm with ``A^-1``; its proof uses A, and so does everything here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.record import Counts, Record
from gbb.learning.ridge import Ridge
from gbb.problem import Problem

Schedule = Callable[[Problem, FloatArray, float, float], FloatArray]
"""``schedule(problem, rounds, lam, delta)``: radii that depend on the number of rounds alone."""


def paper(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """``sigma sqrt(d^2 log((1 + t m L^2 / lam) / delta)) + sqrt(lam) S`` (the paper's Section 3).

    With several types d^2 is the number of parameters and S the norm of all matrices together; with
    weights or sums of edges m is :attr:`gbb.Problem.gram_growth_per_round`, which bounds what a round
    adds to A. With a single parameter (d = 1, one type) it is a little too small for its delta;
    ``complete`` is not.
    """
    grown = np.log((1.0 + rounds * (problem.gram_growth_per_round * problem.L**2 / lam)) / delta)
    radii: FloatArray = (
        problem.sigma * np.sqrt(problem.parameters * grown) + np.sqrt(lam) * problem.norm
    )
    return radii


def released(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """The released code's: ``d^2`` squared again, no m, S doubled. For parity only."""
    grown = np.log((1.0 + rounds * (problem.L**2 / lam)) / delta)
    radii: FloatArray = (
        problem.sigma * np.sqrt(problem.d**4 * grown) + np.sqrt(lam) * 2.0 * problem.S
    )
    return radii


SCHEDULES: dict[str, Schedule] = {"paper": paper, "released": released}

RADII = (*SCHEDULES, "symmetric", "complete")
"""The radii by name; ``symmetric`` and ``complete`` follow the record instead of the rounds."""


def self_normalised(sigma: float, log_det: float, delta: float) -> float:
    """``sigma sqrt(log det(A / lam) + 2 log(1 / delta))``.

    With probability 1 - delta the sum of noise times edge-arms, ``s = sum z noise``, never has a larger
    ``A^-1``-norm (Abbasi-Yadkori, Pal and Szepesvari 2011, Theorem 1). That needs neither all edges of a
    round nor both directions of a link. Weights w <= 1 that stay what they are leave it valid (``sum w^2
    z z' <= sum w z z'``); whenever they change it starts anew, with a delta of its own:
    :func:`delta_after`.
    """
    return sigma * math.sqrt(max(log_det, 0.0) - 2.0 * math.log(delta))


def delta_after(forgettings: int, delta: float) -> float:
    """The delta of what is said after something was forgotten so many times, by whoever may forget.

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
    """``scale sigma sqrt(log det(A / lam) + 2 log(1 / delta)) + sqrt(lam) S`` of an estimate.

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
    bias = math.sqrt(ridge.lam) * ridge.problem.norm
    if shrinking:
        bias *= math.sqrt(ridge.lam / ridge.smallest)
    return self_normalised(scale * ridge.problem.sigma, ridge.log_det, delta) + bias


class Errors(NamedTuple):
    """How far off an estimate can be along a vector u, by two bounds; the smaller is taken.

    Attributes
    ----------
    noise, bias
        ``|<u, theta_hat - theta*>| <= noise ||u||_{A^-1} + bias ||A^-1 u||``.
    radius
        ``||theta_hat - theta*||_A <= radius``, so that it is at most ``radius ||u||_{A^-1}`` as well.
    """

    noise: float
    bias: float
    radius: float

    def along(self, width: Any, shrunk: Any) -> Any:
        """The smaller bound, where ``||u||_{A^-1}`` is ``width`` and ``||A^-1 u||`` is ``shrunk``."""
        return np.minimum(self.noise * width + self.bias * shrunk, self.radius * width)


def errors(ridge: Ridge, delta: float) -> Errors:
    """Both bounds on the error of an estimate: all of it holds, at all times, with 1 - delta.

    With ``s = sum z noise`` and ``xi^2 = sigma^2 (log det(A / lam) + 2 log(1 / delta))`` the bounds
    along a vector u are

    - ``xi ||u||_{A^-1} + lam S ||A^-1 u||``. The error is ``A^-1 s - lam A^-1 theta*``; its first
      part is at most ``xi ||u||_{A^-1}`` where ``||s||_{A^-1} <= xi``, its second ``lam S ||A^-1
      u||`` always, which is never more than the ``sqrt(lam) S ||u||_{A^-1}`` of
      :func:`confidence_radius`;
    - ``sqrt(xi^2 + lam S^2) ||u||_{A^-1}`` (Flynn, Reeb, Kandemir and Peters 2023, "Improved algorithms
      for stochastic linear bandits using tail bounds for martingale mixtures").

    Notes
    -----
    For every theta, ``exp((<s, theta - theta*> - ||theta - theta*||_G^2 / 2) /
    sigma^2)`` with ``G = A - lam I`` is a supermartingale that starts at 1, and so is its mean over
    any law of theta. Over ``N(theta*, sigma^2 / lam I)`` and over ``N(0, sigma^2 / lam I)`` the
    logarithms of the means are

        ``(||s||_{A^-1}^2 / sigma^2 - log det(A / lam)) / 2`` and
        ``((||theta_hat - theta*||_A^2 - lam ||theta*||^2) / sigma^2 - log det(A / lam)) / 2``,

    which stay below ``log(1 / delta)`` with probability 1 - delta each (Ville's inequality): the first
    is what the first bound needs, the second is the second bound. These are two events, and neither
    implies the other. So each has delta / 2; where both hold, so does the smaller bound, for every u. In
    return for ``2 log 2`` more in ``xi^2 / sigma^2``, it is below ``xi + sqrt(lam) S`` unless
    ``sqrt(lam) S`` is less than ``0.7 sigma^2 / xi``. Weights of at most 1 that stay what they are leave
    both valid, as they do :func:`self_normalised`.

    The second bound is about all matrices; the first about those in play. What rounding can do is added.
    """
    problem = ridge.problem
    noise = self_normalised(problem.sigma, ridge.log_det, delta / 2.0)
    everything = math.sqrt(ridge.lam * problem.types) * problem.S
    return Errors(
        noise=noise + ridge.rounding,
        bias=ridge.lam * problem.norm,
        radius=math.hypot(noise, everything) + ridge.rounding,
    )


def complete(problem: Problem, log_det: float, delta: float, lam: float) -> float:
    """``sigma sqrt(log det(A / lam) + 2 log(1 / delta)) + sqrt(lam) S`` with all of A.

    It holds at all times at once for a record to which rounds are only added; one that forgets needs
    :func:`delta_after`.
    """
    return self_normalised(problem.sigma, log_det, delta) + math.sqrt(lam) * problem.norm


def symmetric(problem: Problem, N: Counts, lam: float, delta: float) -> float:
    """The same on symmetric parts, from the table N of a round's counts."""
    return radius("symmetric", problem, N, 0, lam=lam, delta=delta)


def radius(
    name: str, problem: Problem, N: Counts, rounds: int, *, lam: float, delta: float
) -> float:
    """The radius called ``name`` (one of :data:`RADII`) after ``rounds`` rounds that played N."""
    if name in SCHEDULES:
        return float(SCHEDULES[name](problem, np.array(float(rounds)), lam, delta))
    record = Record(N, np.zeros(N.shape))
    return confidence_radius(Ridge(problem, record, lam, symmetric=name == "symmetric"), delta)


def default_radius(problem: Problem) -> str:
    """The smallest radius that is valid for ``problem``."""
    return "symmetric" if problem.symmetric else "complete"


def check_radius(problem: Problem, radius: str | Schedule) -> str | Schedule:
    """``radius``, if it is a schedule or the name of a radius that is valid for this problem.

    ``default`` becomes the smallest valid one.
    """
    if callable(radius):
        return radius
    if radius == "default":
        return default_radius(problem)
    checks.choice("radius", radius, RADII)
    if radius == "symmetric" and not problem.symmetric:
        rule = "be 'paper' or 'complete' unless links are seen one by one, both directions alike"
        raise checks.input_error("radius", rule, repr(radius), "Pass radius='complete'.")
    if radius == "released" and not problem.is_paper_problem:
        rule = "be 'paper' or 'complete' beyond the paper's problem"
        raise checks.input_error("radius", rule, "'released'")
    return radius
