"""The low-rank semidefinite relaxation of Max-Cut, and the upper bound of its dual."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gbb._kernels.pairwise.mixing import Vectors, mix, pulls
from gbb._support import seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.cuts._cut import Cut
from gbb.cuts._flips import Flips
from gbb.graph import Graph
from gbb.pairwise.eigen import largest_eigenvalue

SWEEPS, SWEEPS_FOR_BOUND = 100, 2_000
"""Most sweeps over all agents, for a cut and for a bound."""

TOLERANCE, TOLERANCE_FOR_BOUND = 1e-5, 1e-9
"""Gain of a sweep per edge below which the relaxation is taken as solved."""

NUMBERS = 20_000_000
"""Numbers in all vectors together, which limits their length on large graphs."""

CHUNK = 4_000_000
"""Numbers visited between two looks at the clock."""

ROUNDINGS, SEVERAL = 20, 2_000_000
"""Random hyperplanes tried on graphs of up to so many directed edges; one beyond."""


class CutBound(NamedTuple):
    """An upper bound on the number of undirected edges in a cut, and that number over all edges."""

    edges: float
    rho: float


def relaxed(
    graph: Graph, rng: np.random.Generator, budget: Budget, *, sweeps: int, tolerance: float
) -> Vectors:
    """Unit vectors, one per agent, that make neighbours' vectors point apart."""
    rank = min(math.ceil(math.sqrt(2 * graph.n)) + 1, max(8, NUMBERS // graph.n))
    V = rng.standard_normal((graph.n, rank), dtype=np.float32)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    rows = max(1, CHUNK * graph.n // ((graph.m + graph.n) * rank))
    for _ in range(sweeps):
        fall = 0.0
        for first in range(0, graph.n, rows):
            if budget.over:
                return V
            fall += mix(graph.indptr, graph.indices, V, first, min(first + rows, graph.n))
        if fall <= tolerance * graph.m:
            break
    return V


def rounded(graph: Graph, V: Vectors, rng: np.random.Generator, budget: Budget) -> Flips:
    """The best of several random hyperplanes, each finished by descent."""
    best: Flips | None = None
    for _ in range(ROUNDINGS if graph.m <= SEVERAL else 1):
        sides = (V @ rng.standard_normal(V.shape[1], dtype=np.float32) < 0).astype(np.int8)
        flips = Flips(graph, sides)
        flips.descend()
        if best is None or flips.size > best.size:
            best = flips
        if budget.over:
            break
    assert best is not None
    return best


def upper_bound(graph: Graph, *, seconds: float | None = None, seed: Seed = 0) -> CutBound:
    """An upper bound on every cut of ``graph``, by semidefinite duality.

    With ``y_i = |sum of the neighbours' vectors|`` and the least eigenvalue ``l`` of ``A + diag(y)``,
    every cut has at most ``m/2 + (sum(y) - n l) / 4`` undirected edges (m of them in all): the dual
    of Goemans and Williamson's relaxation, repaired by a shift, so that it holds however far the
    relaxation has been solved. Beyond some thousand agents the eigenvalue is bounded with
    probability 1 - 10^-12.

    Parameters
    ----------
    graph
        The graph.
    seconds
        A time limit.
    seed
        Where the randomness comes from.
    """
    budget, rng = Budget(seconds), seeds.generator(seed)
    if graph.bipartition() is not None:
        return CutBound(graph.m / 2, 1.0)
    with one_thread():
        V = relaxed(
            graph,
            rng,
            budget.part(0.5),
            sweeps=SWEEPS_FOR_BOUND,
            tolerance=TOLERANCE_FOR_BOUND,
        )
        y = pulls(graph.indptr, graph.indices, V)
        shifted = sparse.csr_array(graph.to_sparse() + sparse.diags_array(y))
        least = -largest_eigenvalue(-shifted, rng, budget)
    edges = min(graph.m / 4 + (float(y.sum()) - graph.n * least) / 4, graph.m / 2)
    return CutBound(edges, edges / (graph.m / 2))


def rounded_cut(graph: Graph, *, seed: Seed = None, seconds: float | None = None) -> Cut:
    """Goemans and Williamson's cut, finished by descent."""
    budget, rng = Budget(seconds), seeds.generator(seed)
    with one_thread():
        V = relaxed(graph, rng, budget.part(0.8), sweeps=SWEEPS, tolerance=TOLERANCE)
        return rounded(graph, V, rng, budget).cut()
