"""On a bipartite graph the two sides play the best couple."""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray
from gbb.optimum._optimum import Optimum, pair_table, proven_optimum
from gbb.problem import Problem


def bipartite(problem: Problem, M: FloatArray) -> Optimum | None:
    """Optimal on bipartite graphs (trees, stars, matchings, even circles, grids).

    Every edge joins the two sides, so every edge pays ``max W``.
    """
    sides = problem.graph.bipartition()
    if sides is None:
        return None
    W = pair_table(problem, M)
    a, b = divmod(int(np.argmax(W)), problem.K)
    return proven_optimum(problem, W, np.where(sides == 0, a, b).astype(np.int64), "bipartite")
