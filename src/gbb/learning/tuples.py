"""Tuples of arms over the parts of a cut, and all allocations: what their edges add up to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.arrays import aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import unique_rows
from gbb.problem import Problem

MAX_ALLOCATIONS = 100_000
"""The largest number of allocations that are listed."""

MAX_CELLS = 20_000_000
"""The largest table of them: a row each, a column per edge-arm or per dimension of one."""


@dataclass(frozen=True, eq=False)
class Tuples:
    """The K^k ways for k parts to play an arm each.

    An agent that may not play its part's arm plays its first allowed one instead.

    Attributes
    ----------
    problem
        What the learner knows.
    parts
        The part of every agent, 0..k-1.
    k
        Number of parts.
    weights
        What each directed edge counts for: its own weight, or that times a factor.
    """

    problem: Problem
    parts: IntArray
    k: int
    weights: FloatArray

    @property
    def size(self) -> int:
        """How many tuples there are."""
        return int(self.problem.K**self.k)

    @cached_property
    def _groups(self) -> tuple[IntArray, IntArray, IntArray]:
        """Of groups of agents that are alike: their part, what they play for each arm, and who is in."""
        rows = np.column_stack([self.parts, self.problem.first_allowed])
        groups, whose = np.unique(rows, axis=0, return_inverse=True)
        return groups[:, 0], np.ascontiguousarray(groups[:, 1:]), whose.ravel()

    @property
    def group_of(self) -> IntArray:
        """The group of each agent: in one part, with the same arms allowed."""
        return self._groups[2]

    @property
    def group_part(self) -> IntArray:
        """The part of each group."""
        return self._groups[0]

    @property
    def arms_of_group(self) -> IntArray:
        """What the agents of each group play when their part plays an arm (groups x K)."""
        return self._groups[1]

    @cached_property
    def kinds(self) -> list[tuple[int, int, int, float]]:
        """The edges by type and by the groups of their ends, with the sum of their weights."""
        problem = self.problem
        groups = self.group_of[problem.sources], self.group_of[problem.targets]
        kinds, which, _ = unique_rows(self.problem.edge_types, *groups)
        sums = np.bincount(which, weights=self.weights, minlength=len(kinds[0]))
        rows = zip(*(column.tolist() for column in kinds), sums.tolist(), strict=True)
        return [(g, first, second, w) for g, first, second, w in rows if w != 0.0]

    @cached_property
    def _kinds_of(self) -> list[list[tuple[int, int, int, float]]]:
        """The kinds of edges of each type."""
        by_type: list[list[tuple[int, int, int, float]]] = [[] for _ in range(self.problem.types)]
        for kind in self.kinds:
            by_type[kind[0]].append(kind)
        return by_type

    def arms(self, codes: IntArray | None = None) -> IntArray:
        """What each group plays in the tuples with these numbers (tuples x groups)."""
        K, numbers = self.problem.K, np.arange(self.size) if codes is None else codes
        # The first part's arm is the leading digit of a tuple's number.
        chosen = np.stack([numbers // K ** (self.k - 1 - p) % K for p in range(self.k)], axis=1)
        groups = np.arange(len(self.group_part))
        arms: IntArray = self.arms_of_group[groups, chosen[:, self.group_part]]
        return arms

    def combine(
        self, table: NDArray[Any], codes: IntArray | None = None, types: IntArray | None = None
    ) -> NDArray[Any]:
        """A table by type and edge-arm (types x K x K x ...) summed over the edges of each tuple.

        For couples over a cut and one type this is ``m12 z_ab + m21 z_ba + m1 z_aa + m2 z_bb``, with the
        table's entries in the place of z.

        Only the tuples with the numbers ``codes`` and the edges of ``types``, where these are given.
        """
        numbers = range(self.problem.types) if types is None else types.tolist()
        kinds = [kind for g in numbers for kind in self._kinds_of[g]]
        arms = self.arms(codes)
        total = np.zeros((len(arms), *table.shape[3:]))
        for g, first, second, weight in kinds:
            total += weight * table[g, arms[:, first], arms[:, second]]
        return total

    def by_type(self, table: FloatArray) -> list[FloatArray]:
        """A table by edge-arm (K x K x size) summed over each type's edges of each tuple."""
        wide = np.broadcast_to(table, (self.problem.types, *table.shape))
        return [self.combine(wide, types=np.array([g])) for g in range(self.problem.types)]

    def allocation(self, code: int) -> IntArray:
        """What every agent plays in tuple number ``code``."""
        arms: IntArray = self.arms(np.array([code]))[0, self.group_of]
        return arms

    def list_terms(self, index: IntArray) -> tuple[IntArray, FloatArray]:
        """What each tuple adds to which regressors: these, type after type, and the amounts.

        Both are terms x tuples, padded to whole lanes with terms that add nothing. ``index`` is the
        regressor of each edge-arm (K x K).
        """
        arms, size = self.arms(), int(index.max()) + 1
        kinds = self.kinds or [(0, 0, 0, 0.0)]  # a round in which nothing pays
        regressor = [g * size + index[arms[:, i], arms[:, j]] for g, i, j, _ in kinds]
        amount = np.repeat([w for *_, w in kinds], len(arms))
        tuple_of = np.tile(np.arange(len(arms)), len(kinds))
        total = self.problem.types * size
        keys, which = np.unique(tuple_of * total + np.concatenate(regressor), return_inverse=True)
        column, row = keys // total, np.arange(len(keys))
        row = row - np.searchsorted(column, column)
        shape = int(row.max()) + 1, padded(len(arms))
        regressors, amounts = np.zeros(shape, dtype=np.int64), aligned_zeros(*shape)
        regressors[row, column] = keys % total
        amounts[row, column] = np.bincount(which.ravel(), weights=amount, minlength=len(keys))
        return regressors, amounts


