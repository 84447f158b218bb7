"""The best cut that a time budget buys."""

from __future__ import annotations

import numpy as np

from gbb._support import seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.cuts._exact import exact_sides
from gbb.cuts.edwards_erdos import edwards_erdos
from gbb.graph import Graph
from gbb.pairwise.search import SideSearch, cut_cooling

SECONDS = 1.0
"""Default time limit."""

FIRST, MOST = 500, 20_000
"""Sweeps of the first annealing run and of the longest; each run doubles the last."""

LATEST = 0.93
"""The part of the remaining time that an annealing run may take; its ascent needs the rest."""


def best(graph: Graph, *, seed: Seed = None, seconds: float = SECONDS) -> Cut:
    """The best of exact search, the Edwards-Erdos cut and as many annealing runs as time allows.

    Parameters
    ----------
    graph, seed
        As for every :class:`~gbb.cuts.CutMethod`.
    seconds
        The time limit, kept unless the first pass over the graph alone takes longer. Less is spent
        when the cut is proven to be maximal (bipartite, small or tree-like graphs).

    Notes
    -----
    Never less than ``m/2 + (n - c)/4`` undirected edges, c the number of components. Ctrl-C returns
    the best cut so far. How many runs fit in the time depends on the machine; a graph that is solved
    exactly gives the same cut every time.
    """
    return best_within(graph, Budget(seconds), seed=seed)


def best_within(graph: Graph, budget: Budget, *, seed: Seed = None) -> Cut:
    """:func:`best` in what remains of ``budget``, which a Ctrl-C ends."""
    sure = edwards_erdos(graph)
    proven = exact_sides(graph, quick=True)
    if proven is not None:
        return Cut.of(graph, proven)
    champion = SideSearch(graph, np.array(sure.sides))
    rng, cooling = seeds.generator(seed), cut_cooling(graph)
    try:
        champion.ascend(budget)
        sweeps, whole = FIRST, True
        while whole and not budget.over:
            rival = SideSearch.random(graph, rng)
            whole = rival.anneal(sweeps, cooling, rng, budget.part(LATEST))
            rival.ascend()
            if rival.size > champion.size:
                champion = rival
            sweeps = min(2 * sweeps, MOST)
    except KeyboardInterrupt:
        budget.interrupt()
    return Cut.of(graph, champion.sides)
