"""The paper's Approx-MAX-CUT (Algorithm 2), and two other cuts in linear time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb import _kernels
from gbb._support.seeds import Seed
from gbb.cuts.cut import Cut
from gbb.graph import Graph
from gbb.pairwise.search import SideSearch

FEW = 20
"""Agents up to which cuts are found in numpy: the compiled loops take longer to load."""


def greedy(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Cut at least half of the edges, in O(n + m) (the paper's Algorithm 2 and Proposition 3.1).

    Agents are taken in order; each joins V2 if more of its neighbours are already in V1 than in V2,
    and V1 otherwise. Deterministic: ``seed`` is accepted for the protocol and not used.
    """
    return Cut.of(graph, greedy_sides(graph))


def greedy_sides(graph: Graph) -> NDArray[np.int8]:
    """Return the side of each agent by Algorithm 2."""
    if graph.n > FEW:
        return _kernels.cuts.greedy_sides(graph.indptr, graph.indices)
    sides = np.full(graph.n, -1, dtype=np.int8)
    for i in range(graph.n):
        near = sides[graph.indices[graph.indptr[i] : graph.indptr[i + 1]]]
        sides[i] = np.count_nonzero(near == 0) > np.count_nonzero(near == 1)
    return sides


def local_search(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Start from the paper's greedy cut and flip agents while that cuts more edges.

    Deterministic: ``seed`` is accepted for the protocol and not used.
    """
    search = SideSearch(graph, greedy_sides(graph))
    search.ascend()
    return Cut.of(graph, search.sides)


def edwards_erdos(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Cut at least ``m/2 + (n - c)/4`` undirected edges, in O(n + m), c the number of components.

    The agents fall into induced stars, at most ``(n + c)/2`` of them; all ``n - stars`` edges inside
    stars are cut, and placing each star the better way round cuts half of the others. The paper's
    Algorithm 2 secures ``m/2`` only. Deterministic: ``seed`` is accepted for the protocol and not used.

    References
    ----------
    C. S. Edwards, Some extremal properties of bipartite subgraphs, Canad. J. Math. 25 (1973).
    """
    centre = _kernels.cuts.star_centres(graph.indptr, graph.indices)
    order = np.argsort(centre, kind="stable").astype(np.int64)
    # Stars are ranges of `order`; agents that are no centre of their own have empty ones.
    ends = np.cumsum(np.bincount(centre, minlength=graph.n))
    ends = np.unique(ends[ends > 0]).astype(np.int64)
    return Cut.of(
        graph, _kernels.cuts.place_stars(graph.indptr, graph.indices, order, ends, centre)
    )
