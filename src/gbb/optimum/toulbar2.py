"""Exact search by toulbar2, where it is installed (``gbb[exact]``)."""

from __future__ import annotations

import importlib.util

import numpy as np

from gbb._support.budget import Budget
from gbb.optimum._optimum import Optimum, Solver
from gbb.optimum._toulbar2_process import Toulbar2Process
from gbb.optimum.heuristic import find_arms
from gbb.pairwise import PairProblem


def installed() -> bool:
    """Whether toulbar2 can be used."""
    return importlib.util.find_spec("pytoulbar2") is not None


@Solver
def toulbar2(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:
    """Branch and bound by toulbar2 from the heuristic's allocation, with toulbar2's own bound.

    Any edge types and forbidden arms. When time runs out the bound is what the search has proven so
    far. None when ``gbb[exact]`` is not installed or the problem too large to hand over.

    References
    ----------
    D. Allouche et al., Anytime hybrid best-first search with tree decomposition for weighted CSP,
    CP 2015. https://toulbar2.github.io/toulbar2
    """
    if not (installed() and Toulbar2Process.fits(pairs)):
        return None
    start = find_arms(pairs, budget.part(0.3), rng)
    fallback = Optimum.of(pairs, start, "toulbar2", bound=pairs.edge_bound, bound_method="edges")
    if fallback.proven:
        return fallback
    try:
        with Toulbar2Process(pairs, start, budget.left) as process:
            found = process.answer(budget.left)
    except KeyboardInterrupt:
        return fallback
    return fallback if found is None else found.merge(fallback, pairs)
