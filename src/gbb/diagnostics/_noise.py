"""How much of the rewards is noise: the spread of what was measured more than once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._checks import FloatArray, IntArray
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
    """

    variance: float
    freedom: int
    source: str

    @property
    def error(self) -> float:
        """One standard error of ``variance``, as a share of it."""
        return float(np.sqrt(2.0 / self.freedom)) if self.freedom else float("nan")


def noise(problem: Problem, allocations: IntArray, rewards: FloatArray) -> Noise:
    """Pure error from repeated allocations, or else from repeated arms around an observation."""
    groups = np.unique(allocations, axis=0, return_inverse=True)[1].reshape(-1)
    whole = _pooled(rewards, np.broadcast_to(groups[:, None], rewards.shape), "allocations")
    if whole.freedom >= ENOUGH:
        return whole
    local = _pooled(rewards, _local(problem, allocations, groups), "arms")
    return local if local.freedom >= ENOUGH else Noise(float("nan"), 0, "nothing")


def of_totals(allocations: IntArray, totals: FloatArray) -> Noise:
    """Pure error of one number per round."""
    groups = np.unique(allocations, axis=0, return_inverse=True)[1].reshape(-1, 1)
    return _pooled(totals[:, None], groups, "allocations")


def _local(problem: Problem, allocations: IntArray, groups: IntArray) -> IntArray:
    """A number for the arms at both ends of an edge, or at an agent and its neighbours."""
    graph, K = problem.graph, problem.K
    if problem.feedback == "edge":
        codes: IntArray = allocations[:, graph.sources] * K + allocations[:, graph.indices]
        return codes
    if problem.feedback == "global":
        return groups[:, None]
    around = np.empty_like(allocations)
    for agent in range(problem.n):
        arms = allocations[:, np.append(graph.neighbours(agent), agent)]
        around[:, agent] = np.unique(arms, axis=0, return_inverse=True)[1].reshape(-1)
    return around


def _pooled(values: FloatArray, groups: IntArray, source: str) -> Noise:
    """Variance within cells of (column, group), pooled over all of them."""
    seen = np.isfinite(values)
    columns = np.broadcast_to(np.arange(values.shape[1]), values.shape)[seen]
    keys = np.stack([columns, groups[seen]], axis=1)
    cell = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    count = np.bincount(cell)
    centred = values[seen] - (np.bincount(cell, weights=values[seen]) / count)[cell]
    freedom = int((count - 1).sum())
    variance = float((centred**2).sum()) / freedom if freedom else float("nan")
    return Noise(variance, freedom, source)
