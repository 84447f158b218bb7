"""Tuples of arms over the parts of a cut, on any problem: what their edges add up to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import unique_rows
from gbb.cuts._tuples import sum_over_edges, tuples_of
from gbb.problem import Problem


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
        rows = np.column_stack([self.parts, self.problem.instead])
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
    def group_instead(self) -> IntArray:
        """What the agents of each group play when their part plays an arm (groups x K)."""
        return self._groups[1]

    @cached_property
    def kinds(self) -> list[tuple[int, int, int, float]]:
        """The edges by type and by the groups of their ends, with the sum of their weights."""
        problem = self.problem
        ends = self.group_of[problem.sources], self.group_of[problem.targets]
        kinds, which, _ = unique_rows(self.problem.edge_types, *ends)
        sums = np.bincount(which, weights=self.weights, minlength=len(kinds[0]))
        rows = zip(*(each.tolist() for each in kinds), sums.tolist(), strict=True)
        return [(g, first, second, w) for g, first, second, w in rows if w != 0.0]

    @cached_property
    def _kinds_of(self) -> list[list[tuple[int, int, int, float]]]:
        """The kinds of edges of each type."""
        found: list[list[tuple[int, int, int, float]]] = [[] for _ in range(self.problem.types)]
        for kind in self.kinds:
            found[kind[0]].append(kind)
        return found

    def arms(self, codes: IntArray | None = None) -> IntArray:
        """What each group plays in the tuples with these numbers (tuples x groups)."""
        chosen = tuples_of(self.problem.K, self.k, codes)
        groups = np.arange(len(self.group_part))
        return self.group_instead[groups, chosen[:, self.group_part]]

    def combine(
        self, table: NDArray[Any], codes: IntArray | None = None, types: IntArray | None = None
    ) -> NDArray[Any]:
        """A table by type and edge-arm (types x K x K x ...) summed over the edges of each tuple.

        Only the tuples with the numbers ``codes`` and the edges of ``types``, where these are given.
        """
        numbers = range(self.problem.types) if types is None else types.tolist()
        kinds = [kind for g in numbers for kind in self._kinds_of[g]]
        return sum_over_edges(table, self.arms(codes), kinds)

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
        from gbb._kernels.lanes import aligned_zeros, padded  # noqa: PLC0415  (loads numba)

        arms, size = self.arms(), int(index.max()) + 1
        regressor = [g * size + index[arms[:, i], arms[:, j]] for g, i, j, _ in self.kinds]
        amount = np.repeat([w for *_, w in self.kinds], len(arms))
        tuple_of = np.tile(np.arange(len(arms)), len(self.kinds))
        total = self.problem.types * size
        keys, which = np.unique(tuple_of * total + np.concatenate(regressor), return_inverse=True)
        column, row = keys // total, np.arange(len(keys))
        row = row - np.searchsorted(column, column)
        shape = int(row.max()) + 1, padded(len(arms))
        regressors, amounts = np.zeros(shape, dtype=np.int64), aligned_zeros(*shape)
        regressors[row, column] = keys % total
        amounts[row, column] = np.bincount(which.ravel(), weights=amount, minlength=len(keys))
        return regressors, amounts
