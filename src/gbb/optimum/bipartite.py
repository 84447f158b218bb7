"""On a bipartite graph the two sides play the best couple."""

from __future__ import annotations

import numpy as np

from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import PairProblem


@Solver
def bipartite(
    pairs: PairProblem,
    budget: Budget,
    rng: np.random.Generator,  # noqa: ARG001
) -> Optimum | None:
    """Optimal on bipartite graphs (trees, stars, matchings, even circles, grids).

    Every edge joins the two sides, so every edge pays ``max W``. For one edge type and no forbidden
    arms.
    """
    with budget.aside():  # the graph finds them once, and may have to compile what does
        sides = pairs.graph.bipartition() if pairs.uniform else None
    if sides is None:
        return None
    a, b = divmod(int(np.argmax(pairs.tables[0])), pairs.K)
    return Optimum.of(pairs, np.where(sides == 0, a, b), "bipartite")
