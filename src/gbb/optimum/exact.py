"""Proofs of optimality by shape: of the tables, of the graph, or by enumeration."""

from __future__ import annotations

import math

import numpy as np

from gbb import _kernels
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.optimum.optimum import Optimum
from gbb.pairwise import PairProblem
from gbb.pairwise.elimination import best_by_elimination

MAX_COUNTS = 20_000_000
"""The largest number of count vectors, (n + K - 1 choose K - 1), that is enumerated."""

MAX_ALLOCATIONS = 20_000_000
"""The largest number of allocations that are enumerated."""

MAX_TABLE = 1e8
"""The largest number of entries of a table in variable elimination, K^(width + 1)."""

MAX_WORK = 2e9
"""The largest sum of the sizes of all tables in variable elimination."""

MAX_AGENTS = 100_000
"""The largest number of agents for variable elimination."""


def diagonal(pairs: PairProblem, _budget: Budget, _rng: np.random.Generator) -> Optimum | None:
    """Play one arm everywhere: optimal if the largest entry of W stands on its diagonal.

    No edge has a larger reward than ``max W``, and playing that arm everywhere gives it to every edge.
    With edge types, one arm must be best on the diagonals of all tables.
    """
    equal = np.diagonal(pairs.tables, axis1=1, axis2=2)
    best = (equal >= pairs.tables.max(axis=(1, 2))[:, None]).all(axis=0) & pairs.allowed.all(axis=0)
    if not best.any():
        return None
    return Optimum.of(pairs, np.full(pairs.n, np.argmax(best)), "diagonal")


def bipartite(pairs: PairProblem, _budget: Budget, _rng: np.random.Generator) -> Optimum | None:
    """Play the best couple on the sides of a bipartite graph (trees, stars, even circles, grids).

    Every edge joins the two sides, so every edge has the reward ``max W``. For one edge type and no
    forbidden arms.
    """
    sides = pairs.graph.bipartition() if pairs.uniform else None
    if sides is None:
        return None
    a, b = divmod(int(np.argmax(pairs.tables[0])), pairs.K)
    return Optimum.of(pairs, np.where(sides == 0, a, b), "bipartite")


def circle(pairs: PairProblem, _budget: Budget, _rng: np.random.Generator) -> Optimum | None:
    """Solve a circle of any length by (max, +) matrix powers, for one edge type and no forbidden arms.

    In the (max, +) algebra ``(W^n)[a, a]`` is the largest value of a closed walk of n steps from arm a.
    Squaring takes ``log n`` products of K x K matrices; the places of the maxima give the walk back.
    """
    if not (pairs.uniform and pairs.graph.is_circle()):
        return None
    from scipy.sparse.csgraph import depth_first_order  # noqa: PLC0415  (slow to load)

    allocation = np.empty(pairs.n, dtype=np.int64)
    # A depth-first search walks around.
    order = depth_first_order(pairs.graph.to_sparse(), 0, return_predecessors=False)
    allocation[order] = closed_walk(pairs.tables[0], pairs.n)
    return Optimum.of(pairs, allocation, "circle")


def closed_walk(W: FloatArray, length: int) -> IntArray:
    """Return the arms along the closed walk of ``length`` steps with the largest sum of W."""
    power, products = W, []
    for digit in f"{length:b}"[1:]:  # W^(2h) = W^h W^h, and W^(2h + 1) = W W^(2h)
        power, middle = max_plus(power, power)
        second = None
        if digit == "1":
            power, second = max_plus(W, power)
        products.append((middle, second))
    arms = np.empty(length, dtype=np.int64)
    # Walks of equal length, cut in halves until each is a single step: positions and both end arms.
    position, start = np.zeros(1, dtype=np.int64), np.array([np.diag(power).argmax()])
    end = start
    for middle, second in reversed(products):
        if second is not None:  # the first step of a walk of odd length goes alone
            arms[position] = start
            start, position = second[start, end], position + 1
            length -= 1
        length //= 2
        half = middle[start, end]
        position = np.concatenate([position, position + length])
        start, end = np.concatenate([start, half]), np.concatenate([half, end])
    arms[position] = start
    return arms


def max_plus(left: FloatArray, right: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the (max, +) product and the places of its maxima."""
    sums = left[:, :, None] + right[None, :, :]
    return sums.max(axis=1), sums.argmax(axis=1)


def arm_counts(pairs: PairProblem, _budget: Budget, _rng: np.random.Generator) -> Optimum | None:
    """Choose the number of agents on each arm of a complete graph.

    All agents of a complete graph are alike, so K^n allocations shrink to
    ``(n + K - 1 choose K - 1)`` counts: 92,378 instead of 10^10 at n = K = 10. Up to
    :data:`MAX_COUNTS` they are all enumerated. Beyond, counts are found by local search, and bounded
    by the standard quadratic program over the shares of the arms. For one edge type and no forbidden
    arms.
    """
    if not (pairs.uniform and pairs.graph.is_complete()):
        return None
    n, K, W = pairs.n, pairs.K, pairs.tables[0]
    if math.comb(n + K - 1, K - 1) <= MAX_COUNTS:
        counts = _kernels.pairwise.enumerate_counts(n, W)
        return Optimum.of(pairs, np.repeat(np.arange(K), counts), "arm_counts")
    from gbb.pairwise.quadratic import find_counts  # noqa: PLC0415  (scipy is slow to load)

    counts, bound = find_counts(W, n)
    name = "edges" if bound is None else "quadratic"
    bound = pairs.edge_bound if bound is None else bound + pairs.rounding / 10
    arms = np.repeat(np.arange(K), counts)
    return Optimum.of(pairs, arms, "arm_counts", bound=bound, bound_method=name)


def elimination(pairs: PairProblem, budget: Budget, _rng: np.random.Generator) -> Optimum | None:
    """Eliminate agents one by one on graphs of small treewidth, with any types and forbidden arms.

    None if a table would exceed :data:`MAX_TABLE` (width 7 at K = 10, 10 at K = 5, 16 at K = 3) or the
    time is over.
    """
    return eliminate_within(pairs, budget, MAX_WORK)


def eliminate_within(pairs: PairProblem, budget: Budget, work: float) -> Optimum | None:
    """Eliminate if the tables have at most ``work`` entries in all; None if they have more."""
    if pairs.n > MAX_AGENTS:
        return None
    best = best_by_elimination(pairs, budget, limit=MAX_TABLE, work=work)
    return None if best is None else Optimum.of(pairs, best, "elimination")


def brute_force(pairs: PairProblem, _budget: Budget, _rng: np.random.Generator) -> Optimum | None:
    """Enumerate all allowed allocations; None if there are more than :data:`MAX_ALLOCATIONS`."""
    if np.log(pairs.allowed.sum(axis=1)).sum() > np.log(MAX_ALLOCATIONS):
        return None
    best = _kernels.pairwise.enumerate_arms(pairs.arrays)
    return Optimum.of(pairs, best, "brute_force")