class AllocationFamily(NamedTuple):
    """A list of allocations of a problem with one matrix.

    Attributes
    ----------
    counts
        How often each plays every edge-arm (allocations x K^2).
    allocation
        Returns one of them by its position.
    """

    counts: FloatArray
    allocation: Callable[[int], IntArray]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.counts)

    def combine(self, table: FloatArray) -> FloatArray:
        """Sum a table by edge-arm (1 x K x K x ...) over the edges of each."""
        return self.counts @ by_edge_arm(table)


def list_allocations(problem: Problem) -> AllocationFamily | None:
    """All allocations with different sums of edge-arms, if they can be listed.

    On a complete graph these are the ``(n + K - 1 choose K - 1)`` numbers of agents on each arm. At most
    :data:`MAX_ALLOCATIONS`, and fewer with many arms or dimensions: :data:`MAX_CELLS` are the limit.
    """
    n, K = problem.n, problem.K
    limit = min(MAX_ALLOCATIONS, MAX_CELLS // max(K, problem.d) ** 2)
    if problem.graph.is_complete() and math.comb(n + K - 1, K - 1) <= limit:
        # All ways to share n agents among K arms, by the places of K - 1 bars among n + K - 1.
        bars = np.array(list(itertools.combinations(range(n + K - 1), K - 1)), dtype=np.int64)
        shares = np.diff(bars, axis=1, prepend=-1, append=n + K - 1) - 1
        pairs = shares[:, :, None] * shares[:, None, :]
        pairs[:, np.arange(K), np.arange(K)] -= shares
        counts = pairs.reshape(len(pairs), -1).astype(np.float64)
        return AllocationFamily(counts, lambda code: np.repeat(np.arange(K), shares[code]))
    if n * math.log(K) > math.log(MAX_ALLOCATIONS) or K**n > limit:
        return None
    everyone = Tuples(problem, np.arange(n), n, np.ones(problem.m))  # every agent a part of its own
    one_hot = np.eye(K * K).reshape(1, K, K, K * K)
    return AllocationFamily(everyone.combine(one_hot), everyone.allocation)


def by_edge_arm(table: FloatArray) -> FloatArray:
    """The table of one edge type with a row per edge-arm (K^2 x ...)."""
    return table.reshape(table.shape[1] ** 2, *table.shape[3:])
