"""Simulated annealing: one run, the best cut of several runs, and cuts in more than two parts."""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gbb import _kernels
from gbb._support import checks, seeds
from gbb._support.budget import Budget
from gbb._support.checks import IntArray
from gbb._support.seeds import Seed
from gbb.cuts.cut import Cut
from gbb.cuts.exact import exact_sides
from gbb.cuts.greedy import edwards_erdos, greedy
from gbb.graph import Graph
from gbb.pairwise import ArmSearch, PairProblem
from gbb.pairwise.search import SideSearch, cut_cooling

SWEEPS = 300
"""Default number of sweeps over all agents."""

MAX_SWEEPS, MAX_VISITS = 20_000, 400_000_000
"""Fixed work of :func:`best`: most sweeps over all edges, most visits to agents and edges in all."""

FIRST_RUN, LONGEST_RUN = 500, 20_000
"""Sweeps of the first annealing run of :func:`best` and of the longest; each run doubles the last."""

LATEST = 0.93
"""Fraction of the remaining time that an annealing run may take; its ascent needs the rest."""

_best_sides: WeakKeyDictionary[Graph, NDArray[np.int8]] = WeakKeyDictionary()


def annealing(
    graph: Graph, *, seed: Seed = None, sweeps: int = SWEEPS, seconds: float | None = None
) -> Cut:
    """Cut by one run of simulated annealing from random sides, finished by ascent.

    Parameters
    ----------
    graph, seed
        As for every :class:`~gbb.cuts.CutMethod`.
    sweeps
        Number of times every agent is offered a flip. More sweeps cut more edges.
    seconds
        A time limit; if the sweeps would take longer, cooling keeps step with the clock, so that the
        cut depends on the machine. Without it the same seed gives the same cut.

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


def best(graph: Graph, *, seed: Seed = None, seconds: float | None = None) -> Cut:
    """Return the best of the greedy cut, exact search, the Edwards-Erdos cut and annealing runs.

    It is the cut wherever none is named. Of equal cuts the paper's greedy one is taken.

    Parameters
    ----------
    graph
        The graph to cut.
    seed
        The seed of annealing within a time limit; fixed work has a seed of its own.
    seconds
        A time limit, kept unless the first pass over the graph alone takes longer; Ctrl-C then returns
        the best cut so far. Without it the work is fixed, about a second at most, so that every machine
        finds the same cut; it is found once for each graph.

    Notes
    -----
    Never less than ``m/2 + (n - c)/4`` undirected edges, c the number of components. The search ends
    early when the cut is proven to be maximal: bipartite graphs, up to 20 agents, small treewidth.
    """
    if seconds is not None:
        return best_within(graph, Budget(seconds), seed=seed)
    if graph not in _best_sides:
        budget, sweeps = Budget(), min(MAX_SWEEPS, MAX_VISITS // (graph.n + graph.m))
        sides = best_within(graph, budget, seed=0, sweeps=sweeps).sides
        if budget.interrupted:  # half a search would be kept as if it were the whole
            raise KeyboardInterrupt
        _best_sides[graph] = sides
    return Cut.of(graph, _best_sides[graph])


def best_within(
    graph: Graph, budget: Budget, *, seed: Seed = None, sweeps: float = math.inf
) -> Cut:
    """Return :func:`best` in what remains of ``budget``, which a Ctrl-C ends, and so many sweeps."""
    paper = greedy(graph)
    if paper.m12 == min(graph.m // 2, graph.n**2 // 4):  # no cut of any graph has more edges
        return paper
    sides = exact_sides(graph, quick=True)
    if sides is None:
        sides = _anneal(graph, budget, seeds.generator(seed), sweeps)
    cut = Cut.of(graph, sides)
    return cut if cut.m12 > paper.m12 else paper


def _anneal(
    graph: Graph, budget: Budget, rng: np.random.Generator, sweeps: float
) -> NDArray[np.int8]:
    """Return the best of the Edwards-Erdos cut and annealing runs, for a graph that is not bipartite."""
    champion = SideSearch(graph, np.array(edwards_erdos(graph).sides, dtype=np.int8))
    cooling, largest = cut_cooling(graph), min(graph.m // 2 - 1, graph.n**2 // 4)
    run = FIRST_RUN
    try:
        champion.ascend(budget)
        while sweeps > 0 and champion.size < largest and not budget.over:
            run = run if sweeps >= 3 * run else int(sweeps)  # the last run takes all that remain
            rival = SideSearch.random(graph, rng)
            complete = rival.anneal(run, cooling, rng, budget.part(LATEST))
            rival.ascend()
            if rival.size > champion.size:
                champion = rival
            if not complete:  # the remaining time would not do for another run
                break
            sweeps, run = sweeps - run, min(2 * run, LONGEST_RUN)
    except KeyboardInterrupt:
        budget.interrupt()
    return champion.sides


def kcut(
    graph: Graph,
    k: int,
    *,
    method: str = "annealing",
    sweeps: int = SWEEPS,
    seed: Seed = None,
    seconds: float | None = None,
) -> Cut:
    """Cut in k parts, at least ``(1 - 1/k)`` of the edges.

    Parameters
    ----------
    graph
        The graph to cut.
    k
        Number of parts, at least 2.
    method
        ``greedy`` (agents in order, each to the part with fewest of its neighbours; O(n k + m)) or
        ``annealing`` (from random parts, finished by ascent; never less than greedy).
    sweeps
        Number of times annealing offers every agent another part.
    seed
        The seed of annealing.
    seconds
        A time limit for annealing; cooling then keeps step with the clock where needed. Without it
        the same seed gives the same cut. Ctrl-C ends it early.
    """
    k = checks.integer("k", k, low=2)
    checks.choice("method", method, ("annealing", "greedy"))
    sweeps = checks.integer("sweeps", sweeps, low=0)
    budget = Budget(seconds)
    paper = Cut.of(graph, _kernels.cuts.greedy_parts(graph.indptr, graph.indices, k), k)
    if method == "greedy":
        return paper
    rng = seeds.generator(seed)
    search = _part_search(graph, k, rng.integers(k, size=graph.n))
    search.anneal(sweeps, cut_cooling(graph), rng, budget)
    search.ascend()
    return min(Cut.of(graph, search.arms, k), paper, key=lambda cut: cut.uncut)


def refine(cut: Cut, k: int) -> Cut:
    """Cut in k parts near ``cut``: agents of its two parts move on only where that cuts more.

    If :func:`kcut` leaves fewer edges inside a part, its parts are returned instead. Of two partitions
    that cut the same edges the one near a cut in two is the better to play arms over: the best couple
    has a reward on most of its edges.
    """
    k = checks.integer("k", k, low=2)
    near = _part_search(cut.graph, k, cut.sides.astype(np.int64))
    near.ascend()
    candidates = Cut.of(cut.graph, near.arms, k), kcut(cut.graph, k, seed=0)
    return min(candidates, key=lambda candidate: candidate.uncut)


def _part_search(graph: Graph, k: int, parts: IntArray) -> ArmSearch:
    """Return the search for parts as arms, where an edge has reward 1 if its ends differ."""
    return ArmSearch(PairProblem.of_table(graph, 1.0 - np.eye(k)), parts)
