"""Estimates and scratch space that a run of the index loop begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbb._kernels.index.dense import Dense, Spectrum, TupleBounds
from gbb._kernels.index.layout import SEARCHES, TUPLES, Layout, reverse_tables
from gbb._kernels.index.play import EdgeCounts, Run, Workspace
from gbb._kernels.index.search_counts import CountsSearch
from gbb._kernels.index.search_dense import DenseSearch
from gbb._kernels.index.search_linear import BITS, LinearSearch
from gbb._kernels.linalg import DIRECTIONS
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray

if TYPE_CHECKING:
    from gbb.problem import Problem

MIN_AGENTS_FOR_LIMITS, SPARSE = 64, 8
"""From so many agents on, each linked to at most one in so many, a move leaves most as they are."""


def make_run(n: int, recorded: int, *, keep_allocations: bool = False) -> Run:
    """Return what a run carries from round to round, with room for its ``recorded`` rounds."""
    return Run(
        arms=np.zeros(n, dtype=np.int64),
        value=np.zeros(1),
        total=np.zeros(1),
        kept=np.zeros(1, dtype=np.int64),
        reward=np.zeros(recorded),
        cumulative=np.zeros(recorded),
        tuples=np.zeros(recorded, dtype=np.int64),
        allocations=np.zeros((recorded if keep_allocations else 0, n), dtype=np.int64),
    )


def make_workspace(layouts: Layout, k: int, regressors: int) -> Workspace:
    """Return scratch space of a choice among tuples over k parts."""
    n, searches = len(layouts.penalty), int(layouts.sizes[:, SEARCHES].max())
    return Workspace(
        optima=np.zeros((searches, n), dtype=np.int64),
        chosen=np.zeros(k, dtype=np.int64),
        played=np.zeros_like(layouts.part),
        values=aligned_zeros(padded(int(layouts.sizes[0, TUPLES]))),
        mu=np.zeros(regressors),
        proposed=np.zeros(n, dtype=np.int64),
    )


def make_edge_counts(problem: Problem) -> EdgeCounts:
    """Return the record of no rounds."""
    shape = (problem.types, problem.K, problem.K)
    touched = np.zeros(min(problem.m, int(np.prod(shape))), dtype=np.int64)
    N, Y, new_N, new_Y = np.zeros((4, *shape))
    return EdgeCounts(N, Y, new_N, new_Y, touched)


def make_dense(
    features: FloatArray, blocks: int, size: int, *, lam: float, regressors: int, most: int
) -> Dense:
    """Return factors that have seen nothing, and take ``most`` rows a round."""
    width = padded(size + 1)
    U = aligned_zeros(blocks, size, width)
    U[:, np.arange(size), np.arange(size)] = np.sqrt(lam)
    return Dense(
        U=U,
        features=features,
        rows=aligned_zeros(blocks, most, width),
        counts=np.zeros(blocks, dtype=np.int64),
        observed=np.zeros((regressors, 2)),
        scratch=np.zeros(max(size, most)),
        theta=np.zeros((blocks, size)),
    )


def make_spectrum(blocks: int, size: int, lam: float) -> Spectrum:
    """Return directions to look for the smallest eigenvalue in; it is lam at first."""
    vectors, k = aligned_zeros(blocks, size, WIDTH), np.arange(DIRECTIONS)
    vectors[:, :, :DIRECTIONS] = np.cos(1.3 * np.outer(np.arange(size), 1.0 + k) + k)
    return Spectrum(
        vectors=vectors,
        floor=np.full(blocks, lam),
        solved=aligned_zeros(size, WIDTH),
        small=np.zeros((DIRECTIONS, DIRECTIONS)),
        eliminated=aligned_zeros(size, padded(size + 1)),
    )


def make_bounds(U: FloatArray, tuples: int) -> TupleBounds:
    """Return scratch space for the optimistic values of so many tuples."""
    columns = padded(tuples)
    return TupleBounds(U, aligned_zeros(1, U.shape[1] + 1, columns), aligned_zeros(columns))


def is_sparse(layouts: Layout) -> bool:
    """Return whether a move leaves most agents as they are."""
    n = len(layouts.penalty)
    return n >= MIN_AGENTS_FOR_LIMITS and SPARSE * layouts.other.shape[1] <= n**2


def make_linear_search(layouts: Layout) -> LinearSearch:
    """Return buffers for the rewards of links."""
    (n, width), (tables, K, _) = layouts.penalty.shape, layouts.one.shape
    due = np.zeros(-(-n // BITS), dtype=np.int64)
    pay, gains = aligned_zeros(tables, K, width), aligned_zeros(n, width)
    return LinearSearch(pay, gains, due, is_sparse(layouts))


def make_counts_search(problem: Problem, layouts: Layout) -> CountsSearch:
    """Return buffers for counts of regressors, of which nothing is counted yet."""
    (n, width), (tables, K, _) = layouts.penalty.shape, layouts.one.shape
    slots, longest = layouts.slot_table.shape[1], int(np.diff(layouts.start).max())
    limits, apart = aligned_zeros(padded(n)), aligned_zeros(K, width)
    limits[:] = np.inf
    np.fill_diagonal(apart, -np.inf)
    agent = np.repeat(np.arange(n), np.diff(layouts.start[0]))
    weight = np.abs(layouts.weight[0, : len(agent)])
    around = float(np.bincount(agent, weights=weight, minlength=n).max())
    lazy = is_sparse(layouts) and tables == 1 and problem.root is problem
    return CountsSearch(
        mean=aligned_zeros(tables, K, width),
        var=aligned_zeros(tables, K, width),
        counts=aligned_zeros(tables, K, width),
        level=aligned_zeros(tables, width),
        reverse=reverse_tables(tables, problem.types),
        weights=aligned_zeros(slots, width),
        neighbours=np.zeros((slots, K), dtype=np.int64),
        rows=np.zeros(longest, dtype=np.int64),
        shares=np.zeros(longest),
        added=aligned_zeros(2, width),
        last=np.zeros(K, dtype=np.int64),
        # No agent's limit moves by more than this in a move; 0 if limits are not kept.
        reach=2.0 * around if lazy else 0.0,
        slopes=aligned_zeros(tables, K, width),
        apart=apart,
        limits=limits,
        best=aligned_zeros(3, WIDTH),
    )


def new_dense_search(layouts: Layout, columns: FloatArray, blocks: int) -> DenseSearch:
    """Return buffers for tables in so many blocks, with these ``columns``."""
    _, size, wide = columns.shape
    own = aligned_zeros(*columns.shape)
    own[:] = columns
    longest = max(1, int(np.diff(layouts.segment).max()))
    return DenseSearch(
        columns=own,
        tables=aligned_zeros(blocks, size + 1, wide),
        W=np.zeros((blocks, size + 1)),
        norm2s=np.zeros(blocks),
        h=aligned_zeros(longest, size + 1, layouts.penalty.shape[1]),
        best=aligned_zeros(3, WIDTH),
    )


def search_columns(layouts: Layout, blocks: int, rows: FloatArray) -> FloatArray:
    """Return rows by regressor, type after type, as columns by table and arms, for every block.

    Of shape blocks x size x columns, as :attr:`DenseSearch.tables` has them.
    """
    (_, width), (tables, K, _) = layouts.penalty.shape, layouts.one.shape
    size = rows.shape[1]
    wide = np.zeros((tables, K, width, size))
    wide[:, :, :K] = rows[layouts.one] + rows[layouts.two]
    columns = wide.reshape(-1, blocks, K * width, size).transpose(1, 3, 0, 2)
    return columns.reshape(blocks, size, -1)
