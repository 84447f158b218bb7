"""Statistics of a history: held-out predictions, the noise, the margin of a model, residuals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.learning import Ridge, empty, observe
from gbb.problem import Problem

GOOD = 0.64
"""Share of what arms change that the model must predict. Choosing by a prediction that has correlation
r with the truth keeps about r of the gain that choosing by the truth would give (the response to
selection), and 0.64 = 0.8^2: four fifths of the gain."""

RIDGE = 1e-3
"""The regulariser, as a share of the mean eigenvalue of the Gram matrix: it fits, it hardly shrinks."""

MAX_LEVERAGE = 0.5
"""A prediction counts if its variance is at most this share of one observation's."""

MIN_FREEDOM = 50
"""Degrees of freedom from which a spread is an estimate of the noise: sigma_hat is then off by 10 %."""


@dataclass(frozen=True, eq=False)
class History:
    """Rounds of a system, each with the problem that it was played on.

    Attributes
    ----------
    problem
        The model.
    allocations
        An arm index per agent, a row per round (T x n).
    rewards
        What was reported, NaN if missing (T x observations).
    rows
        The contexts of the rounds, a row each; None if the problem has none.
    """

    problem: Problem
    allocations: IntArray
    rewards: FloatArray
    rows: FloatArray | None = None

    def problem_at(self, t: int) -> Problem:
        """Return the problem of round ``t``, counted from 0."""
        return self.problem if self.rows is None else self.problem.at_row(self.rows[t])

    @cached_property
    def contexts(self) -> IntArray:
        """A number for each round, the same for equal contexts."""
        if self.rows is None:
            return np.zeros(len(self.allocations), dtype=np.int64)
        return number_rows(self.rows)

    @cached_property
    def repetitions(self) -> IntArray:
        """A number for each round, the same for equal allocations in equal contexts."""
        return number_rows(np.column_stack([self.allocations, self.contexts]))

    @cached_property
    def strata(self) -> IntArray:
        """A number for each round: rounds of one number share the means that are removed.

        A context that recurs is a stratum. All others are one: a single round would be its own mean.
        """
        recurs = np.bincount(self.contexts)[self.contexts] > 1
        return number_rows(np.where(recurs, self.contexts, -1))


def number_rows(rows: NDArray[Any]) -> IntArray:
    """Return a number for each row, the same for equal rows."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def sum_by(strata: IntArray, values: NDArray[Any]) -> FloatArray:
    """Return the sums of a matrix's rows by stratum (strata x columns)."""
    sums = np.zeros((int(strata.max()) + 1, values.shape[1]))
    np.add.at(sums, strata, values)
    return sums


def centre(strata: IntArray, values: FloatArray) -> FloatArray:
    """Remove each column's mean in each stratum; NaN stays as it is."""
    seen = np.isfinite(values)
    means = sum_by(strata, np.where(seen, values, 0.0)) / np.maximum(sum_by(strata, seen), 1.0)
    return values - means[strata]


def sum_squares(values: FloatArray) -> float:
    """Return the sum of squares, without NaN."""
    return float(np.nansum(values**2))


def explained_share(error: float, spread: float) -> float:
    """Return R^2 from two sums of squares, ``1 - error / spread``; NaN if nothing varies."""
    return 1.0 - error / spread if spread > 0.0 else np.nan


