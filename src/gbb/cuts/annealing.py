"""Simulated annealing."""

from __future__ import annotations

from gbb._support import checks, seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.graph import Graph
from gbb.pairwise.search import SideSearch, cut_cooling

SWEEPS = 300
"""Default number of sweeps over all agents."""


def annealing(
    graph: Graph, *, seed: Seed = None, sweeps: int = SWEEPS, seconds: float | None = None
) -> Cut:
    """One run of simulated annealing from random sides, finished by ascent.

    Parameters
    ----------
    graph, seed
        As for every :class:`~gbb.cuts.CutMethod`.
    sweeps
        How many times every agent is offered a flip. More sweeps cut more edges.
    seconds
        A time limit; cooling then keeps step with the clock when the sweeps would take longer, so
        the cut depends on the machine. Without it the same seed gives the same cut.

    Notes
    -----
    The result is a local optimum, so at least half of the edges are cut. Ctrl-C ends the annealing
    early and returns the cut it has reached.
    """
    sweeps = checks.integer("sweeps", sweeps, low=0)
    budget = Budget(seconds)
    rng = seeds.generator(seed)
    search = SideSearch.random(graph, rng)
    search.anneal(sweeps, cut_cooling(graph), rng, budget)
    search.ascend()
    return Cut.of(graph, search.sides)
