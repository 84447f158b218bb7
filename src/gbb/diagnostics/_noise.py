"""How much of the rewards is noise: the spread of what was measured more than once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.diagnostics._rounds import Rounds
from gbb.graph import links
from gbb.problem import Problem

ENOUGH = 50
"""Degrees of freedom below which a spread is not an estimate: sigma_hat is then off by 10 %."""


class Noise(NamedTuple):
    """The variance of one observation under the same arms.

    Attributes
    ----------
    variance
        Pure error: squared distances from the mean of the repetitions.
    freedom
        Its degrees of freedom.
    source
        What was repeated: ``allocations`` (whole rounds), ``arms`` (those that the model lets an
        observation depend on; whatever else moves it then counts as noise), or ``nothing``.
    influence
        What each round adds to the error of ``variance``: its standard error is the root of their
        sum of squares, also when the noise of a round's observations is shared.
    """

    variance: float
    freedom: int
    source: str
    influence: FloatArray

    @property
    def error(self) -> float:
        """One standard error of ``variance`` as a share of it, at least that of normal noise."""
        if not self.freedom:
            return np.nan
        shared = float(np.sqrt((self.influence**2).sum()))
        normal = float(np.sqrt(2.0 / self.freedom))
        return max(normal, shared / self.variance) if self.variance > 0.0 else normal

    def times(self, scale: float) -> Noise:
        """The noise of something with ``scale`` times the variance."""
        return self._replace(variance=scale * self.variance, influence=scale * self.influence)


def measure_noise(history: Rounds) -> Noise:
    """Pure error from repeated allocations, or else from repeated arms around an observation.

    Both in the same context, where there are any.
    """
    rewards, groups = history.paid, _group_rounds(history)
    whole = _pool(rewards, np.broadcast_to(groups[:, None], rewards.shape), "allocations")
    if whole.freedom >= ENOUGH:
        return whole
    arms = _group_by_arms(history.problem, history.played)
    if history.rows is not None:
        arms = arms + (int(arms.max()) + 1) * history.contexts()[:, None]
    local = _pool(rewards, arms, "arms")
    return local if local.freedom >= ENOUGH else Noise(np.nan, 0, "nothing", np.zeros(len(rewards)))


def measure_total_noise(history: Rounds, totals: FloatArray) -> Noise:
    """Pure error of one number per round."""
    return _pool(totals[:, None], _group_rounds(history)[:, None], "allocations")


def _group_rounds(history: Rounds) -> IntArray:
    """A number for each round, the same for equal allocations in equal contexts."""
    if history.rows is None:
        return _group(history.played)
    return _group(np.column_stack([history.played, history.contexts()]))


def _group_by_arms(problem: Problem, allocations: IntArray) -> IntArray:
    """A number for the arms that the model lets each observation depend on (rounds x observations)."""
    graph, adds_to = problem.graph, links.added_to(problem.graph, problem.feedback)
    named_by = links.named_by(graph, problem.feedback)
    if len(named_by) == 2:
        first, second = named_by
        return allocations[:, first] * problem.K + allocations[:, second]
    groups = np.empty((len(allocations), problem.observations), dtype=np.int64)
    for number in range(problem.observations):
        ends = graph.edges[adds_to == number].ravel()
        agents = np.unique([*ends, *(each[number] for each in named_by)])
        groups[:, number] = _group(allocations[:, agents])
    return groups


def _group(rows: IntArray) -> IntArray:
    """A number for each row, the same for equal rows."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _pool(values: FloatArray, groups: IntArray, source: str) -> Noise:
    """Variance within cells of (column, group), pooled over all of them.

    A cell of k observations has k squared distances from its mean, which depend on each other; taken
    for independent they would have (k - 1)/k of the variance of their sum, hence the factor.
    """
    seen = np.isfinite(values)
    columns = np.broadcast_to(np.arange(values.shape[1]), values.shape)[seen]
    keys = np.stack([columns, groups[seen]], axis=1)
    cell = _group(keys)
    count = np.bincount(cell)
    centred = values[seen] - (np.bincount(cell, weights=values[seen]) / count)[cell]
    freedom = int((count - 1).sum())
    influence = np.zeros(len(values))
    if not freedom:
        return Noise(np.nan, 0, source, influence)
    variance = float((centred**2).sum()) / freedom
    k = count[cell]
    share = (centred**2 - variance * (1.0 - 1.0 / k)) * np.sqrt(k / np.maximum(k - 1, 1)) / freedom
    np.add.at(influence, np.nonzero(seen)[0], np.where(k > 1, share, 0.0))
    return Noise(variance, freedom, source, influence)
