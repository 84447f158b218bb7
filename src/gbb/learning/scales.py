"""Estimates of sigma and S from the record, if they are unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray
from gbb.learning.coordinates import coordinates
from gbb.learning.record import AnyRecord
from gbb.learning.ridge import EPS, ROUNDINGS
from gbb.problem import LARGEST, SMALLEST, Problem

LAMS = np.logspace(-12.0, 4.0, 97)
"""What the noise's variance over the prior's may be, for edge-arms of norm 1."""

MAX_RATIO = 3.0
"""The noise is said to be at most this many times its estimate while no smaller bound is proven."""

NORMS = 2.0
"""M* is said to have at most this many times its estimated norm."""

FOURTH = 6.0
"""Twice the largest fourth moment, 3 sigma^4, of noise whose variance is its proxy."""


class Scales(NamedTuple):
    """What a record says of the noise and of the matrices.

    Attributes
    ----------
    sigma, S
        What is expected: the noise's standard deviation; d times that of a matrix's entries.
    sigma_max, S_max
        What both are at most, as :func:`estimate_scales` says.
    """

    sigma: float
    S: float
    sigma_max: float
    S_max: float


UNSEEN = Scales(1.0, 1.0, 1.0, 1.0)
"""Before the first round, in which all scales choose alike."""


def estimate_scales(problem: Problem, record: AnyRecord, delta: float) -> Scales:
    """Estimate noise and norm from ``G = sum z z'``, ``b = sum y z``, ``sum y^2`` and the number N.

    *Expected.* Under the prior ``theta ~ N(0, tau^2 I)`` and noise N(0, sigma^2) the evidence of the
    record is ``sigma^-N det(I + G / lam)^(-1/2) exp(-e(lam) / (2 sigma^2))``, with ``lam = (sigma /
    tau)^2`` and ``e(lam) = sum y^2 - b'(G + lam I)^-1 b``. With a half-Cauchy prior on ``tau L / sigma``
    and a flat one on log sigma, ``sigma`` and ``S = d tau`` are the geometric means over the posterior
    of lam, with ``sigma^2 = e(lam) / N`` (empirical Bayes; MacKay 1992, "Bayesian interpolation"; Gelman
    2006 for the prior). Declared values are kept.

    *At most.* Let the noise have its variance as its proxy, as Gaussian, uniform and symmetric yes/no
    noise do. Then ``E noise^4 <= 3 sigma^4``, and with ``exp(-x) <= 1 - x + x^2 / 2`` for x >= 0

        ``sum noise^2 >= sigma^2 (N - sqrt(6 N log(1 / p)))``

    except with probability p, however the arms were chosen, since the noise does not depend on
    them. With ``s = sum z noise`` least squares leave ``e(0) = sum y^2 - b'G^+ b = sum noise^2 -
    ||s||^2`` in the norm of ``G^+``. With mu the least eigenvalue of G above 0 and c = L^2 the last
    is at most ``1 + c / mu`` times ``||s||^2`` in the norm of ``(G + c I)^-1``, which the
    self-normalised bound (:func:`gbb.learning.radius.self_normalised`) keeps below ``xi^2 = sigma^2
    (log det(I + G / c) + 2 log(1 / p))``, at all times. With ``p = delta / 2`` in the latter and
    ``delta / (2 N (N + 1))`` in the former

        ``sigma^2 <= e(0) / (N - sqrt(6 N log(2 N (N + 1) / delta)) - (1 + c / mu) xi^2 / sigma^2)``

    for all N at once, with probability 1 - delta. With orthogonal arms e(0) is what rewards of one
    pair of arms differ by, and asks nothing of M*. Until the bound is below three times the
    expected sigma, that is said in its place, and nothing is promised.

    ``S_max`` is twice the root of the largest ``E ||M||^2`` of a matrix under the posterior,
    ``||M_hat||^2 + sigma^2 tr A^-1``. Directions never seen cannot be bounded; but it is at least
    ``||M*||`` where ``||theta_hat - theta*|| <= ||theta*|| / 2``, as is the case once every
    direction was played often enough.
    """
    n, total = record.count, record.squares
    if not (n > SMALLEST and total > SMALLEST**2):  # or they were not kept
        return UNSEEN
    blocks = _spectra(problem, record)
    seen = np.concatenate([e > 0.0 for e, _ in blocks])
    e, c = (np.concatenate(values)[seen] for values in zip(*blocks, strict=True))
    # e(0) is a difference, which rounding may leave at 0 or below.
    rounding = ROUNDINGS * problem.parameters * EPS * total
    residual = max(total - float((c**2 / e).sum()), 0.0) + rounding
    sigma, lam = _expect(problem, n, residual, e, c)
    squares = [((c / (e + lam)) ** 2 + sigma**2 / (e + lam)).sum() for e, c in blocks]
    # The bound on sigma^2 of the docstring, with the self-normalised bound in ``explained``.
    c2, chance = problem.L**2, math.log(2.0 / delta)
    explained = (1.0 + c2 / float(e.min())) * (float(np.log1p(e / c2).sum()) + 2.0 * chance)
    often = max(n, 1.0)  # a discounted record may have less
    spread = math.sqrt(FOURTH * n * (chance + math.log(often * (often + 1.0))))
    freedom = n - spread - explained
    bound = math.sqrt(residual / freedom) if freedom > 0.0 else math.inf
    sigma_max = min(bound, MAX_RATIO * sigma)
    entry = sigma / math.sqrt(lam)
    norms = (entry * problem.d, NORMS * math.sqrt(max(squares)))
    S, S_max = (min(max(norm, SMALLEST), LARGEST) for norm in norms)
    return Scales(sigma, S, sigma_max, S_max)


def _spectra(problem: Problem, record: AnyRecord) -> list[tuple[FloatArray, FloatArray]]:
    """Return eigenvalues of each block of G, 0 where indistinguishable, and b along its vectors."""
    if record.tables is None:
        return [_spectrum(record.gram(problem), record.moment(problem))]
    basis = coordinates(problem, symmetric=problem.symmetric_only)
    features = basis.features
    blocks = []
    for counts, sums in zip(*record.tables, strict=True):
        N, Y = map(basis.sum_by_regressor, (counts, sums))
        if basis.diagonal:
            norms = np.diag(features)
            blocks.append((N * norms**2, Y * norms))
        else:
            blocks.append(_spectrum((features.T * N) @ features, features.T @ Y))
    return blocks


def _spectrum(gram: FloatArray, moment: FloatArray) -> tuple[FloatArray, FloatArray]:
    e, V = np.linalg.eigh(gram)
    seen = e > len(e) * EPS * e.max(initial=0.0)
    return np.where(seen, e, 0.0), np.where(seen, moment @ V, 0.0)


def _expect(
    problem: Problem, n: float, residual: float, e: FloatArray, c: FloatArray
) -> tuple[float, float]:
    """Return sigma and ``lam = (sigma / tau)^2``, on average over the posterior of lam."""
    lams = (LAMS * problem.L**2)[:, None]
    s = residual + (c**2 * (lams / (e + lams)) / e).sum(axis=1)
    declared = None if "sigma" in problem.unknown else problem.sigma
    # The logarithm of the evidence, integrated over a flat log sigma unless sigma is declared.
    fit = n * np.log(s) if not declared else s / declared**2
    ratio = np.sqrt(1.0 / LAMS)  # tau L / sigma
    chance = np.log(ratio / (1.0 + ratio**2)) - (fit + np.log1p(e / lams).sum(axis=1)) / 2.0
    weights = np.exp(chance - chance.max())  # the largest is 1, so nothing overflows
    weights /= weights.sum()
    lam = math.exp(float(weights @ np.log(lams[:, 0])))
    return declared or math.exp(float(weights @ np.log(s / n)) / 2.0), lam


def estimation_rounds(rounds: int) -> Iterator[int]:
    """Yield the rounds, up to ``rounds``, after which scales are estimated: 1 to 4, then more rarely."""
    t = 1
    while t <= rounds:
        yield t
        t += max(1, t // 2)  # after 4: 6, 9, 13, ... The engine estimates after the same rounds.


def needs_estimate(before: float, after: float) -> bool:
    """Return whether scales are to be estimated once ``before`` rounds have become ``after``."""
    return any(before < t for t in estimation_rounds(math.floor(after)))
