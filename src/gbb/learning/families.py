"""Families of allocations that can be listed: couples over a cut, all allocations, counts of arms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.learning.confidence import Combine
from gbb.problem import Problem

LIMIT = 100_000
"""The largest number of allocations that are listed."""

CELLS = 20_000_000
"""The largest table of them: a row each, a column per edge-arm or per dimension of one."""


class AllocationFamily(NamedTuple):
    """A list of allocations.

    Attributes
    ----------
    size
        How many there are.
    combine
        Sums a table by edge-arm (1 x K x K x ...) over the edges of each.
    allocation
        One of them by its position.
    """

    size: int
    combine: Combine
    allocation: Callable[[int], IntArray]


def list_couples(cut: Cut, K: int) -> AllocationFamily:
    """The K^2 couples over a cut."""

    def combine(table: FloatArray) -> FloatArray:
        return by_edge_arm(cut.couple_values(table[0])[None])

    return AllocationFamily(K * K, combine, lambda index: cut.allocation(divmod(index, K)))


def list_allocations(problem: Problem) -> AllocationFamily | None:
    """All allocations with different sums of edge-arms, if they can be listed.

    On a complete graph these are the ``(n + K - 1 choose K - 1)`` numbers of agents on each arm. At most
    :data:`LIMIT`, and fewer with many arms or dimensions: the table of them has :data:`CELLS` at most.
    """
    graph, n, K = problem.graph, problem.n, problem.K
    limit = min(LIMIT, CELLS // max(K, problem.d) ** 2)
    if graph.is_complete() and math.comb(n + K - 1, K - 1) <= limit:
        shares = _list_compositions(n, K)
        pairs = shares[:, :, None] * shares[:, None, :]
        pairs[:, np.arange(K), np.arange(K)] -= shares
        return _family(pairs, lambda index: np.repeat(np.arange(K), shares[index]))
    if n * math.log(K) > math.log(LIMIT) or (size := K**n) > limit:
        return None
    pairs = np.zeros((size, K * K), dtype=np.int64)
    if K == 1:
        pairs[:] = graph.m
        return _family(pairs, lambda _: np.zeros(n, dtype=np.int64))
    arms = np.indices((K,) * n).reshape(n, size)
    everyone = np.arange(size)
    for i, j in graph.edges.tolist():
        pairs[everyone, arms[i] * K + arms[j]] += 1
    return _family(pairs, lambda index: arms[:, index].astype(np.int64))


def by_edge_arm(table: FloatArray) -> FloatArray:
    """The table of one edge type with a row per edge-arm (K^2 x ...)."""
    return table.reshape(table.shape[1] ** 2, *table.shape[3:])


def _family(pairs: IntArray, allocation: Callable[[int], IntArray]) -> AllocationFamily:
    counts: FloatArray = pairs.reshape(len(pairs), -1).astype(np.float64)
    return AllocationFamily(len(counts), lambda table: counts @ by_edge_arm(table), allocation)


def _list_compositions(n: int, K: int) -> IntArray:
    """All ways to share n agents among K arms, one a row."""
    bars = np.array(list(itertools.combinations(range(n + K - 1), K - 1)), dtype=np.int64)
    bars = bars.reshape(math.comb(n + K - 1, K - 1), K - 1)
    ends = np.full((len(bars), 1), n + K - 1)
    steps: IntArray = np.diff(np.hstack([np.full_like(ends, -1), bars, ends]), axis=1) - 1
    return steps
