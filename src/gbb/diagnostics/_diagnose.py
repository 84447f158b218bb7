"""``diagnose``: the history of a controlled system against the model that controls it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.diagnostics._diagnosis import Diagnosis, Evidence, judge
from gbb.diagnostics._heldout import LEVERAGE, predict_held_out
from gbb.diagnostics._margin import find_margin
from gbb.diagnostics._noise import ENOUGH, measure_noise, measure_total_noise
from gbb.diagnostics._residuals import (
    centre,
    count_seen,
    find_worst,
    share_explained,
    sum_squares,
    tabulate_types,
)
from gbb.diagnostics._rounds import Rounds
from gbb.problem import LARGEST, Problem


def diagnose(
    problem: Problem,
    allocations: ArrayLike,
    rewards: ArrayLike,
    *,
    contexts: Iterable[Any] | None = None,
    folds: int = 5,
    worst: int = 5,
) -> Diagnosis:
    """Say whether the pairwise model predicts what the system paid.

    Every round is predicted from the rounds of the other folds. Each number's own mean is
    removed before anything is compared, because a constant says nothing about arms: an R^2 over all
    edges at once can be near 1 for a model that is of no use. So it is with what a context alone
    changes: where contexts come again, each has means of its own.

    Parameters
    ----------
    problem
        The model: graph, arms, edge types, weights and what is reported.
    allocations
        An arm index per agent, a row per round (T x n).
    rewards
        What was reported, a row per round (T x ``problem.observations``); NaN where it is missing.
    contexts
        What was known before each round, where the problem has contexts.
    folds
        Parts that the rounds are dealt to.
    worst
        How many of the worst edges or agents to list.
    """
    history = _check_history(problem, allocations, rewards, contexts)
    played, paid, strata = history.played, history.paid, history.strata()
    folds = min(checks.integer("folds", folds, low=2), max(len(played), 2))
    checks.integer("worst", worst, low=0)
    predicted, leverage, judged = predict_held_out(history, folds)
    seen = np.isfinite(paid)
    judged &= count_seen(judged, strata) > 1
    error = np.where(judged, paid - predicted, np.nan)
    y, r = centre(np.where(judged, paid, np.nan), strata), centre(error, strata)
    spread, left = sum_squares(y), sum_squares(r)
    totals, misses = np.nansum(y, axis=1), np.nansum(r, axis=1)
    pure, whole = measure_noise(history), measure_total_noise(history, totals)
    count, means = int(judged.sum()), _count_means(judged, strata)
    free = max(count - means, 1)
    ceiling = 1.0 - pure.variance * free / spread if spread > 0 else np.nan
    apart, rounds = sum_squares(totals), len(played)
    repeated = whole.freedom >= ENOUGH
    total_ceiling = 1.0 - whole.variance * rounds / apart if repeated and apart > 0 else np.nan
    summed = find_margin(
        totals[:, None],
        misses[:, None],
        whole if repeated else pure.times(count / rounds),
        rounds * min(problem.unknowns * folds / ((folds - 1) * rounds), LEVERAGE),
        problem.unknowns,
        means=1 if strata is None else int(strata.max()) + 1,
    )
    evidence = Evidence(
        spread=spread,
        correlation=_correlate(y, y - r) * float(np.sqrt(count)),
        ceiling_error=(1.0 - ceiling) * float(np.hypot(pure.error, np.sqrt(2.0 / free))),
        total_ceiling_error=(1.0 - total_ceiling)
        * float(np.hypot(whole.error, np.sqrt(2.0 / rounds))),
        single=find_margin(
            y, r, pure, float(leverage[judged].sum()), problem.unknowns, means=means
        ),
        summed=summed,
        types=problem.types,
    )
    named = pure.variance if pure.freedom else left / free if count else np.nan
    found = Diagnosis(
        status="",
        sentence="",
        rounds=int(seen.any(axis=1).sum()),
        allocations=len(np.unique(played, axis=0)),
        covered=count / max(int(seen.sum()), 1),
        within=share_explained(left, spread),
        total=share_explained(sum_squares(misses), apart),
        ceiling=ceiling,
        total_ceiling=total_ceiling,
        sigma_hat=float(np.sqrt(named)),
        noise_source=pure.source,
        by_type=tabulate_types(history, error, y, r),
        worst=find_worst(problem, error, y, r, worst),
    )
    status, sentence = judge(found, evidence)
    return replace(found, status=status, sentence=sentence)


def _count_means(judged: NDArray[np.bool_], strata: IntArray | None) -> int:
    """How many means were removed: one for each column, in each stratum."""
    if strata is None:
        return int(judged.any(axis=0).sum())
    each = (judged[strata == number] for number in range(int(strata.max()) + 1))
    return sum(int(own.any(axis=0).sum()) for own in each)


def _check_history(
    problem: Problem, allocations: ArrayLike, rewards: ArrayLike, contexts: Iterable[Any] | None
) -> Rounds:
    """Checked copies; edges of weight 0 are left out, as they pay nothing whatever is played."""
    if not isinstance(problem, Problem):
        raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
    raw = np.asarray(allocations)
    if raw.ndim != 2 or raw.shape[1] != problem.n or len(raw) == 0:
        raise checks.input_error(
            "allocations", f"have a row of {problem.n} arms per round", raw.shape
        )
    played = np.stack([problem.allocation(row) for row in raw])
    try:
        paid = np.array(rewards, dtype=np.float64)
    except (TypeError, ValueError):
        raise checks.input_error(
            "rewards", "be an array of numbers", type(rewards).__name__
        ) from None
    shape = (len(played), problem.observations)
    if paid.shape != shape:
        raise checks.input_error("rewards", f"have shape {shape}, a row per round", paid.shape)
    if np.isinf(paid).any() or np.nanmax(np.abs(paid), initial=0.0) > LARGEST:
        raise checks.input_error("rewards", f"hold numbers of at most {LARGEST:g}, or NaN", "more")
    history = Rounds(problem, played, paid, _check_contexts(problem, contexts, len(played)))
    if problem.feedback in ("edge", "link"):
        if history.rows is None:
            paid[:, ~problem.paying] = np.nan
        else:
            for t in range(len(paid)):
                paid[t, ~history.problem_at(t).paying] = np.nan
    return history


def _check_contexts(
    problem: Problem, contexts: Iterable[Any] | None, rounds: int
) -> FloatArray | None:
    """The rows of the rounds' contexts; None where there are none."""
    if problem.contexts is None:
        if contexts is not None:
            raise checks.input_error("contexts", "be left out: there are no contexts", "some")
        return None
    if contexts is None:
        cure = "Pass contexts=[...], what was known before each round."
        raise checks.input_error("contexts", "be given: the problem has contexts", None, cure)
    rows = problem.contexts.read_all(problem.graph, contexts)
    if len(rows) != rounds:
        raise checks.input_error("contexts", f"have one for each of {rounds} rounds", len(rows))
    return rows


def _correlate(one: FloatArray, other: FloatArray) -> float:
    scale = np.sqrt(sum_squares(one) * sum_squares(other))
    return float(np.nansum(one * other) / scale) if scale > 0.0 else 0.0
