"""Goemans and Williamson's cut and its bound, from the low-rank semidefinite relaxation of Max-Cut."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gbb import _kernels
from gbb._support import seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.cuts.cut import Cut
from gbb.graph import Graph
from gbb.pairwise.search import SideSearch

if TYPE_CHECKING:
    from gbb._kernels.cuts import Vectors

SWEEPS, SWEEPS_FOR_BOUND = 100, 2_000
"""Most sweeps over all agents."""

TOLERANCE, TOLERANCE_FOR_BOUND = 1e-5, 1e-9
"""Gain of a sweep per edge below which the relaxation is taken as solved."""

MAX_NUMBERS = 20_000_000
"""Numbers in all vectors together, which limits their length on large graphs."""

CHUNK = 4_000_000
"""Numbers visited between two looks at the clock."""

ROUNDINGS, SEVERAL = 20, 2_000_000
"""Random hyperplanes tried on graphs of up to so many directed edges; one beyond."""


def goemans_williamson(graph: Graph, *, seed: Seed = None, seconds: float | None = None) -> Cut:
    """Cut by random hyperplanes through unit vectors that keep neighbours apart, then ascent.

    The semidefinite relaxation is solved in its low-rank form by the mixing method;
    :func:`gbb.cuts.upper_bound` turns it into an upper bound on every cut. A time limit, ``seconds``,
    is one for the relaxation; without it the same seed gives the same cut.

    References
    ----------
    M. Goemans and D. Williamson, J. ACM 42 (1995); P.-W. Wang, W.-C. Chang and J. Z. Kolter, The
    mixing method, arXiv:1706.00476.
    """
    budget, rng = Budget(seconds), seeds.generator(seed)
    with one_thread():
        V = relax(graph, rng, budget.part(0.8), sweeps=SWEEPS, tolerance=TOLERANCE)
        return Cut.of(graph, _round(graph, V, rng, budget).sides)


def relax(
    graph: Graph, rng: np.random.Generator, budget: Budget, *, sweeps: int, tolerance: float
) -> Vectors:
    """Return unit vectors, one per agent, that make neighbours' vectors point apart."""
    rank = min(math.ceil(math.sqrt(2 * graph.n)) + 1, max(8, MAX_NUMBERS // graph.n))
    V = rng.standard_normal((graph.n, rank), dtype=np.float32)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    rows = max(1, CHUNK * graph.n // ((graph.m + graph.n) * rank))
    for _ in range(sweeps):
        fall = 0.0
        for first in range(0, graph.n, rows):
            if budget.over:
                return V
            last = min(first + rows, graph.n)
            fall += _kernels.cuts.mix(graph.indptr, graph.indices, V, first, last)
        if fall <= tolerance * graph.m:
            break
    return V


def _round(graph: Graph, V: Vectors, rng: np.random.Generator, budget: Budget) -> SideSearch:
    """Return the best of several random hyperplanes, each finished by ascent."""
    searches = []
    for _ in range(ROUNDINGS if graph.m <= SEVERAL else 1):
        sides = (V @ rng.standard_normal(V.shape[1], dtype=np.float32) < 0).astype(np.int8)
        searches.append(SideSearch(graph, sides))
        searches[-1].ascend()
        if budget.over:
            break
    return max(searches, key=lambda search: search.size)


class CutBound(NamedTuple):
    """An upper bound on the number of undirected edges in a cut, and that number over all edges."""

    edges: float
    rho: float


def upper_bound(graph: Graph, *, seconds: float | None = None, seed: Seed = 0) -> CutBound:
    """Return an upper bound on every cut of ``graph``, by semidefinite duality.

    With ``y_i = |sum of the neighbours' vectors|`` and the least eigenvalue ``l`` of ``A + diag(y)``,
    every cut has at most ``m/2 + (sum(y) - n l) / 4`` undirected edges (m of them in all): the dual
    of Goemans and Williamson's relaxation, repaired by a shift, so that it holds however far the
    relaxation has been solved. Beyond some thousand agents the eigenvalue is bounded with
    probability 1 - 4 10^-12.

    Parameters
    ----------
    graph
        The graph.
    seconds
        A time limit.
    seed
        The seed of the first vectors.
    """
    from scipy import sparse  # noqa: PLC0415  (slow to load)

    from gbb.pairwise.eigenvalues import largest_eigenvalue  # noqa: PLC0415

    budget, rng = Budget(seconds), seeds.generator(seed)
    if graph.bipartition() is not None:
        return CutBound(graph.m / 2, 1.0)
    with one_thread():
        V = relax(
            graph, rng, budget.part(0.5), sweeps=SWEEPS_FOR_BOUND, tolerance=TOLERANCE_FOR_BOUND
        )
        y = _kernels.cuts.dual_multipliers(graph.indptr, graph.indices, V)
        shifted = sparse.csr_array(graph.to_sparse() + sparse.diags_array(y))
        # The shift must not be too small: -l is bounded from above, so l from below.
        smallest = -largest_eigenvalue(-shifted, rng, budget)
    edges = min(graph.m / 4 + (float(y.sum()) - graph.n * smallest) / 4, graph.m / 2)
    return CutBound(edges, edges / (graph.m / 2))
