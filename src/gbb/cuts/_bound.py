"""An upper bound on every cut, by semidefinite duality."""

from __future__ import annotations

from typing import NamedTuple

from gbb._kernels import cuts as kernels
from gbb._support import seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.cuts.goemans_williamson import relax
from gbb.graph import Graph

SWEEPS = 2_000
"""Most sweeps over all agents."""

TOLERANCE = 1e-9
"""Gain of a sweep per edge below which the relaxation is taken as solved."""


class CutBound(NamedTuple):
    """An upper bound on the number of undirected edges in a cut, and that number over all edges."""

    edges: float
    rho: float


def upper_bound(graph: Graph, *, seconds: float | None = None, seed: Seed = 0) -> CutBound:
    """An upper bound on every cut of ``graph``, by semidefinite duality.

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
        Where the randomness comes from.
    """
    from scipy import sparse  # noqa: PLC0415

    from gbb.pairwise.eigen import largest_eigenvalue  # noqa: PLC0415

    budget, rng = Budget(seconds), seeds.generator(seed)
    if graph.bipartition() is not None:
        return CutBound(graph.m / 2, 1.0)
    with one_thread():
        V = relax(graph, rng, budget.part(0.5), sweeps=SWEEPS, tolerance=TOLERANCE)
        y = kernels.mixing.pulls(graph.indptr, graph.indices, V)
        shifted = sparse.csr_array(graph.to_sparse() + sparse.diags_array(y))
        least = -largest_eigenvalue(-shifted, rng, budget)
    edges = min(graph.m / 4 + (float(y.sum()) - graph.n * least) / 4, graph.m / 2)
    return CutBound(edges, edges / (graph.m / 2))
