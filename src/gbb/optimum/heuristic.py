"""A good allocation of any problem, fast: many starts, annealing, exact moves on forests."""

from __future__ import annotations

import numpy as np

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.optimum.optimum import Optimum
from gbb.pairwise import ArmSearch, PairProblem
from gbb.pairwise.search import Cooling, SideSearch, cut_cooling

SWEEPS = 300
"""Sweeps of an annealing run."""

HOT, COLD = 0.4, 0.03
"""First and last temperature of annealing, in units of what a random change of one arm changes."""

EFFORT = 6_000_000
"""Agents visited by all annealing runs together, which sets how many there are."""

MIN_RUNS, MAX_RUNS = 4, 60
"""Smallest and largest number of annealing runs."""

PERTURBATIONS = 6
"""Perturbations of the champion after each run."""

PERTURBED = 0.15
"""Fraction of the agents that a perturbation gives random arms."""

MIN_PRICES = 6.0
"""A new start is made if this many times the price of setting one up remains."""


def heuristic(
    pairs: PairProblem, budget: Budget, rng: np.random.Generator, method: str = "heuristic"
) -> Optimum:
    """Search from many starts, and bound each edge by the largest reward that it can have.

    Starts: one arm everywhere, the best couple over a good cut (which secures alpha_2 of the
    optimum), random arms annealed, and perturbations of the best. Each is finished by coordinate
    ascent and, where that is affordable, by exact moves on random induced forests. The number of
    searches is fixed by the problem's size; the time limit can only cut it short, and so can Ctrl-C.
    ``method`` is the solver that starts from the answer.
    """
    bound, clock = pairs.edge_bound, Budget()
    champion = ArmSearch(pairs, homogeneous(pairs))
    price = clock.elapsed  # what another start costs before its search begins
    try:
        champion.finish(rng, budget)
        if budget.left > MIN_PRICES * price:
            rival = ArmSearch(pairs, couple_over_cut(pairs, budget, rng))
            rival.finish(rng, budget)
            champion = max(champion, rival, key=lambda rival: rival.value)
        cooling = _cooling(pairs)
        runs = int(np.clip(EFFORT // (SWEEPS * pairs.n), MIN_RUNS, MAX_RUNS))
        for _ in range(runs):
            proven = pairs.reaches(champion.value, bound)
            if proven or budget.over or budget.left < MIN_PRICES * price:
                break
            rival = ArmSearch(pairs, random_arms(pairs, rng))
            complete = rival.anneal(SWEEPS, cooling, rng, budget.part(0.9).less(2 * price))
            rival.finish(rng, budget)
            champion = max(champion, rival, key=lambda rival: rival.value)
            if not complete:  # the remaining time would not do for another run
                break
            champion = _perturb(champion, rng, budget)
    except KeyboardInterrupt:
        budget.interrupt()
    return Optimum.of(pairs, champion.arms, method, bound=bound, bound_method="edges")


def _perturb(champion: ArmSearch, rng: np.random.Generator, budget: Budget) -> ArmSearch:
    """Perturb the champion some times, and go on from whatever ends at least as high."""
    pairs = champion.pairs
    for _ in range(PERTURBATIONS):
        if budget.over:
            break
        perturbed = rng.random(pairs.n) < PERTURBED
        rival = ArmSearch(pairs, np.where(perturbed, random_arms(pairs, rng), champion.arms))
        rival.finish(rng, budget)
        if rival.value >= champion.value:  # equal ones too: plateaus are walked along
            champion = rival
    return champion


def _cooling(pairs: PairProblem) -> Cooling:
    tables = pairs.tables[:100]  # a scale is all that is wanted
    changes = (tables[:, :, :, None] - tables[:, :, None, :]).std(axis=(1, 2, 3)).max()
    return Cooling(HOT, COLD, float(changes * np.sqrt(max(1.0, pairs.graph.m / pairs.n))))


def random_arms(pairs: PairProblem, rng: np.random.Generator) -> IntArray:
    """Draw an allowed arm for each agent."""
    if pairs.allowed.all():
        return rng.integers(pairs.K, size=pairs.n)
    draws: FloatArray = np.where(pairs.allowed, rng.random(pairs.allowed.shape), -1.0)
    arms: IntArray = draws.argmax(axis=1)
    return arms


def homogeneous(pairs: PairProblem) -> IntArray:
    """Return the best arm for all to play; agents that may not play it have their first allowed one."""
    counts = np.bincount(pairs.types, minlength=len(pairs.tables))
    values = np.einsum("t,taa->a", counts, pairs.tables)
    return restrict(pairs, np.full(pairs.n, np.argmax(values)))


def couple_over_cut(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> IntArray:
    """Return the best couple over a good cut, V1 playing its first arm and V2 its second."""
    graph = pairs.graph
    search = SideSearch.random(graph, rng)
    search.anneal(SWEEPS, cut_cooling(graph), rng, budget.part(0.1))
    search.ascend()
    sides = search.sides
    kinds = pairs.types.astype(np.int64) * 4 + 2 * sides[graph.sources] + sides[graph.indices]
    counts = np.bincount(kinds, minlength=4 * len(pairs.tables)).reshape(-1, 4)
    inside = np.einsum("tk,taa->ka", counts, pairs.tables)
    across = np.einsum("t,tab->ab", counts[:, 1], pairs.tables)
    total = across + across.T + inside[0][:, None] + inside[3][None, :]
    a, b = divmod(int(np.argmax(total)), pairs.K)
    return restrict(pairs, np.where(sides == 0, a, b))


def restrict(pairs: PairProblem, arms: IntArray) -> IntArray:
    """Replace the arms that agents may not play by their first allowed ones."""
    allowed = pairs.allowed[np.arange(pairs.n), arms]
    return np.where(allowed, arms, pairs.allowed.argmax(axis=1)).astype(np.int64)
