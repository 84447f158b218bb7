"""A good allocation of any problem, fast: many starts, annealing, exact moves on forests."""

from __future__ import annotations

from functools import cache

import numpy as np

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import ArmSearch, PairProblem
from gbb.pairwise.search import Cooling, SideSearch, cut_cooling

SWEEPS = 300
"""Sweeps of an annealing run."""

HOT, COLD = 0.4, 0.03
"""First and last temperature of annealing, in units of what a random change of one arm changes."""

EFFORT = 6_000_000
"""Agents visited by all annealing runs together, which sets how many there are."""

FEWEST, MOST = 4, 60
"""Least and greatest number of annealing runs."""

KICKS = 6
"""Perturbations of the champion after each run."""

KICKED = 0.15
"""Fraction of the agents that a perturbation gives random arms."""

DEARER = 6.0
"""A new start is made when this many times the price of setting one up remains."""


@Solver
def heuristic(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:
    """The best of many searches, with the cheap bound: what each edge can pay at most.

    Starts: one arm everywhere, the best couple over a good cut (which secures alpha_2 of the
    optimum), random arms annealed, and perturbations of the best. Each is finished by coordinate
    ascent and, where that is affordable, by exact moves on random induced forests. The number of
    searches is fixed by the problem's size; the time limit can only cut it short, and so can Ctrl-C.
    """
    best = find_arms(pairs, budget, rng)
    return Optimum.of(pairs, best, "heuristic", bound=pairs.edge_bound, bound_method="edges")


def find_arms(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> IntArray:
    """The best allocation found within the budget."""
    with budget.aside():
        compile_search()
    clock = Budget()
    champion = ArmSearch(pairs, homogeneous(pairs))
    price = clock.elapsed  # what another start costs before its search begins
    try:
        champion.finish(rng, budget)
        if budget.left > DEARER * price:
            rival = ArmSearch(pairs, couple_over_cut(pairs, budget, rng))
            rival.finish(rng, budget)
            champion = max(champion, rival, key=lambda rival: rival.value)
        cooling = _cooling(pairs)
        runs = int(np.clip(EFFORT // (SWEEPS * pairs.n), FEWEST, MOST))
        for _ in range(runs):
            proven = pairs.reaches(champion.value, pairs.edge_bound)
            if proven or budget.over or budget.left < DEARER * price:
                break
            rival = ArmSearch(pairs, random_arms(pairs, rng))
            whole = rival.anneal(SWEEPS, cooling, rng, budget.part(0.9).less(2 * price))
            rival.finish(rng, budget)
            champion = max(champion, rival, key=lambda rival: rival.value)
            if not whole:
                break
            champion = _kick(champion, rng, budget)
    except KeyboardInterrupt:
        budget.interrupt()
    return champion.arms


@cache
def compile_search() -> None:
    """Load or compile all that a search needs, by one on three agents."""
    pairs, rng = PairProblem.of_table(Graph.complete(3), 1.0 - np.eye(2)), np.random.default_rng(0)
    search = ArmSearch(pairs, couple_over_cut(pairs, Budget(), rng))
    search.anneal(1, _cooling(pairs), rng, Budget())
    search.finish(rng, Budget())


def _kick(champion: ArmSearch, rng: np.random.Generator, budget: Budget) -> ArmSearch:
    """The champion, or the first of some perturbations of it that ends higher."""
    pairs = champion.pairs
    for _ in range(KICKS):
        if budget.over:
            break
        kicked = rng.random(pairs.n) < KICKED
        rival = ArmSearch(pairs, np.where(kicked, random_arms(pairs, rng), champion.arms))
        rival.finish(rng, budget)
        if rival.value >= champion.value:
            champion = rival
    return champion


def _cooling(pairs: PairProblem) -> Cooling:
    tables = pairs.tables[:100]
    changes = (tables[:, :, :, None] - tables[:, :, None, :]).std(axis=(1, 2, 3)).max()
    return Cooling(HOT, COLD, float(changes * np.sqrt(max(1.0, pairs.graph.m / pairs.n))))


def random_arms(pairs: PairProblem, rng: np.random.Generator) -> IntArray:
    """An allowed arm drawn at random for each agent."""
    if pairs.allowed.all():
        return rng.integers(pairs.K, size=pairs.n)
    draws: FloatArray = np.where(pairs.allowed, rng.random(pairs.allowed.shape), -1.0)
    arms: IntArray = draws.argmax(axis=1)
    return arms


def homogeneous(pairs: PairProblem) -> IntArray:
    """The arm that pays most when everybody plays it; agents that may not play their first."""
    counts = np.bincount(pairs.types, minlength=len(pairs.tables))
    own = np.einsum("t,taa->a", counts, pairs.tables)
    return permit(pairs, np.full(pairs.n, np.argmax(own)))


def couple_over_cut(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> IntArray:
    """The couple that pays most over a good cut, V1 playing its first arm and V2 its second."""
    graph = pairs.graph
    search = SideSearch.random(graph, rng)
    search.anneal(SWEEPS, cut_cooling(graph), rng, budget.part(0.1))
    search.ascend()
    sides = search.sides
    kinds = pairs.types.astype(np.int64) * 4 + 2 * sides[graph.sources] + sides[graph.indices]
    counts = np.bincount(kinds, minlength=4 * len(pairs.tables)).reshape(-1, 4)
    own = np.einsum("tk,taa->ka", counts, pairs.tables)
    across = np.einsum("t,tab->ab", counts[:, 1], pairs.tables)
    total = across + across.T + own[0][:, None] + own[3][None, :]
    a, b = divmod(int(np.argmax(total)), pairs.K)
    return permit(pairs, np.where(sides == 0, a, b))


def permit(pairs: PairProblem, arms: IntArray) -> IntArray:
    """The same arms, but the first allowed one where an agent may not play its own."""
    fine = pairs.allowed[np.arange(pairs.n), arms]
    return np.where(fine, arms, pairs.allowed.argmax(axis=1)).astype(np.int64)
