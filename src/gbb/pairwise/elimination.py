"""Variable elimination: the best joint choice on a graph of small treewidth, exactly.

Eliminating an agent replaces it by a table over its neighbours: the largest sum of rewards of all edges
of the agent and of those that were eliminated before it.
"""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
from numpy.typing import NDArray

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.pairwise.problem import PairProblem

Table = tuple[tuple[int, ...], FloatArray]
"""Agents and an array with an axis for each."""

AT_ONCE = 1_000_000
"""Entries up to which a table is formed for several choices of the eliminated agent at once."""

MIN_FILL = 400
"""Agents up to which the better but slower min-fill rule is tried as well."""

SPARSE = 12
"""Mean degree up to which it is tried."""

MAX_AXES = 60
"""The most neighbours an eliminated agent may have: an array has at most 64 axes."""


def best_by_elimination(
    pairs: PairProblem, budget: Budget, *, limit: float, work: float
) -> IntArray | None:
    """Return the best arm of every agent; None if it takes larger tables, or more time, than allowed.

    Parameters
    ----------
    pairs
        The problem.
    budget
        Consulted between two agents.
    limit
        The largest number of entries of a table.
    work
        The largest sum of the sizes of all tables.
    """
    n, sizes = pairs.n, pairs.allowed.sum(axis=1).astype(np.int64)
    small = n <= MIN_FILL and pairs.graph.m <= SPARSE * n
    rules = ("degree", "fill") if small else ("degree",)
    orders = [_order(pairs.graph, np.log(sizes).tolist(), math.log(limit), rule) for rule in rules]
    cheapest, order = min(orders, key=lambda item: item[0])
    if cheapest > work:
        return None
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    arms = [np.flatnonzero(row) for row in pairs.allowed]
    unrestricted = bool(pairs.allowed.all())
    # Each table waits for the first of its agents to be eliminated.
    waiting: list[list[Table]] = [[] for _ in range(n)]
    edges, types = pairs.graph.edges[pairs.graph.links], pairs.types[pairs.graph.links]
    for (i, j), t in zip(edges.tolist(), types.tolist(), strict=True):
        table = pairs.tables[t] if unrestricted else pairs.tables[t][np.ix_(arms[i], arms[j])]
        waiting[min(i, j, key=rank.item)].append(((i, j), table))
    choices: list[tuple[tuple[int, ...], NDArray[np.integer]]] = []
    for i in order:
        if budget.over:
            return None
        neighbours = {j for agents, _ in waiting[i] for j in agents} - {i}
        scope = tuple(sorted(neighbours, key=rank.item))
        table, choice = _best_over(i, scope, waiting[i], sizes)
        waiting[i] = []
        choices.append((scope, choice))
        if scope:
            waiting[scope[0]].append((scope, table))
    best = np.zeros(n, dtype=np.int64)
    # An agent's scope was eliminated after it, so backwards its arms are known.
    for i, (scope, choice) in zip(reversed(order), reversed(choices), strict=True):
        best[i] = choice[tuple(best[list(scope)])]
    return np.array([arms[i][best[i]] for i in range(n)], dtype=np.int64)


def _order(graph: Graph, logs: list[float], max_log: float, rule: str) -> tuple[float, list[int]]:
    """Return the sum of the sizes of the tables, infinite if one is too large, and an order.

    Greedy: next is the agent with the smallest ``degree`` or, with ``fill``, the one whose elimination
    links fewest new pairs of neighbours. ``logs`` has the logarithms of the numbers of arms.
    """
    n, starts = graph.n, graph.indptr
    near = [set(graph.indices[starts[i] : starts[i + 1]].tolist()) for i in range(n)]

    def cost(i: int) -> float:
        if rule == "degree":
            return len(near[i])
        return sum(b not in near[a] for a, b in itertools.combinations(near[i], 2))

    costs = [cost(i) for i in range(n)]
    heap = [(costs[i], i) for i in range(n)]
    heapq.heapify(heap)
    order: list[int] = []
    gone = [False] * n
    work = 0.0
    while heap:
        price, i = heapq.heappop(heap)
        if gone[i] or price != costs[i]:  # a newer entry of the agent is in the heap
            continue
        # In logarithms, since the product may be beyond a float.
        size = logs[i] + sum(logs[j] for j in near[i])
        if size > max_log + 1e-9 or len(near[i]) >= MAX_AXES:
            return math.inf, order
        work += math.exp(size)
        gone[i] = True
        order.append(i)
        touched = set(near[i])
        for j in near[i]:
            near[j].discard(i)
        for a, b in itertools.combinations(near[i], 2):
            if b not in near[a]:
                near[a].add(b)
                near[b].add(a)
                if rule == "fill":  # a and b count as linked now for those next to both
                    touched |= near[a] & near[b]
        for j in touched:
            new = cost(j)
            if new != costs[j]:
                costs[j] = new
                heapq.heappush(heap, (new, j))
    return work, order


def _best_over(
    i: int, scope: tuple[int, ...], tables: list[Table], sizes: IntArray
) -> tuple[FloatArray, NDArray[np.integer]]:
    """Return the maximum of the sum of tables over agent i's choices, and the choice, by ``scope``."""
    shape, count = tuple(sizes[list(scope)].tolist()), int(sizes[i])
    aligned = [_align(table, agents, (*scope, i)) for agents, table in tables]
    best = np.full(shape, -np.inf)
    # The smallest type, as tables may have 10^8 entries.
    choice = np.zeros(shape, dtype=np.min_scalar_type(count))
    step = max(1, AT_ONCE // math.prod(shape))
    for first in range(0, count, step):
        total: FloatArray = np.zeros((*shape, min(step, count - first)))
        for table in aligned:
            total += table[..., first : first + step]
        top = total.max(axis=-1)
        # Strictly above, so that of equal choices the first one stays.
        np.copyto(choice, first + total.argmax(axis=-1), where=top > best, casting="unsafe")
        np.maximum(best, top, out=best)
    return best, choice


def _align(table: FloatArray, agents: tuple[int, ...], scope: tuple[int, ...]) -> FloatArray:
    """Return a view of ``table`` with an axis for each agent of ``scope``, some of length 1."""
    sizes = dict(zip(agents, table.shape, strict=True))
    turned = table.transpose(np.argsort([scope.index(j) for j in agents]))
    return turned.reshape([sizes.get(j, 1) for j in scope])
