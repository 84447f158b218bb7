"""Every allocation in turn."""

from __future__ import annotations

import numpy as np

from gbb._kernels import pairwise as kernels
from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import PairProblem

LIMIT = 20_000_000
"""The largest number of allocations that are enumerated."""


@Solver
def brute_force(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:  # noqa: ARG001
    """Enumerate all allowed allocations (K^n); None when there are more than :data:`LIMIT`."""
    if np.log(pairs.allowed.sum(axis=1)).sum() > np.log(LIMIT):
        return None
    best = kernels.enumeration.enumerate_arms(pairs.arrays)
    return Optimum.of(pairs, best, "brute_force")
