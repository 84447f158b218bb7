"""On a complete graph only the number of agents on each arm matters."""

from __future__ import annotations

import math

import numpy as np

from gbb._budget import Budget
from gbb._kernels.allocations import enumerate_counts
from gbb.optimum._optimum import Optimum, Solver
from gbb.optimum._pairs import PairProblem

LIMIT = 20_000_000
"""The largest number of count vectors, (n + K - 1 choose K - 1), that is enumerated."""


@Solver
def arm_counts(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:  # noqa: ARG001
    """Enumerate how many agents play each arm; None unless the graph is complete and small enough.

    All agents of a complete graph are alike, so K^n allocations shrink to
    ``(n + K - 1 choose K - 1)`` counts: 92,378 instead of 10^10 at n = K = 10.
    """
    if not (pairs.uniform and pairs.graph.is_complete()):
        return None
    if math.comb(pairs.n + pairs.K - 1, pairs.K - 1) > LIMIT:
        return None
    counts = enumerate_counts(pairs.n, pairs.tables[0])
    return Optimum.of(pairs, np.repeat(np.arange(pairs.K), counts), "arm_counts")
