"""The paper's cut improved until no single agent gains by changing sides."""

from __future__ import annotations

from gbb._kernels import cuts as kernels
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.graph import Graph
from gbb.pairwise.search import SideSearch


def local_search(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Start from the paper's greedy cut and flip agents while that cuts more edges.

    Deterministic: ``seed`` is accepted for the protocol and not used.
    """
    search = SideSearch(graph, kernels.greedy.greedy_sides(graph.indptr, graph.indices))
    search.ascend()
    return Cut.of(graph, search.sides)
