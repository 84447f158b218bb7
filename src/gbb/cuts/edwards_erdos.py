"""The cut of the Edwards-Erdos bound."""

from __future__ import annotations

import numpy as np

from gbb._kernels import cuts as kernels
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.graph import Graph


def edwards_erdos(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Cut at least ``m/2 + (n - c)/4`` undirected edges, in O(n + m), c the number of components.

    The agents fall into induced stars, at most ``(n + c)/2`` of them; all ``n - stars`` edges inside
    stars are cut, and placing each star the better way round cuts half of the others. The paper's
    Algorithm 2 secures ``m/2`` only. Deterministic: ``seed`` is not used.

    References
    ----------
    C. S. Edwards, Some extremal properties of bipartite subgraphs, Canad. J. Math. 25 (1973).
    """
    centre = kernels.stars.star_centres(graph.indptr, graph.indices)
    order = np.argsort(centre, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(centre, minlength=graph.n))
    ends = np.unique(ends[ends > 0]).astype(np.int64)
    sides = kernels.stars.place_stars(graph.indptr, graph.indices, order, ends, centre)
    return Cut.of(graph, sides)
