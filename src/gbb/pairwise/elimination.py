"""Variable elimination: the best joint choice on a graph of small treewidth, exactly.

A *pair table* ``W[t]`` says what an edge of type t pays for the choices at its two ends. Eliminating
an agent replaces it by a table over its neighbours: what the agent and all eliminated before it
pay at best.
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
"""Entries up to which a table is formed for all choices of the eliminated agent at once."""

MIN_FILL = 400
"""Agents up to which the better but slower min-fill rule is tried as well."""

SPARSE = 12
"""Mean degree up to which it is tried."""

AXES = 60
"""The most neighbours an eliminated agent may have: an array has at most 64 axes."""


def best_by_elimination(
    pairs: PairProblem, budget: Budget, *, limit: float, work: float
) -> IntArray | None:
    """The best arm of every agent; None when the sizes do not suffice or the budget is over first.

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
    graph = pairs.graph
    sizes = pairs.allowed.sum(axis=1).astype(np.int64)
    found = _order(graph, sizes, limit=limit)
    if found is None or found[1] > work:
        return None
    arms = [np.flatnonzero(row) for row in pairs.allowed]
    edges = graph.edges[pairs.once].astype(np.int64)
    whole = bool(pairs.allowed.all())
    tables = [
        pairs.tables[t] if whole else pairs.tables[t][np.ix_(arms[i], arms[j])]
        for (i, j), t in zip(edges.tolist(), pairs.types[pairs.once].tolist(), strict=True)
    ]
    best = _eliminate(found[0], edges, tables, sizes, budget)
    if best is None:
        return None
    return np.array([arms[i][best[i]] for i in range(graph.n)], dtype=np.int64)


def _order(graph: Graph, sizes: IntArray, *, limit: float) -> tuple[list[int], float] | None:
    """An order of all agents and its work, the sum of the sizes of the tables formed.

    Greedy: the agent with fewest neighbours is next or, on small graphs, the one that adds fewest
    links if that turns out cheaper. None when some table would have more than ``limit`` entries.
    """
    logs = np.log(sizes.astype(np.float64)).tolist()
    small = graph.n <= MIN_FILL and graph.m <= SPARSE * graph.n
    rules = ("degree", "fill") if small else ("degree",)
    found = [_greedy(graph, logs, math.log(limit) + 1e-9, rule) for rule in rules]
    orders = [item for item in found if item is not None]
    return min(orders, key=lambda item: item[1]) if orders else None


def _greedy(
    graph: Graph, logs: list[float], most: float, rule: str
) -> tuple[list[int], float] | None:
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
        if gone[i] or price != costs[i]:
            continue
        size = logs[i] + sum(logs[j] for j in near[i])
        if size > most or len(near[i]) >= AXES:
            return None
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
                if rule == "fill":
                    touched |= near[a] & near[b]
        for j in touched:
            new = cost(j)
            if new != costs[j]:
                costs[j] = new
                heapq.heappush(heap, (new, j))
    return order, work


def _eliminate(
    order: list[int],
    edges: IntArray,
    tables: list[FloatArray],
    sizes: IntArray,
    budget: Budget,
) -> IntArray | None:
    """The best choice of every agent for what each undirected edge pays; None when time is over."""
    n = len(sizes)
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    buckets: list[list[Table]] = [[] for _ in range(n)]
    for (i, j), table in zip(edges.tolist(), tables, strict=True):
        first, later = (i, j) if rank[i] < rank[j] else (j, i)
        buckets[first].append(((first, later), table if first == i else table.T))
    choices: list[tuple[tuple[int, ...], NDArray[np.integer]]] = []
    for i in order:
        if budget.over:
            return None
        scope = sorted({j for agents, _ in buckets[i] for j in agents} - {i}, key=rank.item)
        message, choice = _best_over(i, tuple(scope), buckets[i], sizes)
        buckets[i] = []
        choices.append((tuple(scope), choice))
        if scope:
            buckets[scope[0]].append((tuple(scope), message))
    best = np.zeros(n, dtype=np.int64)
    for i, (agents, choice) in zip(reversed(order), reversed(choices), strict=True):
        best[i] = choice[tuple(best[list(agents)])]
    return best


def _best_over(
    i: int, scope: tuple[int, ...], tables: list[Table], sizes: IntArray
) -> tuple[FloatArray, NDArray[np.integer]]:
    """Maximum and its place, over agent i's choices, of the sum of tables, for all of ``scope``."""
    shape = tuple(sizes[list(scope)].tolist())
    count = int(sizes[i])
    if math.prod(shape) * count <= AT_ONCE:
        total: FloatArray = np.zeros((*shape, count))
        for agents, table in tables:
            total += _align(table, agents, (*scope, i))
        return total.max(axis=-1), total.argmax(axis=-1)
    kind = np.uint8 if count <= 256 else np.int32
    best = np.full(shape, -np.inf)
    place = np.zeros(shape, dtype=kind)
    for a in range(count):
        total = np.zeros(shape)
        for agents, table in tables:
            axis = agents.index(i)
            rest = agents[:axis] + agents[axis + 1 :]
            row: FloatArray = np.asarray(table.take(a, axis=axis))
            total += _align(row, rest, scope)
        place[total > best] = a
        np.maximum(best, total, out=best)
    return best, place


def _align(table: FloatArray, agents: tuple[int, ...], scope: tuple[int, ...]) -> FloatArray:
    """A view of ``table`` with an axis for each agent of ``scope``, of length 1 where it has none."""
    places = [scope.index(j) for j in agents]
    turned = table.transpose(np.argsort(places))
    shape = [1] * len(scope)
    for place in places:
        shape[place] = table.shape[places.index(place)]
    return turned.reshape(shape)
