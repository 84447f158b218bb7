"""A block of ``A = U'U`` kept as its triangular factor, row by row of what is observed.

U has a positive diagonal, so it is unique. It is held with ``U theta_hat`` as a last column: solving
with it gives the estimate, and solving with it after a standard normal was added gives a draw from
``N(theta_hat, A^-1)``. Nothing here squares a condition number.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._support.checks import FloatArray

HUGE = 1e100
TURNS = 60
"""The most steps of inverse iteration."""

CLOSE = 1e-13
"""Inverse iteration ends when the eigenvalue changes by less than this share."""


@compiled(fastmath={"contract", "reassoc"})
def append_rows(U: FloatArray, rows: FloatArray, count: int, scratch: FloatArray) -> None:
    """``U`` after ``count`` more observations, by Householder reflections.

    A row is ``sqrt(w) q'`` with the response ``sqrt(w) y`` behind it; ``rows`` is used up. Each
    reflection turns the diagonal entry and what stands below it into one positive number.
    """
    size = U.shape[0]
    for j in range(size):
        tail = 0.0
        for i in range(count):
            tail += rows[i, j] * rows[i, j]
        if tail == 0.0:
            continue
        norm = np.sqrt(U[j, j] * U[j, j] + tail)
        head = -tail / (U[j, j] + norm)  # U_jj - norm, without cancellation
        scale = 2.0 / (head * head + tail)
        U[j, j] = norm
        for k in range(j + 1, size + 1):
            scratch[k] = head * U[j, k]
        for i in range(count):
            x = rows[i, j]
            if x != 0.0:
                for k in range(j + 1, size + 1):
                    scratch[k] += x * rows[i, k]
        for k in range(j + 1, size + 1):
            scratch[k] *= scale
            U[j, k] -= scratch[k] * head
        for i in range(count):
            x = rows[i, j]
            if x != 0.0:
                for k in range(j + 1, size + 1):
                    rows[i, k] -= x * scratch[k]


@compiled(fastmath={"contract", "reassoc"})
def solve_back(U: FloatArray, right: FloatArray, theta: FloatArray) -> None:
    """``theta = U^-1 right``."""
    size = U.shape[0]
    for j in range(size - 1, -1, -1):
        value = right[j]
        for k in range(j + 1, size):
            value -= U[j, k] * theta[k]
        theta[j] = value / U[j, j]


@compiled(fastmath={"contract"})
def whiten_columns(U: FloatArray, V: FloatArray, F: FloatArray) -> None:
    """``F = U^-T V``, column by column at once."""
    size, count = V.shape
    for j in range(size):
        for p in range(count):
            F[j, p] = V[j, p]
        k = 0
        while k + 3 < j:
            u0, u1, u2, u3 = U[k, j], U[k + 1, j], U[k + 2, j], U[k + 3, j]
            for p in range(count):
                F[j, p] -= (u0 * F[k, p] + u1 * F[k + 1, p]) + (u2 * F[k + 2, p] + u3 * F[k + 3, p])
            k += 4
        while k < j:
            u0 = U[k, j]
            for p in range(count):
                F[j, p] -= u0 * F[k, p]
            k += 1
        inverse = 1.0 / U[j, j]
        for p in range(count):
            F[j, p] *= inverse


@compiled()
def log_det_of(U: FloatArray, lam: float) -> float:
    """``log det(A / lam)``: few logarithms, of products."""
    result, product = 0.0, 1.0
    for j in range(U.shape[0]):
        share = U[j, j] * U[j, j] / lam
        if share > HUGE:
            result += np.log(share)
            continue
        product *= share
        if product > HUGE:
            result += np.log(product)
            product = 1.0
    return float(result + np.log(product))


@compiled()
def smallest_eigenvalue(U: FloatArray, x: FloatArray, y: FloatArray) -> float:
    """The smallest eigenvalue of A by inverse iteration.

    ``x`` is where the last call ended, which is close, with a little of every direction added lest it
    stay with an eigenvector that has grown; ``y`` is scratch space.
    """
    size = U.shape[0]
    norm = 0.0
    for j in range(size):
        x[j] += 0.03 * (1.0 if j % 2 == 0 else -0.7) / np.sqrt(size)
        norm += x[j] * x[j]
    before, found = np.inf, np.inf
    for _ in range(TURNS):
        scale = 1.0 / np.sqrt(norm)
        inverse = 0.0
        for j in range(size):  # y = U^-T x
            value = x[j] * scale
            for k in range(j):
                value -= U[k, j] * y[k]
            y[j] = value / U[j, j]
            inverse += y[j] * y[j]
        solve_back(U, y, x)
        norm = 0.0
        for j in range(size):
            norm += x[j] * x[j]
        found = 1.0 / inverse
        if abs(before - found) <= CLOSE * found:
            break
        before = found
    scale = 1.0 / np.sqrt(norm)
    for j in range(size):
        x[j] *= scale
    return float(found)
