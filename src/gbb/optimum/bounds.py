"""Upper bounds by semidefinite programming, beside the heuristic's allocation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gbb._support.budget import Budget
from gbb._support.threads import one_thread
from gbb.optimum.heuristic import heuristic
from gbb.optimum.optimum import Optimum
from gbb.pairwise import PairProblem

SECONDS_AN_EDGE = 5e-7
"""Time that the spectral bound needs for each directed edge, at least."""


def sdp(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:
    """Bound the heuristic's allocation by the best of three upper bounds.

    The most that each edge can add; for one edge type, the spectral bound, on graphs of any size; and
    up to some thousand arms over all agents, the low-rank semidefinite relaxation with a repaired
    dual, which holds wherever it is stopped. Ctrl-C returns the best so far.
    """
    start = heuristic(pairs, budget.part(0.3), rng, "sdp")
    return start if start.proven else improve_bound(pairs, start, budget, rng)


def improve_bound(
    pairs: PairProblem, answer: Optimum, budget: Budget, rng: np.random.Generator
) -> Optimum:
    """Return the same allocation with a smaller bound, if one is found in time."""
    arms, method = answer.allocation, answer.method
    try:
        with one_thread():
            for name, bound in _bounds(pairs, budget, rng):
                other = Optimum.of(pairs, arms, method, bound=bound, bound_method=name)
                answer = answer.merge(other, pairs)
                if answer.proven:
                    break
    except KeyboardInterrupt:
        budget.interrupt()
    return answer


def _bounds(
    pairs: PairProblem, budget: Budget, rng: np.random.Generator
) -> Iterator[tuple[str, float]]:
    from gbb.pairwise.sdp import low_rank_bounds  # noqa: PLC0415  (scipy is slow to load)
    from gbb.pairwise.spectral import spectral_bound  # noqa: PLC0415

    block = None
    if pairs.single and budget.left > SECONDS_AN_EDGE * pairs.graph.m and not budget.over:
        bound, block = spectral_bound(pairs, budget.part(0.7), rng)
        yield "spectral", bound
    # The relaxation starts from the multipliers of the spectral bound.
    for bound in low_rank_bounds(pairs, block, budget, rng):
        yield "sdp", bound
