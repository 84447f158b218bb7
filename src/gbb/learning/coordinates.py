"""Coordinates of the edge-arms, or of their symmetric parts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class Coordinates:
    """What the rewards of one type are linear in.

    Attributes
    ----------
    index
        The regressor of each edge-arm (K x K): its own, or one for each unordered pair of arms.
    features
        The regressors in orthonormal coordinates, a row each.
    diagonal
        Whether every regressor has a coordinate to itself, as orthogonal arms have it.
    symmetric
        Whether the coordinates are those of symmetric parts alone.
    directions
        The directions of the coordinates among the parameters, or among the coordinates of symmetric
        parts, a row each; None where they are these themselves.
    """

    index: IntArray
    features: FloatArray
    diagonal: bool
    symmetric: bool = False
    directions: FloatArray | None = None

    @property
    def table(self) -> FloatArray:
        """The coordinates of every edge-arm (K x K x size)."""
        return self.features[self.index]

    def sum_by_regressor(self, table: FloatArray | IntArray) -> FloatArray:
        """Sum a table by edge-arm (K x K) by regressor."""
        sums = np.bincount(self.index.ravel(), table.ravel(), minlength=len(self.features))
        return sums.astype(np.float64, copy=False)

    def of(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return vectors (... x d^2) of a type's parameters in coordinates, and norms of the rest."""
        if self.symmetric:
            vectors = symmetric_coordinates(vectors)
        if self.directions is None:
            return vectors, np.zeros(vectors.shape[:-1])
        inside = vectors @ self.directions.T
        return inside, np.linalg.norm(vectors - inside @ self.directions, axis=-1)

    def matrices(self, parts: FloatArray, d: int) -> FloatArray:
        """Return the matrices (... x d x d) with these coordinates, of one type or of several."""
        vectors = parts if self.directions is None else parts @ self.directions
        if not self.symmetric:
            return vectors.reshape(-1, d, d).transpose(0, 2, 1)  # vec stacks columns
        i, j = np.triu_indices(d)
        M = np.zeros((*parts.shape[:-1], d, d))
        M[..., i, j] = M[..., j, i] = vectors * np.where(i == j, 1.0, np.sqrt(0.5))
        return M


def coordinates(problem: Problem, *, symmetric: bool) -> Coordinates:
    """Return the coordinates of the edge-arms, or of their symmetric parts.

    The symmetric part of ``z_ab`` is that of ``(z_ab + z_ba) / 2``: one regressor for each unordered
    pair, in d (d + 1) / 2 dimensions (fact 2 of the design).
    """
    K = problem.K
    index = np.arange(K * K).reshape(K, K)
    features = problem.edge_arms
    if symmetric:
        a, b = np.triu_indices(K)
        features = symmetric_coordinates(features[a * K + b])
        index = np.zeros((K, K), dtype=np.int64)
        index[a, b] = index[b, a] = np.arange(len(a))
    # Orthogonal arms have orthogonal edge-arms: A is diagonal in their directions, and a round O(K^2).
    diagonal = problem.orthogonal and problem.tabular  # other sums mix the regressors
    if not diagonal:
        return Coordinates(index, np.array(features), diagonal, symmetric)
    norms = np.sqrt(np.sum(features**2, axis=1))
    directions = features / np.where(norms > 0.0, norms, 1.0)[:, None]
    return Coordinates(index, np.diag(norms), diagonal, symmetric, directions)


def symmetric_edge_arms(arms: FloatArray) -> FloatArray:
    """Return symmetric parts of the edge-arms in orthonormal coordinates (K^2 x d(d+1)/2)."""
    z = arms[:, None, :, None] * arms[None, :, None, :]
    return symmetric_coordinates(z.reshape(-1, arms.shape[1] ** 2))


def symmetric_coordinates(vectors: FloatArray) -> FloatArray:
    """Return the symmetric part ``(M + M') / 2`` of ``vec(M)`` (... x d^2) in orthonormal coordinates.

    These are the d (d + 1) / 2 entries on and above the diagonal. Those above count twice in a matrix,
    and so are multiplied by sqrt 2: dot products are those of the matrices.
    """
    d = math.isqrt(vectors.shape[-1])
    M = vectors.reshape(*vectors.shape[:-1], d, d)
    i, j = np.triu_indices(d)
    return (M[..., i, j] + M[..., j, i]) * np.where(i == j, 0.5, np.sqrt(0.5))
