"""The estimator: two K x K tables are the record; A, b and theta_hat are derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.problem import Problem

Counts = IntArray | FloatArray
"""Whole numbers, or fractions of them in a discounted record."""


class Record(NamedTuple):
    """All that a learner remembers, additive over rounds and over shards of the graph.

    ``N[a, b]`` counts the directed edges played with arms (a, b); ``Y[a, b]`` sums their rewards.
    Counts are whole numbers until the record is discounted.
    """

    N: Counts
    Y: FloatArray

    @classmethod
    def empty(cls, K: int) -> Record:
        """Nothing seen yet."""
        return cls(np.zeros((K, K), dtype=np.int64), np.zeros((K, K)))

    @classmethod
    def of(
        cls,
        graph: Graph,
        allocation: IntArray,
        rewards: FloatArray,
        K: int,
        *,
        edges: IntArray | None = None,
    ) -> Record:
        """One round's edge rewards summed by edge-arm, in O(m).

        ``edges`` are the positions of the edges that ``rewards`` belong to; all of them when left out.
        """
        source, target = graph.sources, graph.indices
        if edges is not None:
            source, target = source[edges], target[edges]
        code = allocation[source] * K + allocation[target]
        N = np.bincount(code, minlength=K * K).reshape(K, K)
        Y = np.bincount(code, weights=rewards, minlength=K * K).reshape(K, K)
        return cls(N.astype(np.int64, copy=False), Y.astype(np.float64, copy=False))

    def merge(self, other: Record) -> Record:
        """Both records as one."""
        return Record(self.N + other.N, self.Y + other.Y)

    def discount(self, factor: float) -> Record:
        """The record with every observation worth ``factor`` of what it was."""
        return Record(self.N.astype(np.float64) * factor, self.Y * factor)


@dataclass(frozen=True, eq=False)
class Ridge:
    """Ridge regression of the edge rewards on the edge-arms (equation 3 of the paper).

    ``A = lam I + sum N[a,b] z_ab z_ab'``, ``b = sum Y[a,b] z_ab``, ``theta_hat = A^-1 b``.

    Notes
    -----
    ``A = F'F`` where F stacks ``sqrt(N[a,b]) z_ab'`` over ``sqrt(lam) I``. Solves go through the QR
    factor of F, rows sorted by size and columns pivoted, so that the condition number is never
    squared and arms of very different norms keep their accuracy.
    """

    problem: Problem
    record: Record
    lam: float = 1.0

    def __post_init__(self) -> None:
        checks.real("lam", self.lam, low=0.0, low_open=True)

    @cached_property
    def A(self) -> FloatArray:
        """The regularised Gram matrix (d^2 x d^2)."""
        z = self.problem.edge_arms
        return self.lam * np.eye(z.shape[1]) + (z * self.record.N.reshape(-1, 1)).T @ z

    @cached_property
    def b(self) -> FloatArray:
        """The responses summed along their edge-arms (d^2)."""
        return self.record.Y.ravel() @ self.problem.edge_arms

    @cached_property
    def _factor(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """R, Q'y and the pivots of the stacked least-squares problem."""
        z = self.problem.edge_arms
        counts = self.record.N.ravel()
        played = np.flatnonzero(counts)
        root = np.sqrt(counts[played])
        rows = np.vstack([z[played] * root[:, None], np.sqrt(self.lam) * np.eye(z.shape[1])])
        y = np.concatenate([self.record.Y.ravel()[played] / root, np.zeros(z.shape[1])])
        order = np.argsort(-np.abs(rows).max(axis=1), kind="stable")
        q, r, pivots = qr(rows[order], mode="economic", pivoting=True)
        return r, q.T @ y[order], pivots

    @cached_property
    def theta_hat(self) -> FloatArray:
        """The estimate of ``theta* = vec(M*)``."""
        r, qy, pivots = self._factor
        theta = np.empty_like(qy)
        theta[pivots] = solve_triangular(r, qy)
        return checks.frozen(theta)

    @property
    def M_hat(self) -> FloatArray:
        """The estimate of M*: ``theta_hat`` with its columns unstacked."""
        d = self.problem.d
        return self.theta_hat.reshape(d, d).T

    def width(self, vectors: FloatArray) -> FloatArray:
        """``||v||_{A^-1}`` for every row v of ``vectors``."""
        r, _, pivots = self._factor
        white: FloatArray = solve_triangular(r, vectors[:, pivots].T, trans="T")
        width: FloatArray = np.linalg.norm(white, axis=0)
        return width

    @property
    def log_det(self) -> float:
        """``log det(A / lam)``."""
        r, _, _ = self._factor
        return float(2.0 * np.log(np.abs(np.diag(r))).sum() - r.shape[0] * np.log(self.lam))


def symmetric_edge_arms(arms: FloatArray) -> FloatArray:
    """Symmetric parts of the edge-arms in orthonormal coordinates (K^2 x d(d+1)/2).

    Row ``a * K + b`` is ``(x_a x_b' + x_b x_a') / 2`` with off-diagonal entries times sqrt 2, so that
    dot products are those of the matrices.
    """
    K, d = arms.shape
    i, j = np.triu_indices(d)
    scale = np.where(i == j, 0.5, np.sqrt(0.5))
    half = arms[:, None, i] * arms[None, :, j] + arms[:, None, j] * arms[None, :, i]
    rows: FloatArray = (half * scale).reshape(K * K, -1)
    return rows
