"""The paper's Approx-MAX-CUT (Algorithm 2)."""

from __future__ import annotations

from gbb._kernels import cuts as kernels
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.graph import Graph


def greedy(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Cut at least half of the edges, in O(n + m) (the paper's Algorithm 2 and Proposition 3.1).

    Agents are taken in order; each joins V2 when more of its neighbours are already in V1 than in
    V2, and V1 otherwise. Deterministic: ``seed`` is accepted for the protocol and not used.
    """
    return Cut.of(graph, kernels.greedy.greedy_sides(graph.indptr, graph.indices))
