"""Goemans and Williamson's cut, from the low-rank semidefinite relaxation of Max-Cut."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gbb._kernels import cuts as kernels
from gbb._support import seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.cuts._cut import Cut
from gbb.graph import Graph
from gbb.pairwise.search import SideSearch

if TYPE_CHECKING:
    from gbb._kernels.cuts.mixing import Vectors

SWEEPS = 100
"""Most sweeps over all agents."""

TOLERANCE = 1e-5
"""Gain of a sweep per edge below which the relaxation is taken as solved."""

NUMBERS = 20_000_000
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
            last = min(first + rows, graph.n)
            fall += kernels.mixing.mix(graph.indptr, graph.indices, V, first, last)
        if fall <= tolerance * graph.m:
            break
    return V


def _round(graph: Graph, V: Vectors, rng: np.random.Generator, budget: Budget) -> SideSearch:
    """The best of several random hyperplanes, each finished by ascent."""
    best: SideSearch | None = None
    for _ in range(ROUNDINGS if graph.m <= SEVERAL else 1):
        sides = (V @ rng.standard_normal(V.shape[1], dtype=np.float32) < 0).astype(np.int8)
        search = SideSearch(graph, sides)
        search.ascend()
        if best is None or search.size > best.size:
            best = search
        if budget.over:
            break
    assert best is not None
    return best
