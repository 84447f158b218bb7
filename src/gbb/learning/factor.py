"""Ridge regression in one block, by numpy alone: what ``_kernels/learning/factor.py`` compiles.

A coordinator of shards solves small systems only and is to stay small itself. The compiler would take
more memory than all the rest.
"""

from __future__ import annotations

import numpy as np

from gbb._support.checks import FloatArray, IntArray

Factors = tuple[FloatArray, FloatArray, IntArray, FloatArray]


def factor(features: FloatArray, weight: FloatArray, total: FloatArray, lam: float) -> Factors:
    """R, ``Q'y``, pivots and the whitened ``features`` of ``A = lam I + sum_s weight_s q_s q_s'``."""
    size, played = features.shape[1], np.flatnonzero(weight > 0)
    own = np.diag(features)
    if len(features) == size and np.count_nonzero(features) == np.count_nonzero(own):
        heads = np.sqrt(lam + weight * own**2)  # every regressor has a coordinate to itself
        return np.diag(heads), own * total / heads, np.arange(size), np.diag(own / heads)
    root = np.sqrt(weight[played])
    rows = np.concatenate([root[:, None] * features[played], np.sqrt(lam) * np.eye(size)])
    y = np.concatenate([total[played] / root, np.zeros(size)])
    order = np.argsort(-np.abs(rows).max(axis=1), kind="stable")
    R, qy, pivots, Q = pivoted_qr(rows[order], y[order])
    white = np.empty((weight.size, size))
    unseen = np.flatnonzero(weight <= 0)
    white[unseen] = whiten(R, pivots, features[unseen])
    seen = order < len(played)
    white[played[order[seen]]] = Q[seen] / root[order[seen]][:, None]
    return R, qy, pivots, white


def pivoted_qr(rows: FloatArray, y: FloatArray) -> Factors:
    """R, ``Q'y``, pivots and Q (thin) by Householder reflections with column pivoting."""
    count, size = rows.shape
    columns, y, pivots = rows.T.copy(), y.copy(), np.arange(size)
    heads, vectors = np.zeros(size), []
    for k in range(size):
        norms = np.einsum("ij,ij->i", columns[k:, k:], columns[k:, k:])
        best = k + int(norms.argmax())
        columns[[k, best]], pivots[[k, best]] = columns[[best, k]], pivots[[best, k]]
        norm = np.sqrt(norms[best - k])
        heads[k] = -norm if columns[k, k] >= 0 else norm
        vector = columns[k, k:].copy()
        vector[0] -= heads[k]
        scale = -1.0 / (heads[k] * vector[0])
        vectors.append((vector, scale))
        reflect(columns[k + 1 :, k:], vector, scale)
        reflect(y[None, k:], vector, scale)
    Q = np.eye(size, count)
    for k in range(size - 1, -1, -1):
        reflect(Q[:, k:], *vectors[k])
    R = np.triu(columns[:, :size].T, 1) + np.diag(heads)
    return R, y[:size], pivots, Q.T


def reflect(targets: FloatArray, vector: FloatArray, scale: float) -> None:
    """``target -= scale <vector, target> vector`` for every row."""
    targets -= (scale * (targets @ vector))[:, None] * vector


def whiten(R: FloatArray, pivots: IntArray, vectors: FloatArray) -> FloatArray:
    """``R^-T P' v`` for every row v of ``vectors``."""
    white = np.empty_like(vectors)
    for j in range(vectors.shape[1]):
        white[:, j] = (vectors[:, pivots[j]] - white[:, :j] @ R[:j, j]) / R[j, j]
    return white


def solve_upper(R: FloatArray, y: FloatArray, pivots: IntArray) -> FloatArray:
    """``P R^-1 y``."""
    theta = np.empty_like(y)
    for j in range(y.size - 1, -1, -1):
        theta[pivots[j]] = (y[j] - R[j, j + 1 :] @ theta[pivots[j + 1 :]]) / R[j, j]
    return theta
