"""``diagnose``: the history of a controlled system against the model that controls it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb.diagnostics import _statistics as stats
from gbb.diagnostics._statistics import GOOD, Fit, History, Residuals
from gbb.problem import Problem

MIN_ROUNDS = 10

MIN_COVERED = 0.8
"""Share of the observations that the other folds must be able to predict."""

SIGNIFICANT = 4.0
"""Standard errors of a correlation that pure noise does not reach."""


@dataclass(frozen=True)
class Diagnosis:
    """How well the pairwise model predicts rounds that it has not seen.

    Attributes
    ----------
    status
        ``good``, ``poor``, ``noise`` or ``too few``.
    sentence
        The same in plain words.
    rounds, allocations
        Number of rounds, and of different allocations among them.
    covered
        Share of the observations that the other folds could predict; only they are judged.
    within
        Held-out R^2 of the observations, each edge's (or agent's) own mean removed.
    total
        Held-out R^2 of the round's sum, the same means removed.
    ceiling, total_ceiling
        What a perfect model would reach, given the noise; NaN if the noise is not known. That of
        sums is known from repeated allocations only, as links may share their noise.
    sigma_hat
        Standard deviation of the noise of one observation; of the residuals if nothing was repeated.
    noise_source
        ``allocations``, ``arms`` or ``nothing``: what was repeated to tell noise from misfit.
    by_type
        Residuals by edge type, or of all observations if rewards are sums over edges.
    worst
        The edges or agents with the largest residuals.
    """

    status: str
    sentence: str
    rounds: int
    allocations: int
    covered: float
    within: float
    total: float
    ceiling: float
    total_ceiling: float
    sigma_hat: float
    noise_source: str
    by_type: tuple[Residuals, ...]
    worst: tuple[Residuals, ...]

    @property
    def good(self) -> bool:
        """Whether the model is good enough to act on."""
        return self.status == "good"

    def __str__(self) -> str:
        return self.sentence


def diagnose(
    problem: Problem,
    allocations: ArrayLike,
    rewards: ArrayLike,
    *,
    contexts: Iterable[Any] | None = None,
    folds: int = 5,
    worst: int = 5,
) -> Diagnosis:
    """Return whether the pairwise model predicts the rewards of a system.

    Every round is predicted from the rounds of the other folds. The mean of each number of the report
    is removed before anything is compared, because a constant says nothing about arms: R^2 over all
    edges at once can be near 1 for a model that is of no use. A context that recurs has means of its
    own, because what it changes alone says nothing about arms either.

    Parameters
    ----------
    problem
        The model: graph, arms, edge types, weights and what is reported.
    allocations
        An arm index per agent, a row per round (T x n).
    rewards
        What was reported, a row per round (T x ``problem.observations``); NaN if missing.
    contexts
        The context of each round, if the problem has contexts.
    folds
        Number of parts that the rounds are dealt to.
    worst
        How many of the worst edges or agents to list.
    """
    history = _check_history(problem, allocations, rewards, contexts)
    rounds, strata, observed = len(history.rewards), history.strata, history.rewards
    folds = min(checks.integer("folds", folds, low=2), max(rounds, 2))
    checks.integer("worst", worst, low=0)
    predicted, leverages, judged = stats.predict_held_out(history, folds)
    judged &= stats.sum_by(strata, judged)[strata] > 1.0  # a single number would be its own mean
    error = np.where(judged, observed - predicted, np.nan)
    y, r = stats.centre(strata, np.where(judged, observed, np.nan)), stats.centre(strata, error)
    spread, residual = stats.sum_squares(y), stats.sum_squares(r)
    count, parameters = int(judged.sum()), problem.free_parameters
    freedom = max(count - int((stats.sum_by(strata, judged) > 0.0).sum()), 1)
    noise, leverage = stats.measure_noise(history), float(leverages[judged].sum())
    ceiling = noise.ceiling(freedom, spread)
    single = stats.judge(y, r, ceiling, noise, freedom, leverage=leverage, parameters=parameters)

    totals, total_errors = (np.nansum(values, axis=1, keepdims=True) for values in (y, r))
    # Allocations are chosen for their sums. Links may share their noise, so that of sums is known from
    # repeated allocations only.
    total_noise = stats.pool_variance(totals, history.repetitions[:, None], "allocations")
    independent = noise.times(count / rounds)
    summed = stats.judge(
        totals,
        total_errors,
        total_noise.ceiling(rounds, stats.sum_squares(totals)),
        total_noise if total_noise.freedom else independent,
        max(rounds - int(strata.max()) - 1, 1),
        leverage=min(parameters * folds / (folds - 1), stats.MAX_LEVERAGE * rounds),
        parameters=parameters,
    )

    predictor = y - r
    # Their correlation, in standard errors of that of noise.
    scale = float(np.sqrt(spread * stats.sum_squares(predictor) / max(count, 1)))
    correlation = float(np.nansum(y * predictor)) / scale if scale > 0.0 else 0.0
    variance = noise.variance if noise.freedom else residual / freedom if count else np.nan
    diagnosis = Diagnosis(
        status="",
        sentence="",
        rounds=int(np.isfinite(observed).any(axis=1).sum()),
        allocations=len(np.unique(history.allocations, axis=0)),
        covered=count / max(int(np.isfinite(observed).sum()), 1),
        within=single.share,
        total=summed.share,
        ceiling=single.ceiling,
        total_ceiling=summed.ceiling,
        sigma_hat=float(np.sqrt(variance)),
        noise_source=noise.source,
        by_type=stats.residuals_by_type(history, error, y, r),
        worst=stats.largest_residuals(problem, error, y, r, worst),
    )
    status, sentence = verdict(diagnosis, single, summed, correlation, problem.types)
    return replace(diagnosis, status=status, sentence=sentence)


def _check_history(
    problem: Problem, allocations: ArrayLike, rewards: ArrayLike, contexts: Iterable[Any] | None
) -> History:
    """Return checked copies; numbers of weight 0 are left out, as they are 0 whatever is played."""
    if not isinstance(problem, Problem):
        raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
    raw = np.asarray(allocations)
    if raw.ndim != 2 or raw.shape[1] != problem.n or len(raw) == 0:
        rule = f"have a row of {problem.n} arms per round"
        raise checks.input_error("allocations", rule, raw.shape)
    played = np.stack([problem.allocation(row) for row in raw])
    shape = (len(played), problem.observations)
    observed = checks.array(
        "rewards", rewards, shape=shape, meaning="a row per round", missing=True
    )
    rows = None
    if problem.contexts is not None:
        if contexts is None:
            cure = "Pass contexts=[...], the context of each round."
            raise checks.input_error("contexts", "be given: the problem has contexts", None, cure)
        rows = problem.contexts.read_all(problem.graph, contexts)
        if len(rows) != (T := len(played)):
            raise checks.input_error("contexts", f"have one for each of {T} rounds", len(rows))
    elif contexts is not None:
        raise checks.input_error("contexts", "be left out: there are no contexts", "some")
    history = History(problem, played, observed, rows)
    if problem.feedback not in ("edge", "link"):
        return history
    nonzero = [history.problem_at(t).report.nonzero for t in range(len(played))]
    return replace(history, rewards=np.where(np.stack(nonzero), observed, np.nan))


def verdict(  # noqa: PLR0911
    d: Diagnosis, single: Fit, summed: Fit, correlation: float, types: int
) -> tuple[str, str]:
    """Return the status and the sentence: what is predicted against what could be.

    Only noise that was measured can condemn a model: of single rewards by any repetition, of the sum by
    repeated allocations alone, because links may share their noise.
    """
    if d.rounds < MIN_ROUNDS:
        return "too few", f"Too few rounds to say: {d.rounds}, and {MIN_ROUNDS} are the fewest."
    if d.covered < MIN_COVERED:
        return "too few", (
            f"Too few rounds to say: only {d.covered:.0%} of the rewards can be predicted from other "
            "rounds, as the rest had arms that were not played together elsewhere."
        )
    if np.isnan(single.share):
        return "too few", "Nothing to judge: no reward ever changed."
    has_noise = bool(np.isfinite(d.ceiling))
    repeat = "" if has_noise else " Repeat some allocations to tell noise from a wrong model."
    if correlation < SIGNIFICANT and (not has_noise or d.ceiling < 3.0 * single.ceiling_error):
        return "noise", (
            "Nothing to act on: of what changes the model predicts no more than it would of pure "
            f"noise.{repeat}"
        )
    facts = (
        f"On rounds it has not seen it predicts {max(d.within, 0.0):.0%} of how single rewards vary "
        f"and {max(d.total, 0.0):.0%} of how their sum varies"
    )
    if has_noise:
        facts += f", and noise allows at most {max(d.ceiling, 0.0):.0%} of the former"
    # Two standard errors in the model's favour: a controller raises an alert for a poor one.
    if any(fit.below and fit.ceiling > 2.0 * fit.ceiling_error for fit in (single, summed)):
        cure = (
            "One matrix per kind of link (edge_types) may fit."
            if types == 1
            else "Links may depend on more than the arms at their ends."
        )
        return "poor", f"The pairwise model is not good enough to act on. {facts}. {cure}"
    if not single.above or summed.margin < 0.0:
        if has_noise and not np.isfinite(d.total_ceiling) and summed.below:
            repeat = " Repeat some allocations to tell noise that links share from a wrong model."
        return "too few", f"Too few rounds to say whether the pairwise model fits. {facts}.{repeat}"
    note = ""
    if d.noise_source == "arms" and d.within / max(d.ceiling, d.within) - d.within > 1.0 - GOOD:
        note = " (noise here includes whatever agents beyond the link do; repeat an allocation to tell)"
    return "good", f"The pairwise model is good enough to act on. {facts}{note}."
