"""On a complete graph only the number of agents on each arm matters."""

from __future__ import annotations

import math

import numpy as np

from gbb._checks import FloatArray
from gbb._kernels.allocations import enumerate_counts
from gbb.optimum._optimum import Optimum, pair_table, proven_optimum
from gbb.problem import Problem

LIMIT = 20_000_000
"""The largest number of count vectors, (n + K - 1 choose K - 1), that is enumerated."""


def arm_counts(problem: Problem, M: FloatArray) -> Optimum | None:
    """Enumerate how many agents play each arm; None unless the graph is complete and small enough.

    All agents of a complete graph are alike, so K^n allocations shrink to
    ``(n + K - 1 choose K - 1)`` counts: 92,378 instead of 10^10 at n = K = 10.
    """
    if not problem.graph.is_complete():
        return None
    if math.comb(problem.n + problem.K - 1, problem.K - 1) > LIMIT:
        return None
    W = pair_table(problem, M)
    counts = enumerate_counts(problem.n, W)
    return proven_optimum(problem, W, np.repeat(np.arange(problem.K), counts), "arm_counts")
