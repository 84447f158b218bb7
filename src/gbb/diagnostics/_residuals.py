"""What the model leaves unexplained: by edge type, and where it is worst."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.diagnostics._rounds import Rounds
from gbb.graph import links
from gbb.problem import Problem


@dataclass(frozen=True)
class Residuals:
    """Held-out residuals of one edge type, one edge or one agent.

    Attributes
    ----------
    where
        ``type 0``, an edge ``a -> b``, a link ``a - b`` or an agent.
    count, mean, sd
        How many, their mean (what the model gets wrong whatever the arms) and their spread.
    within
        The share of its own changes that the model predicts (R^2 after its mean is removed).
    """

    where: str
    count: int
    mean: float
    sd: float
    within: float

    @classmethod
    def of(cls, where: str, error: FloatArray, y: FloatArray, r: FloatArray) -> Residuals:
        """Of errors, and of rewards ``y`` and errors ``r`` with their columns' means removed."""
        seen = error[np.isfinite(error)]
        mean, sd = (float(seen.mean()), float(seen.std())) if seen.size else (np.nan,) * 2
        within = share_explained(sum_squares(r), sum_squares(y))
        return cls(where, int(seen.size), mean, sd, within)


def tabulate_types(
    history: Rounds, error: FloatArray, y: FloatArray, r: FloatArray
) -> tuple[Residuals, ...]:
    """One row for each edge type, or one for all where rewards are sums over several."""
    problem = history.problem
    if not problem.keeps_tables:
        return (Residuals.of("all", error, y, r),)
    if history.rows is not None:
        return _tabulate_matrices(history, error, y, r)
    types = _types(problem)
    members = [types == g for g in range(problem.types)]
    return tuple(
        Residuals.of(f"type {g}", error[:, m], y[:, m], r[:, m]) for g, m in enumerate(members)
    )


def _tabulate_matrices(
    history: Rounds, error: FloatArray, y: FloatArray, r: FloatArray
) -> tuple[Residuals, ...]:
    """One row for each matrix; by which of them a number was paid differs by round."""
    rounds, problem = range(len(error)), history.problem
    types = np.stack([_types(history.problem_at(t)) for t in rounds])
    rows = []
    for g, name in enumerate(problem.matrix_names or ()):
        own = [np.where(types == g, each, np.nan) for each in (error, y, r)]
        rows.append(Residuals.of(name, *own))
    return tuple(rows)


def _types(problem: Problem) -> IntArray:
    """The type of what each number of a round reports."""
    types = np.zeros(problem.observations, dtype=np.int64)
    types[problem.adds_to] = problem.edge_types
    return types


def find_worst(
    problem: Problem, error: FloatArray, y: FloatArray, r: FloatArray, count: int
) -> tuple[Residuals, ...]:
    """The ``count`` observations with the largest root mean square residual, the worst first."""
    named_by = links.named_by(problem.graph, problem.feedback)

    def name(place: int) -> str:
        agents = [str(problem.graph.label(int(agents[place]))) for agents in named_by]
        return (" - " if problem.feedback == "link" else " -> ").join(agents) or "all"

    square = np.where(np.isfinite(error), error, 0.0) ** 2
    size = square.sum(axis=0) / np.maximum(np.isfinite(error).sum(axis=0), 1)
    order = np.argsort(-size, kind="stable")[:count].tolist()
    return tuple(Residuals.of(name(e), error[:, e], y[:, e], r[:, e]) for e in order)


def centre(values: FloatArray, strata: IntArray | None = None) -> FloatArray:
    """Remove every column's own mean, in each stratum of rows by itself; NaN stays as it is."""
    if strata is not None:
        centred = np.empty_like(values)
        for number in range(int(strata.max()) + 1):
            own = strata == number
            centred[own] = centre(values[own])
        return centred
    seen = np.isfinite(values)
    mean = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.asarray(values - mean, dtype=np.float64)


def count_seen(seen: NDArray[np.bool_], strata: IntArray | None = None) -> IntArray:
    """How many numbers of its column, and its stratum of rows, each number is seen with."""
    if strata is None:
        return np.broadcast_to(seen.sum(axis=0), seen.shape)
    counts = np.zeros((int(strata.max()) + 1, seen.shape[1]), dtype=np.int64)
    np.add.at(counts, strata, seen)
    found: IntArray = counts[strata]
    return found


def sum_squares(values: FloatArray) -> float:
    """The sum of squares of what is not NaN."""
    return float(np.nansum(values**2))


def share_explained(left: float, spread: float) -> float:
    """``1 - left / spread``; NaN where nothing varies."""
    return 1.0 - left / spread if spread > 0.0 else np.nan
