"""Ridge regression in the symmetric block by a row-sorted, column-pivoted QR factorisation."""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled


@compiled()
def pivoted_qr(rows: FloatArray, y: FloatArray) -> IntArray:
    """Householder QR with column pivoting, in place: R in the top of ``rows``, Q'y in ``y``.

    With rows sorted by decreasing size this is stable row by row (Powell and Reid 1969, Cox and
    Higham 1998): rows of very different size keep their own relative accuracy.
    """
    count, size = rows.shape
    pivots = np.arange(size)
    for k in range(size):
        best, largest = k, -1.0
        for j in range(k, size):
            norm2 = 0.0
            for i in range(k, count):
                norm2 += rows[i, j] ** 2
            if norm2 > largest:
                best, largest = j, norm2
        if best != k:
            for i in range(count):
                rows[i, k], rows[i, best] = rows[i, best], rows[i, k]
            pivots[k], pivots[best] = pivots[best], pivots[k]
        norm = np.sqrt(largest)
        if norm == 0.0:
            continue
        alpha = -norm if rows[k, k] >= 0 else norm
        head = rows[k, k] - alpha
        rows[k, k] = head  # rows[k:, k] now holds the Householder vector
        scale = -1.0 / (alpha * head)
        for j in range(k + 1, size):
            dot = 0.0
            for i in range(k, count):
                dot += rows[i, k] * rows[i, j]
            dot *= scale
            for i in range(k, count):
                rows[i, j] -= dot * rows[i, k]
        dot = 0.0
        for i in range(k, count):
            dot += rows[i, k] * y[i]
        dot *= scale
        for i in range(k, count):
            y[i] -= dot * rows[i, k]
        rows[k, k] = alpha
    return pivots


@compiled()
def factor(
    features: FloatArray, weight: FloatArray, total: FloatArray, lam: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """R, Q'y and pivots of ``A = lam I + sum_s weight_s q_s q_s'`` with responses ``total_s``.

    ``features`` holds the q_s as rows; ``total_s`` is the sum of the ``weight_s`` responses of q_s.
    """
    size = features.shape[1]
    played = np.flatnonzero(weight > 0)
    count = played.size
    stacked = np.zeros((count + size, size))
    y = np.zeros(count + size)
    for i in range(count):
        s = played[i]
        root = np.sqrt(weight[s])
        y[i] = total[s] / root
        for j in range(size):
            stacked[i, j] = root * features[s, j]
    for j in range(size):
        stacked[count + j, j] = np.sqrt(lam)
    largest = np.zeros(count + size)
    for i in range(count + size):
        largest[i] = -np.abs(stacked[i]).max()
    order = np.argsort(largest)
    stacked = stacked[order]
    y = y[order]
    pivots = pivoted_qr(stacked, y)
    return stacked[:size].copy(), y[:size].copy(), pivots


@compiled()
def whiten(features: FloatArray, R: FloatArray, pivots: IntArray) -> FloatArray:
    """``R^-T q`` for every row q, so that ``q'A^-1 q' `` is a dot product of two of them."""
    count, size = features.shape
    result = np.empty((count, size))
    for s in range(count):
        for j in range(size):
            value = features[s, pivots[j]]
            for i in range(j):
                value -= R[i, j] * result[s, i]
            result[s, j] = value / R[j, j]
    return result
