"""Ridge regression in one block by a row-sorted, column-pivoted QR factorisation."""

from __future__ import annotations

import numpy as np

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


@kernel(allocates=True)
def pivoted_qr(rows: FloatArray, y: FloatArray) -> tuple[FloatArray, IntArray]:
    """Householder QR with column pivoting, in place: R in the top of ``rows``, Q'y in ``y``.

    Returns Q (thin) and the pivots. With rows sorted by decreasing size this is stable row by row
    (Powell and Reid 1969, Cox and Higham 1998): each row keeps its own relative accuracy.
    """
    count, size = rows.shape
    columns = np.ascontiguousarray(rows.T)
    pivots = np.arange(size)
    heads, scales = np.zeros(size), np.zeros(size)
    for k in range(size):
        best, largest = k, -1.0
        for j in range(k, size):
            norm2 = np.sum(columns[j, k:] ** 2)
            if norm2 > largest:
                best, largest = j, norm2
        if best != k:
            for i in range(count):
                columns[k, i], columns[best, i] = columns[best, i], columns[k, i]
            pivots[k], pivots[best] = pivots[best], pivots[k]
        norm = np.sqrt(largest)
        heads[k] = -norm if columns[k, k] >= 0 else norm
        columns[k, k] -= heads[k]  # columns[k, k:] now holds the Householder vector
        scales[k] = -1.0 / (heads[k] * columns[k, k])
        for j in range(k + 1, size):
            reflect(columns[k], columns[j], k, scales[k])
        reflect(columns[k], y, k, scales[k])
    Q = np.zeros((size, count))
    for j in range(size):
        Q[j, j] = 1.0
        for k in range(j, -1, -1):
            reflect(columns[k], Q[j], k, scales[k])
    for k in range(size):
        rows[:, k] = 0.0
        rows[:k, k] = columns[k, :k]
        rows[k, k] = heads[k]
    return Q.T.copy(), pivots


@kernel(fastmath={"contract", "reassoc"})
def reflect(vector: FloatArray, target: FloatArray, k: int, scale: float) -> None:
    """``target -= scale <vector, target> vector`` from position k on."""
    dot = 0.0
    for i in range(k, target.size):
        dot += vector[i] * target[i]
    dot *= scale
    for i in range(k, target.size):
        target[i] -= dot * vector[i]


@kernel(allocates=True)
def factor(
    features: FloatArray, weight: FloatArray, total: FloatArray, lam: float
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Factorise ``A = lam I + sum_s weight_s q_s q_s'``, with responses summing to ``total_s``.

    ``features`` holds the q_s as rows. Returns ``R``, ``Q'y`` and pivots with ``A = P R'R P'``, and the
    whitened ``f_s = R^-T P' q_s``, for which ``q_s'A^-1 q_t = <f_s, f_t>`` and
    ``q_s'theta_hat = <f_s, Q'y>``. Where q_s was played, f_s is read off Q: solving with R would lose
    the digits that cancel when q_s is much larger than sqrt(lam).
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
        stacked[i] = root * features[s]
    largest = np.empty(count + size)
    for i in range(count + size):
        if i >= count:
            stacked[i, i - count] = np.sqrt(lam)
        largest[i] = -np.abs(stacked[i]).max()
    order = np.argsort(largest)
    stacked, y = stacked[order], y[order]
    Q, pivots = pivoted_qr(stacked, y)
    white = np.empty((weight.size, size))
    for s in np.flatnonzero(weight <= 0):
        solve_transposed(stacked, features[s], pivots, white[s])
    for i in range(count + size):
        if order[i] < count:
            s = played[order[i]]
            white[s] = Q[i] / np.sqrt(weight[s])
    return stacked[:size].copy(), y[:size].copy(), pivots, white


@kernel()
def solve_transposed(R: FloatArray, q: FloatArray, pivots: IntArray, result: FloatArray) -> None:
    """``result = R^-T P' q``."""
    for j in range(result.size):
        value = q[pivots[j]]
        for i in range(j):
            value -= R[i, j] * result[i]
        result[j] = value / R[j, j]


@kernel(allocates=True)
def whiten(R: FloatArray, pivots: IntArray, vectors: FloatArray) -> FloatArray:
    """``R^-T P' v`` for every row v of ``vectors``."""
    white = np.empty_like(vectors)
    for s in range(vectors.shape[0]):
        solve_transposed(R, vectors[s], pivots, white[s])
    return white


@kernel(allocates=True)
def solve_upper(R: FloatArray, y: FloatArray, pivots: IntArray) -> FloatArray:
    """``P R^-1 y``."""
    theta = np.empty_like(y)
    for j in range(y.size - 1, -1, -1):
        value = y[j]
        for i in range(j + 1, y.size):
            value -= R[j, i] * theta[pivots[i]]
        theta[pivots[j]] = value / R[j, j]
    return theta
