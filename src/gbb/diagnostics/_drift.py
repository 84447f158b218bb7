"""Drift: whether recent rounds pay what the rounds before them say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from gbb._support.checks import FloatArray
from gbb.learning import AnyRecord
from gbb.learning.record import Counts
from gbb.problem import Problem

ENOUGH = 50
"""Degrees of freedom below which the spread of the recent rewards is not an estimate of the noise."""

STEPS = 3.0
"""The squared relative error of a variance from the steps between normal numbers, times their number."""

SHARE = 1e-9
"""What is less than this share of something is its rounding."""


class Drift(NamedTuple):
    """Recent rounds against those before them.

    Attributes
    ----------
    statistic, freedom
        The squared distance of the two in standard errors, and in how many directions.
    sigma
        The noise that they are measured by: the declared one, or that of the recent rewards where it
        is larger, also because the rewards of a round share some of it.
    p
        The probability of such a distance where nothing has changed.
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
    """Compare recent rounds with all before them; None where they have nothing in common.

    Rewards per edge are compared by type and pair of arms, whatever the model makes of them: a pair's
    two means differ by noise of the variance ``sigma^2 (1/N_recent + 1/N_before)``, and the squares of
    all pairs seen in both add up to a chi-squared number. Rewards in sums are compared by the fit
    (Chow's test): what two fits explain beyond one, with as many degrees of freedom as directions that
    both have seen. Discounted rounds have at most this variance.

    Parameters
    ----------
    problem
        What was played.
    everything, recent
        The record of all rounds, and of the recent ones among them.
    squares, count
        The sum of the squares of the recent rewards, and how many they are.
    by_round, rounds
        The variance of a recent round's sum of rewards, and from how many rounds it is known: if it
        is clearly more than that of so many rewards, they share some of their noise.
    """
    with np.errstate(all="ignore"):
        compare = _compare_tables if recent.tables is not None else _compare_moments
        distance, freedom, explained, used = compare(problem, everything, recent)
        if freedom < 1:
            return None
        left = count - used
        noise = (squares - explained) / left if left >= ENOUGH else 0.0
        variance = max((problem.declared["sigma"] or 0.0) ** 2, noise)
        alone = variance * recent.weight(problem) / max(rounds, 1)
        error = np.sqrt(STEPS / max(rounds, 1))
        if by_round > (1.0 + 3.0 * error) * alone:
            variance *= (1.0 + 2.0 * error) * by_round / alone
        sigma = float(np.sqrt(variance))
        statistic = distance / sigma**2 if sigma > 0.0 else np.nan
    if not np.isfinite(statistic):
        return None
    return Drift(statistic, freedom, sigma, float(chdtrc(freedom, max(statistic, 0.0))))


def _compare_tables(
    problem: Problem, everything: AnyRecord, recent: AnyRecord
) -> tuple[float, int, float, int]:
    """The distance, its degrees of freedom, what the recent means explain and how many they are."""
    N, Y = (_fold(problem, each) for each in everything.tables or ())
    n, y = (_fold(problem, each) for each in recent.tables or ())
    seen, before = n > 0.0, N - n
    both = seen & (before > SHARE * N)
    n_both, before = n[both], before[both]
    apart = y[both] / n_both - (Y - y)[both] / before
    distance = float((apart**2 / (1.0 / n_both + 1.0 / before)).sum())
    explained = float((y[seen] ** 2 / n[seen]).sum())
    return distance, int(both.sum()), explained, int(seen.sum())


def _fold(problem: Problem, table: Counts) -> FloatArray:
    """A table in numbers that are told by themselves: where links are, (a, b) and (b, a) are one."""
    table = np.asarray(table, dtype=np.float64)
    if not problem.halves_only:
        return table
    return np.triu(table) + np.triu(table.transpose(0, 2, 1), 1)


def _compare_moments(
    problem: Problem, everything: AnyRecord, recent: AnyRecord
) -> tuple[float, int, float, int]:
    """The same of the fits to sums over edges."""
    G, b = everything.gram(problem), everything.moment(problem)
    g, c = recent.gram(problem), recent.moment(problem)
    parts = [_explain(*each) for each in ((g, c), (G - g, b - c), (G, b))]
    (own, used), (rest, others), (joint, all_of_them) = parts
    return own + rest - joint, used + others - all_of_them, own, used


def _explain(gram: FloatArray, moment: FloatArray) -> tuple[float, int]:
    """The sum of squares that a fit explains, and its number of directions."""
    if not np.isfinite(gram).all():
        return np.nan, 0
    e, V = np.linalg.eigh(gram)
    kept = e > SHARE * max(float(e.max(initial=0.0)), 0.0)
    along = moment @ V[:, kept]
    return float((along**2 / e[kept]).sum()), int(kept.sum())
