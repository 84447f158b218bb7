"""Drift: do recent rounds agree with the rounds before them?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from gbb._support.checks import FloatArray
from gbb.diagnostics._statistics import MIN_FREEDOM
from gbb.learning import AnyRecord
from gbb.problem import Problem

STEP_ERROR = 3.0
"""The squared relative error of a variance from the steps between normal numbers, times their number."""

ROUNDING = 1e-9
"""What is less than this share of something is its rounding."""


class Drift(NamedTuple):
    """RecentRounds rounds against those before them.

    Attributes
    ----------
    statistic, freedom
        The squared distance of the two in standard errors, and its degrees of freedom.
    sigma
        The noise that they are measured by: the declared one, or that of the recent rewards if it is
        larger, also because the rewards of a round share some of it.
    p
        The probability of such a distance if nothing has changed.
    """

    statistic: float
    freedom: int
    sigma: float
    p: float


def find_drift(
    problem: Problem,
    everything: AnyRecord,
    recent: AnyRecord,
    *,
    squares: float,
    count: int,
    by_round: float = 0.0,
    rounds: int = 0,
) -> Drift | None:
    """Compare recent rounds with all before them; None if they have nothing in common.

    Rewards per edge are compared by type and pair of arms, whether or not the model fits: a pair's two
    means differ by noise of the variance ``sigma^2 (1/N_recent + 1/N_before)``, and the squares of all
    pairs seen in both add up to a chi-squared number. Rewards in sums are compared by the fit (Chow's
    test): what two fits explain beyond one, with as many degrees of freedom as directions that both
    have seen. Discounted rounds have at most this variance.

    Parameters
    ----------
    problem
        The problem of all rounds.
    everything, recent
        The record of all rounds, and of the recent ones among them.
    squares, count
        The sum of the squares of the recent rewards, and their number.
    by_round, rounds
        The variance of a recent round's sum of rewards, and from how many rounds it is known: if it
        is clearly more than that of so many rewards, they share some of their noise.
    """
    with np.errstate(all="ignore"):
        compare = _compare_moments if recent.tables is None else _compare_tables
        distance, freedom, explained, used = compare(problem, everything, recent)
        if freedom < 1:
            return None
        # Noise is at least what the means of the recent rewards leave unexplained.
        noise = (squares - explained) / (count - used) if count - used >= MIN_FREEDOM else 0.0
        variance = max(0.0 if "sigma" in problem.unknown else problem.sigma**2, noise)
        independent = variance * recent.weight(problem) / max(rounds, 1)
        error = np.sqrt(STEP_ERROR / max(rounds, 1))
        # Rewards of a round that share noise vary more in sum than independent ones.
        if by_round > (1.0 + 3.0 * error) * independent:
            variance *= (1.0 + 2.0 * error) * by_round / independent
        sigma = float(np.sqrt(variance))
        statistic = distance / sigma**2 if sigma > 0.0 else np.nan
    if not np.isfinite(statistic):
        return None
    return Drift(statistic, freedom, sigma, float(chdtrc(freedom, max(statistic, 0.0))))


Distance = tuple[float, int, float, int]
"""The squared distance of two records in units of the noise's variance, and its degrees of freedom; what
the means (or the fit) of the recent rounds explain of their squares, and how many they are."""


def _compare_tables(problem: Problem, everything: AnyRecord, recent: AnyRecord) -> Distance:
    """Compare the means of every pair of arms."""
    tables = np.array([everything.tables, recent.tables], dtype=np.float64)
    if problem.symmetric_only:  # (a, b) and (b, a) are one number
        tables = np.triu(tables) + np.triu(tables.swapaxes(-1, -2), 1)
    (N, Y), (n, y) = tables
    seen, before = n > 0.0, N - n
    both = seen & (before > ROUNDING * N)
    # By differences of means: Chow's difference of squares would cancel where rewards are far from 0.
    difference = y[both] / n[both] - (Y - y)[both] / before[both]
    squared = float((difference**2 / (1.0 / n[both] + 1.0 / before[both])).sum())
    explained = float((y[seen] ** 2 / n[seen]).sum())
    return squared, int(both.sum()), explained, int(seen.sum())


def _compare_moments(problem: Problem, everything: AnyRecord, recent: AnyRecord) -> Distance:
    """Compare the fits to sums over edges."""
    G, b = everything.gram(problem), everything.moment(problem)
    g, c = recent.gram(problem), recent.moment(problem)
    recently, before, jointly = _explain(g, c), _explain(G - g, b - c), _explain(G, b)
    # Chow's test: the squares and directions that two fits explain beyond one.
    squared, freedom = (r + e - j for r, e, j in zip(recently, before, jointly, strict=True))
    return squared, int(freedom), *recently


def _explain(gram: FloatArray, moment: FloatArray) -> tuple[float, int]:
    """Return the sum of squares that a fit explains, and its number of directions."""
    if not np.isfinite(gram).all():
        return np.nan, 0
    e, V = np.linalg.eigh(gram)
    observed = e > ROUNDING * max(float(e.max(initial=0.0)), 0.0)
    along = moment @ V[:, observed]
    return float((along**2 / e[observed]).sum()), int(observed.sum())
