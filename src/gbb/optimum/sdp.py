"""Upper bounds by semidefinite programming, beside the heuristic's allocation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb._support.threads import one_thread
from gbb.optimum._optimum import Optimum, Solver
from gbb.optimum.heuristic import find_arms
from gbb.pairwise import PairProblem

PATIENCE = 12
"""Certificates in a row that bring nothing after which the search for a better bound ends."""

CALMER = 0.9
"""Factor of the penalty after some certificates in a row that bring nothing."""

SECONDS_AN_EDGE = 5e-7
"""Time that the spectral bound needs for each directed edge, at least."""

SHARE = 0.25
"""Part of the time spent on certificates."""


@Solver
def sdp(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:
    """The heuristic's allocation with the best of three upper bounds.

    What each edge can pay at most; for one edge type, the spectral bound, on graphs of any size; and
    up to some thousand arms over all agents, the low-rank semidefinite relaxation with a repaired
    dual, which holds wherever it is stopped. Ctrl-C returns the best so far.
    """
    start = find_arms(pairs, budget.part(0.3), rng)
    first = Optimum.of(pairs, start, "sdp", bound=pairs.edge_bound, bound_method="edges")
    return tighten(pairs, first, budget, rng)


def tighten(
    pairs: PairProblem, found: Optimum, budget: Budget, rng: np.random.Generator
) -> Optimum:
    """The same allocation with a smaller bound, if one is found in time."""
    from gbb.pairwise.certificate import fits  # noqa: PLC0415  (scipy is slow to load)
    from gbb.pairwise.spectral import spectral_bound  # noqa: PLC0415

    try:
        with one_thread():
            block = None
            affordable = budget.left > SECONDS_AN_EDGE * pairs.graph.m and not budget.over
            if pairs.single and affordable and not found.proven:
                bound, block = spectral_bound(pairs, budget.part(0.7), rng)
                found = _merge_bound(found, pairs, bound, "spectral")
            for bound in low_rank_bounds(pairs, block, budget, rng) if fits(pairs) else ():
                found = _merge_bound(found, pairs, bound, "sdp")
                if found.proven:
                    break
    except KeyboardInterrupt:
        budget.interrupt()
    return found


def low_rank_bounds(
    pairs: PairProblem, block: FloatArray | None, budget: Budget, rng: np.random.Generator
) -> Iterator[float]:
    """Upper bounds from the low-rank relaxation, until time is over or no better ones come."""
    from gbb.pairwise.certificate import certified_bound, seconds_needed  # noqa: PLC0415
    from gbb.pairwise.relaxation import PairRelaxation  # noqa: PLC0415

    relaxation = PairRelaxation(pairs, rng, block)
    failures, best = 0, np.inf
    price = seconds_needed(pairs)
    paid = Budget()
    while failures < PATIENCE and budget.left > price and not budget.over:
        relaxation.step(budget.less(price))
        if paid.elapsed < price / SHARE and budget.left > 2 * price:
            continue
        clock = Budget()
        bound = certified_bound(pairs, relaxation.E, relaxation.N, rng)
        price, paid = clock.elapsed, Budget()
        failures = 0 if bound < best - 1e-5 * abs(bound) else failures + 1
        relaxation.sigma *= CALMER if failures >= 3 else 1.0
        best = min(best, bound)
        yield bound


def _merge_bound(found: Optimum, pairs: PairProblem, bound: float, name: str) -> Optimum:
    other = Optimum.of(pairs, found.allocation, found.method, bound=bound, bound_method=name)
    return found.merge(other, pairs)
