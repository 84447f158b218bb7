"""Variable elimination, for graphs of small treewidth."""

from __future__ import annotations

import numpy as np

from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import PairProblem
from gbb.pairwise.elimination import best_by_elimination

LIMIT = 1e8
"""The largest number of entries of a table, K^(width + 1)."""

WORK = 2e9
"""The largest sum of the sizes of all tables."""

AGENTS = 100_000
"""The largest number of agents."""


@Solver
def elimination(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:  # noqa: ARG001
    """Optimal on graphs of small treewidth, with any edge types and forbidden arms.

    None when a table would exceed :data:`LIMIT` (width 7 at K = 10, 10 at K = 5, 16 at K = 3) or the
    time is over.
    """
    return eliminate_within(pairs, budget, WORK)


def eliminate_within(pairs: PairProblem, budget: Budget, work: float) -> Optimum | None:
    """Eliminate where the tables have at most ``work`` entries in all; None where they have more."""
    if pairs.n > AGENTS:
        return None
    best = best_by_elimination(pairs, budget, limit=LIMIT, work=work)
    return None if best is None else Optimum.of(pairs, best, "elimination")
