"""Variable elimination, for graphs of small treewidth."""

from __future__ import annotations

import numpy as np

from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.optimum._pairs import PairProblem
from gbb.pairwise.elimination import eliminate, elimination_order

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
    return eliminated(pairs, budget, limit=LIMIT, work=WORK)


def eliminated(pairs: PairProblem, budget: Budget, *, limit: float, work: float) -> Optimum | None:
    """Eliminate within the given sizes; None when they do not suffice."""
    graph = pairs.graph
    if graph.n > AGENTS:
        return None
    sizes = pairs.allowed.sum(axis=1).astype(np.int64)
    found = elimination_order(graph.indptr, graph.indices, sizes, limit=limit)
    if found is None or found[1] > work:
        return None
    arms = [np.flatnonzero(row) for row in pairs.allowed]
    edges = graph.edges[pairs.once].astype(np.int64)
    whole = bool(pairs.allowed.all())
    tables = [
        pairs.tables[t] if whole else pairs.tables[t][np.ix_(arms[i], arms[j])]
        for (i, j), t in zip(edges.tolist(), pairs.types[pairs.once].tolist(), strict=True)
    ]
    best = eliminate(found[0], edges, tables, sizes, budget)
    if best is None:
        return None
    chosen = np.array([arms[i][best[i]] for i in range(graph.n)], dtype=np.int64)
    return Optimum.of(pairs, chosen, "elimination")
