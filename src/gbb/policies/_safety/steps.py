"""Steps of limited size between allocations: out to what a policy wants, and home again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gbb._support.checks import IntArray
from gbb.learning.ridge import Ridge

EVEN = 1e-9
"""Upper bounds within this relative distance count as equal."""


def as_good(ridge: Ridge, radius: float, one: IntArray, other: IntArray) -> bool:
    """Whether the upper confidence bound of ``one`` is no less than that of ``other``."""
    bounds = [mean + radius * width for mean, width in map(ridge.total, (one, other))]
    return bounds[0] >= bounds[1] - EVEN * abs(bounds[1])


def toward(ridge: Ridge, last: IntArray, wanted: IntArray, limit: int) -> IntArray:
    """``last`` with the ``limit`` changes on the way to ``wanted`` that seem to gain most.

    One change after another, each the best by the estimate given those before it.
    """
    if int(np.count_nonzero(last != wanted)) <= limit:
        return wanted
    problem = ridge.problem
    source, target, kinds = problem.sources, problem.targets, problem.edge_types
    arms = last.copy()
    for _ in range(limit):
        a, b = arms[source], arms[target]
        now = ridge.means[kinds, a, b]
        moved = problem.edge_weights * (ridge.means[kinds, wanted[source], b] - now)
        followed = problem.edge_weights * (ridge.means[kinds, a, wanted[target]] - now)
        gain = np.bincount(source, weights=moved, minlength=problem.n)
        gain += np.bincount(target, weights=followed, minlength=problem.n)
        gain[arms == wanted] = -np.inf
        agent = int(np.argmax(gain))
        arms[agent] = wanted[agent]
    return arms


def way_out(
    ridge: Ridge, radius: float, last: IntArray, wanted: IntArray, limit: int
) -> list[IntArray]:
    """The steps toward ``wanted`` up to the first that has as high an upper bound as ``last``."""
    steps = [toward(ridge, last, wanted, limit)]
    while steps[-1] is not wanted and not as_good(ridge, radius, steps[-1], last):
        steps.append(toward(ridge, steps[-1], wanted, limit))
    return steps


def way_home(last: IntArray, baseline: IntArray, limit: int) -> Iterator[IntArray]:
    """The allocations that lead back to the baseline, it included, ``limit`` agents a round.

    Agents return in the order of their numbers, so the remaining path from any step is a suffix of the
    original path.
    """
    arms = last
    while True:
        away = np.flatnonzero(arms != baseline)[:limit]
        arms = arms.copy()
        arms[away] = baseline[away]
        yield arms
        if np.array_equal(arms, baseline):
            return
