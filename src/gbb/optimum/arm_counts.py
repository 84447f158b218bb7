"""On a complete graph only the number of agents on each arm matters."""

from __future__ import annotations

import math

import numpy as np

from gbb._kernels import pairwise as kernels
from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import PairProblem

LIMIT = 20_000_000
"""The largest number of count vectors, (n + K - 1 choose K - 1), that is enumerated."""


@Solver
def arm_counts(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:  # noqa: ARG001
    """Choose how many agents play each arm; None unless the graph is complete.

    All agents of a complete graph are alike, so K^n allocations shrink to
    ``(n + K - 1 choose K - 1)`` counts: 92,378 instead of 10^10 at n = K = 10. Up to :data:`LIMIT` they
    are all enumerated. Beyond, counts are found by local search, and bounded by the standard
    quadratic program over the shares of the arms. For one edge type and no forbidden arms.
    """
    if not (pairs.uniform and pairs.graph.is_complete()):
        return None
    n, K, W = pairs.n, pairs.K, pairs.tables[0]
    if math.comb(n + K - 1, K - 1) <= LIMIT:
        counts = kernels.enumeration.enumerate_counts(n, W)
        return Optimum.of(pairs, np.repeat(np.arange(K), counts), "arm_counts")
    from gbb.pairwise.quadratic import find_counts  # noqa: PLC0415

    counts, bound = find_counts(W, n)
    name = "edges" if bound is None else "quadratic"
    bound = pairs.edge_bound if bound is None else bound + pairs.rounding / 10
    arms = np.repeat(np.arange(K), counts)
    return Optimum.of(pairs, arms, "arm_counts", bound=bound, bound_method=name)
