"""``diagnose``: the history of a controlled system against the model that controls it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.diagnostics._diagnosis import Diagnosis, Residuals, Scores, verdict
from gbb.diagnostics._heldout import LEVERAGE, held_out
from gbb.diagnostics._margin import margin
from gbb.diagnostics._noise import ENOUGH, noise, of_totals
from gbb.problem import LARGEST, Problem


def diagnose(
    problem: Problem,
    allocations: ArrayLike,
    rewards: ArrayLike,
    *,
    folds: int = 5,
    worst: int = 5,
) -> Diagnosis:
    """Say whether the pairwise model predicts what the system paid.

    Every round is predicted from the rounds of the other folds. Each edge's (agent's) own mean is
    removed before anything is compared, because a constant says nothing about arms: an R^2 over all
    edges at once can be near 1 for a model that is of no use.

    Parameters
    ----------
    problem
        The model: graph, arms, edge types, weights and what is reported.
    allocations
        An arm index per agent, a row per round (T x n).
    rewards
        What was reported, a row per round (T x ``problem.observations``); NaN where it is missing.
    folds
        Parts that the rounds are dealt to.
    worst
        How many of the worst edges or agents to list.
    """
    played, paid = _history(problem, allocations, rewards)
    folds = min(checks.integer("folds", folds, low=2), max(len(played), 2))
    checks.integer("worst", worst, low=0)
    predicted, leverage, judged = held_out(problem, played, paid, folds)
    seen = np.isfinite(paid)
    judged &= judged.sum(axis=0) > 1
    error = np.where(judged, paid - predicted, np.nan)
    y, r = _centred(np.where(judged, paid, np.nan)), _centred(error)
    spread, left = _squares(y), _squares(r)
    totals, misses = np.nansum(y, axis=1), np.nansum(r, axis=1)
    pure, whole = noise(problem, played, paid), of_totals(played, totals)
    count = int(judged.sum())
    free = max(count - int(judged.any(axis=0).sum()), 1)
    ceiling = 1.0 - pure.variance * free / spread if spread > 0 else np.nan
    apart, rounds = _squares(totals), len(played)
    repeated = whole.freedom >= ENOUGH
    total_ceiling = 1.0 - whole.variance * rounds / apart if repeated and apart > 0 else np.nan
    summed = margin(
        totals[:, None],
        misses[:, None],
        whole if repeated else pure.times(count / rounds),
        rounds * min(problem.parameters * folds / ((folds - 1) * rounds), LEVERAGE),
        problem.parameters,
    )
    scores = Scores(
        rounds=int(seen.any(axis=1).sum()),
        covered=count / max(int(seen.sum()), 1),
        spread=spread,
        correlation=_correlation(y, y - r) * float(np.sqrt(count)),
        within=_share(left, spread),
        total=_share(_squares(misses), apart),
        ceiling=ceiling,
        ceiling_error=(1.0 - ceiling) * float(np.hypot(pure.error, np.sqrt(2.0 / free))),
        total_ceiling=total_ceiling,
        total_ceiling_error=(1.0 - total_ceiling)
        * float(np.hypot(whole.error, np.sqrt(2.0 / rounds))),
        single=margin(y, r, pure, float(leverage[judged].sum()), problem.parameters),
        summed=summed,
        types=problem.types,
        source=pure.source,
    )
    status, sentence = verdict(scores)
    named = pure.variance if pure.freedom else left / free if count else np.nan
    return Diagnosis(
        status=status,
        sentence=sentence,
        rounds=scores.rounds,
        allocations=len(np.unique(played, axis=0)),
        covered=scores.covered,
        within=scores.within,
        total=scores.total,
        ceiling=ceiling,
        total_ceiling=total_ceiling,
        sigma_hat=float(np.sqrt(named)),
        noise_source=pure.source,
        by_type=_by_type(problem, error, y, r),
        worst=_worst(problem, error, y, r)[:worst],
    )


def _history(
    problem: Problem, allocations: ArrayLike, rewards: ArrayLike
) -> tuple[IntArray, FloatArray]:
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
    if problem.feedback == "edge":
        paid[:, problem.edge_weights == 0.0] = np.nan
    return played, paid


def _centred(values: FloatArray) -> FloatArray:
    """Every column's own mean removed, NaN left as it is."""
    seen = np.isfinite(values)
    mean = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    centred: FloatArray = values - mean
    return centred


def _squares(values: FloatArray) -> float:
    return float(np.nansum(values**2))


def _share(left: float, spread: float) -> float:
    return 1.0 - left / spread if spread > 0.0 else np.nan


def _correlation(one: FloatArray, other: FloatArray) -> float:
    scale = np.sqrt(_squares(one) * _squares(other))
    return float(np.nansum(one * other) / scale) if scale > 0.0 else 0.0


def _residuals(where: str, error: FloatArray, y: FloatArray, r: FloatArray) -> Residuals:
    seen = error[np.isfinite(error)]
    mean, sd = (float(seen.mean()), float(seen.std())) if seen.size else (np.nan,) * 2
    return Residuals(where, int(seen.size), mean, sd, _share(_squares(r), _squares(y)))


def _by_type(
    problem: Problem, error: FloatArray, y: FloatArray, r: FloatArray
) -> tuple[Residuals, ...]:
    if problem.feedback != "edge":
        return (_residuals("all", error, y, r),)
    members: list[tuple[int, NDArray[np.bool_]]] = [
        (g, problem.edge_types == g) for g in range(problem.types)
    ]
    return tuple(_residuals(f"type {g}", error[:, m], y[:, m], r[:, m]) for g, m in members)


def _worst(
    problem: Problem, error: FloatArray, y: FloatArray, r: FloatArray
) -> tuple[Residuals, ...]:
    """All observations, those with the largest root mean square residual first."""
    label = problem.graph.label
    if problem.feedback == "edge":
        names = [f"{label(i)} -> {label(j)}" for i, j in problem.graph.edges.tolist()]
    else:
        names = [str(label(i)) for i in range(problem.n)][: problem.observations]
    names = names if problem.feedback != "global" else ["all"]
    square = np.where(np.isfinite(error), error, 0.0) ** 2
    size = square.sum(axis=0) / np.maximum(np.isfinite(error).sum(axis=0), 1)
    order = np.argsort(-size, kind="stable")
    return tuple(_residuals(names[e], error[:, e], y[:, e], r[:, e]) for e in order)
