"""Every allocation in turn."""

from __future__ import annotations

from gbb._checks import FloatArray
from gbb._kernels.allocations import enumerate_allocations
from gbb.optimum._optimum import Optimum, pair_table, proven_optimum
from gbb.problem import Problem

LIMIT = 20_000_000
"""The largest K^n that is enumerated."""


def brute_force(problem: Problem, M: FloatArray) -> Optimum | None:
    """Enumerate all K^n allocations; None when there are more than :data:`LIMIT`."""
    if problem.K**problem.n > LIMIT:
        return None
    W = pair_table(problem, M)
    best = enumerate_allocations(problem.graph.indptr, problem.graph.indices, W)
    return proven_optimum(problem, W, best, "brute_force")
