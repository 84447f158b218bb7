"""The best cut that a time budget buys."""

from __future__ import annotations

import numpy as np

from gbb._support import seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.cuts._exact import exact_sides
from gbb.cuts._flips import Flips
from gbb.cuts.edwards_erdos import edwards_erdos
from gbb.graph import Graph

SECONDS = 1.0
"""Default time limit."""

FIRST, MOST = 500, 20_000
"""Sweeps of the first annealing run and of the longest; each run doubles the last."""


LATEST = 0.93
"""The part of the remaining time that an annealing run may take; its descent needs the rest."""


def best(graph: Graph, *, seed: Seed = None, seconds: float = SECONDS) -> Cut:
    """The best of exact search, the Edwards-Erdos cut and as many annealing runs as time allows.

    Parameters
    ----------
    graph
        The graph to cut.
    seed
        Where the randomness comes from.
    seconds
        The time limit, kept unless the first pass over the graph alone takes longer. Less is spent
        when the cut is proven to be maximal (bipartite, small or tree-like graphs).

    Notes
    -----
    Never less than ``m/2 + (n - c)/4`` undirected edges, c the number of components. Ctrl-C returns
    the best cut so far. How many runs fit in the time depends on the machine; a graph that is solved
    exactly gives the same cut every time.
    """
    budget = Budget(seconds)
    sure = edwards_erdos(graph)
    proven = exact_sides(graph, quick=True)
    if proven is not None:
        return Cut.of(graph, proven)
    champion = Flips(graph, np.array(sure.sides))
    rng = seeds.generator(seed)
    try:
        champion.descend(budget)
        sweeps, whole = FIRST, True
        while whole and not budget.over:
            rival = Flips.random(graph, rng)
            whole = rival.anneal(sweeps, rng, budget.part(LATEST))
            if rival.size > champion.size:
                champion = rival
            sweeps = min(2 * sweeps, MOST)
    except KeyboardInterrupt:
        pass
    return champion.cut()
