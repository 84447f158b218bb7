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
LANES = 4
"""Vectors of one inverse iteration."""

TURNS = 60
"""The most steps of an iteration."""

CLOSE = 1e-12
"""An iteration ends when the eigenvalue changes by less than this share."""


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


@compiled(fastmath={"contract", "reassoc"})
def orthonormalise(X: FloatArray) -> None:
    """Orthonormal columns that span those of X; columns that add nothing become 0."""
    for one in range(LANES):
        before = 0.0
        for j in range(X.shape[0]):
            before += X[j, one] * X[j, one]
        for other in range(one):
            dot = 0.0
            for j in range(X.shape[0]):
                dot += X[j, one] * X[j, other]
            for j in range(X.shape[0]):
                X[j, one] -= dot * X[j, other]
        after = 0.0
        for j in range(X.shape[0]):
            after += X[j, one] * X[j, one]
        scale = 1.0 / np.sqrt(after) if after > 1e-24 * before else 0.0
        for j in range(X.shape[0]):
            X[j, one] *= scale


@compiled()
def largest_of_small(G: FloatArray) -> float:
    """The largest eigenvalue of a symmetric LANES x LANES matrix, by Jacobi rotations; G is used up."""
    for _ in range(TURNS):
        off, size = 0.0, 0.0
        for p in range(LANES):
            size = max(size, abs(G[p, p]))
            for q in range(p):
                off = max(off, abs(G[p, q]))
        if off <= CLOSE * size:
            break
        for p in range(LANES):
            for q in range(p):
                if G[p, q] == 0.0:
                    continue
                half = (G[q, q] - G[p, p]) / (2.0 * G[p, q])
                t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
                t = t if half >= 0.0 else -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(LANES):
                    x, y = G[p, k], G[q, k]
                    G[p, k], G[q, k] = c * x - s * y, s * x + c * y
                for k in range(LANES):
                    x, y = G[k, p], G[k, q]
                    G[k, p], G[k, q] = c * x - s * y, s * x + c * y
    found = G[0, 0]
    for p in range(1, LANES):
        found = max(found, G[p, p])
    return float(found)


@compiled(fastmath={"contract"})
def smallest_eigenvalue(U: FloatArray, X: FloatArray, Y: FloatArray, G: FloatArray) -> float:
    """The smallest eigenvalue of A, by inverse iteration on a few vectors at once.

    ``X`` (size x LANES) spans about the directions least seen, as the last call left it: the one that
    becomes the smallest next is among them. Y (as X) and G (LANES x LANES) are scratch space.
    """
    size = U.shape[0]
    before, found = 0.0, 0.0
    for _ in range(TURNS):
        orthonormalise(X)
        for j in range(size):  # Y = U^-T X
            for lane in range(LANES):
                Y[j, lane] = X[j, lane]
            for k in range(j):
                for lane in range(LANES):
                    Y[j, lane] -= U[k, j] * Y[k, lane]
            inverse = 1.0 / U[j, j]
            for lane in range(LANES):
                Y[j, lane] *= inverse
        for one in range(LANES):
            for other in range(one + 1):
                dot = 0.0
                for j in range(size):
                    dot += Y[j, one] * Y[j, other]
                G[one, other] = G[other, one] = dot
        for j in range(size - 1, -1, -1):  # X = U^-1 Y
            for lane in range(LANES):
                X[j, lane] = Y[j, lane]
            for k in range(j + 1, size):
                for lane in range(LANES):
                    X[j, lane] -= U[j, k] * X[k, lane]
            inverse = 1.0 / U[j, j]
            for lane in range(LANES):
                X[j, lane] *= inverse
        found = largest_of_small(G)  # of X'A^-1 X
        if abs(found - before) <= CLOSE * found:
            break
        before = found
    return float(1.0 / found)