def predict_held_out(
    history: History, folds: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return predictions of every round from the other folds, leverages, and which count.

    Rounds are dealt to the folds at random, the same way every time. An observation with regressor q
    counts if ``q' A^-1 q <= 1/2``: the model is not judged by arms that no other fold has played
    together.
    """
    problem, rewards = history.problem, history.rewards
    deal = np.random.default_rng(0).permutation(len(rewards)) % folds
    records = [empty(problem) for _ in range(folds)]
    for t, fold in enumerate(deal.tolist()):
        seen = observe(history.problem_at(t), history.allocations[t], rewards[t])
        records[fold] = records[fold].merge(seen)
    predicted, leverage = np.full(rewards.shape, np.nan), np.full(rewards.shape, np.inf)
    for fold in range(folds):
        training = reduce(lambda one, two: one.merge(two), records[:fold] + records[fold + 1 :])
        eigenvalue = float(np.trace(training.gram(problem))) / problem.parameters
        ridge = Ridge(problem, training, RIDGE * eigenvalue if eigenvalue > 0.0 else 1.0)
        for t in np.flatnonzero(deal == fold).tolist():
            current, played = history.problem_at(t), history.allocations[t]
            predicted[t], leverage[t] = _predict(current, ridge, played)
    return predicted, leverage, (leverage <= MAX_LEVERAGE) & np.isfinite(rewards)


def _predict(problem: Problem, ridge: Ridge, allocation: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the predicted rewards of a round and their leverages, one per observation."""
    types = problem.edge_types
    first, second = allocation[problem.sources], allocation[problem.targets]
    # Whitened, so that <q, theta_hat> and q' A^-1 q are sums of products.
    f = problem.edge_weights[:, None] * ridge.whitened[types, first, second]
    sums = np.zeros((problem.observations, f.shape[1]))
    np.add.at(sums, problem.report.index, f)
    blocks = np.zeros(problem.observations, dtype=np.int64)
    blocks[problem.report.index] = ridge.block_of[types]
    return (sums * ridge.theta[blocks]).sum(axis=1), (sums**2).sum(axis=1)


class Noise(NamedTuple):
    """The variance of one observation under the same arms.

    Attributes
    ----------
    variance
        Pure error: squared distances from the mean of the repetitions. NaN if it is unknown.
    freedom
        Its degrees of freedom; 0 if it is unknown.
    source
        What was repeated: ``allocations`` (whole rounds), ``arms`` (those that the model lets an
        observation depend on; whatever else moves it then counts as noise), or ``nothing``.
    influence
        What each round adds to the error of ``variance``: its standard error is the root of their
        sum of squares, also if observations of a round share noise.
    """

    variance: float
    freedom: int
    source: str
    influence: FloatArray

    def ceiling(self, freedom: int, spread: float) -> tuple[float, float]:
        """Return R^2 of a perfect model, and its standard error.

        ``spread`` is the sum of squares of what is predicted, ``freedom`` its degrees of freedom.
        """
        if not (self.freedom and spread > 0.0):
            return np.nan, np.nan
        noise = self.variance * freedom / spread
        error = np.sqrt(2.0 / self.freedom)  # of normal noise that observations do not share
        if self.variance > 0.0:
            error = max(error, np.sqrt((self.influence**2).sum()) / self.variance)
        return 1.0 - noise, noise * float(np.hypot(error, np.sqrt(2.0 / freedom)))

    def times(self, scale: float) -> Noise:
        """Return the noise of something with ``scale`` times the variance."""
        return self._replace(variance=scale * self.variance, influence=scale * self.influence)


def measure_noise(history: History) -> Noise:
    """Return pure error from repeated allocations, or else from repeated arms around an observation.

    Both in the same context, if there are any.
    """
    rounds = np.broadcast_to(history.repetitions[:, None], history.rewards.shape)
    noise = pool_variance(history.rewards, rounds, "allocations")
    if noise.freedom:
        return noise
    arms = _number_arms(history.problem, history.allocations)
    arms = arms + (int(arms.max()) + 1) * history.contexts[:, None]
    return pool_variance(history.rewards, arms, "arms")


def _number_arms(problem: Problem, allocations: IntArray) -> IntArray:
    """Return a number for the arms that the model lets each observation depend on (T x observations)."""
    agents = problem.report.agents
    if len(agents) == 2:
        return allocations[:, agents[0]] * problem.K + allocations[:, agents[1]]
    groups = np.empty((len(allocations), problem.observations), dtype=np.int64)
    for number in range(problem.observations):
        agents_of_edges = problem.graph.edges[problem.report.edge_index == number].ravel()
        involved = np.unique([*agents_of_edges, *(named[number] for named in agents)])
        groups[:, number] = number_rows(allocations[:, involved])
    return groups


def pool_variance(values: FloatArray, groups: IntArray, source: str) -> Noise:
    """Return the variance within cells of (column, group), pooled over all of them.

    A cell of k observations has k squared distances from its mean, which depend on each other; taken
    for independent they would have (k - 1)/k of the variance of their sum, hence the factor.
    """
    seen = np.isfinite(values)
    columns = np.broadcast_to(np.arange(values.shape[1]), values.shape)[seen]
    cell = number_rows(np.stack([columns, groups[seen]], axis=1))
    counts = np.bincount(cell)
    freedom, influence = int((counts - 1).sum()), np.zeros(len(values))
    if freedom < MIN_FREEDOM:
        return Noise(np.nan, 0, "nothing", influence)
    centred = values[seen] - (np.bincount(cell, weights=values[seen]) / counts)[cell]
    variance, k = float((centred**2).sum()) / freedom, counts[cell]
    share = (centred**2 - variance * (1.0 - 1.0 / k)) * np.sqrt(k / np.maximum(k - 1, 1)) / freedom
    np.add.at(influence, np.nonzero(seen)[0], np.where(k > 1, share, 0.0))
    return Noise(variance, freedom, source, influence)


class Fit(NamedTuple):
    """How well held-out predictions fit rewards, against what a perfect model would reach.

    Attributes
    ----------
    share
        Their R^2; NaN if nothing varies.
    ceiling, ceiling_error
        R^2 of a perfect model and its standard error; NaN if the noise is unknown.
    margin
        ``share - GOOD * ceiling``: good enough from 0 upwards.
    above
        Whether it is at least 0, two standard errors to the safe side.
    below
        Whether it is less than 0 with two standard errors in its favour, and without what the
        estimate's own noise costs, which more rounds would mend: the model is wrong.
    """

    share: float
    ceiling: float
    ceiling_error: float
    margin: float
    above: bool
    below: bool


def judge(
    y: FloatArray,
    r: FloatArray,
    ceiling: tuple[float, float],
    noise: Noise,
    freedom: int,
    *,
    leverage: float,
    parameters: int,
) -> Fit:
    """Return how well rewards ``y`` with residuals ``r``, both centred, are predicted.

    With A and L the sums of squares of y and of r, J = ``freedom`` their degrees of freedom and n the
    variance of the noise, R^2 = 1 - L/A and the ceiling is 1 - J n/A, so the margin times A is linear
    in what is measured: ``(1 - GOOD) A - L + GOOD J n``. No quotient of two uncertain numbers is taken,
    hence a ceiling near 0 does no harm. Its error is that of a sum over rounds, so rewards of a round
    may depend on each other. ``leverage`` is the sum of q' A^-1 q over the predictions: the fit's own
    noise adds n times that to L, give or take sqrt(2 / parameters) of it, as a chi-squared sum of so
    many terms does. Unknown noise counts as none.
    """
    rounds = np.nansum((1.0 - GOOD) * y**2 - r**2, axis=1)
    value, influence, estimation = float(rounds.sum()), rounds - rounds.mean(), 0.0
    if noise.freedom:
        value += GOOD * freedom * noise.variance
        influence = influence + GOOD * freedom * noise.influence
        estimation = leverage * noise.variance
    error = float(np.sqrt((influence**2).sum()))
    # A model that is right may fall short by the noise of its own estimate.
    error_without = float(np.hypot(error, np.sqrt(2.0 / parameters) * estimation))
    spread = sum_squares(y)
    return Fit(
        explained_share(sum_squares(r), spread),
        *ceiling,
        value / spread if spread > 0.0 else np.nan,
        above=spread > 0.0 and value - 2.0 * error >= 0.0,
        below=value + estimation + 2.0 * error_without < 0.0,
    )


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
        """Summarise errors, and rewards ``y`` and errors ``r`` that are centred; NaN is left out."""
        seen = error[np.isfinite(error)]
        mean, sd = (float(seen.mean()), float(seen.std())) if seen.size else (np.nan, np.nan)
        return cls(where, seen.size, mean, sd, explained_share(sum_squares(r), sum_squares(y)))


def residuals_by_type(
    history: History, error: FloatArray, y: FloatArray, r: FloatArray
) -> tuple[Residuals, ...]:
    """Return one row for each matrix, or one for all if rewards are sums over several matrices."""
    problem = history.problem
    if not problem.tabular:
        return (Residuals.of("all", error, y, r),)
    # One sort for all types: there may be as many as edges.
    types = np.zeros(error.shape, dtype=np.int64)  # with contexts they differ from round to round
    for t in range(len(types)):
        current = history.problem_at(t)
        types[t, current.report.index] = current.edge_types
    names = problem.matrix_names or tuple(f"type {g}" for g in range(problem.types))
    bounds = np.cumsum(np.bincount(types.ravel(), minlength=len(names)))
    positions = np.split(np.argsort(types, axis=None, kind="stable"), bounds[:-1])
    return tuple(
        Residuals.of(name, *(values.ravel()[chosen] for values in (error, y, r)))
        for name, chosen in zip(names, positions, strict=True)
    )


def largest_residuals(
    problem: Problem, error: FloatArray, y: FloatArray, r: FloatArray, count: int
) -> tuple[Residuals, ...]:
    """Return the ``count`` observations with the largest root mean square error, the largest first."""
    mean_squares = np.nansum(error**2, axis=0) / np.maximum(np.isfinite(error).sum(axis=0), 1)
    rows = []
    for e in np.argsort(-mean_squares, kind="stable")[:count].tolist():
        agents = [str(problem.graph.label(int(named[e]))) for named in problem.report.agents]
        name = (" - " if problem.feedback == "link" else " -> ").join(agents) or "all"
        rows.append(Residuals.of(name, error[:, e], y[:, e], r[:, e]))
    return tuple(rows)
