"""When the best couple is one arm with itself, everybody plays it."""

from __future__ import annotations

import numpy as np

from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import PairProblem


@Solver
def diagonal(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:  # noqa: ARG001
    """Optimal for any graph when the largest entry of W stands on its diagonal.

    No edge can pay more than ``max W``, and playing that arm everywhere makes every edge pay it.
    With edge types, one arm must be best on the diagonals of all tables.
    """
    own = np.diagonal(pairs.tables, axis1=1, axis2=2)
    best = (own >= pairs.tables.max(axis=(1, 2))[:, None]).all(axis=0) & pairs.allowed.all(axis=0)
    if not best.any():
        return None
    return Optimum.of(pairs, np.full(pairs.n, np.argmax(best)), "diagonal")
