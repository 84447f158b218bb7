"""A block of ``A = U'U`` kept as its triangular factor, updated by every row that is observed.

U has a positive diagonal, so it is unique. ``U theta_hat`` stands behind it as a last column: solving
gives the estimate, and solving after a standard normal was added a draw from ``N(theta_hat, A^-1)``.
Nothing here squares a condition number. What stands below the diagonal of U means nothing.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast, fma, load, load_broadcast, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

TINY = 1e-200
"""Squares below this count as zero: their inverses overflow."""

DIRECTIONS = 4
"""The vectors of an inverse iteration: one alone is slow where eigenvalues cluster, as all do at lam."""

MAX_STEPS = 60
"""The most steps of an iteration."""

CLOSE = 1e-9
"""The share by which an eigenvalue may be off, at most; as a rule it is off by far less."""

ROUNDING = 1e-15
"""Of the largest entry of A: what the elimination of its rows may be off by."""


@kernel()
def append_rows(
    U: FloatArray, blocks: IntArray, rows: FloatArray, counts: IntArray, scratch: FloatArray
) -> None:
    """Add ``counts[g]`` observations to these blocks of U by Householder reflections.

    A row of ``rows[g]`` is ``sqrt(w) q'`` with the response ``sqrt(w) y`` behind it; ``rows`` is used
    up. A reflection for each column turns its diagonal entry and what stands below into one number.
    """
    size, width = U.shape[1], U.shape[2]
    most = rows.shape[1]
    for j in range(size):
        for k in range(blocks.size):  # in turns: one block need not wait for the roots of another
            g = blocks[k]
            tail = 0.0
            for i in range(counts[g]):
                scratch[i] = rows[g, i, j]
                tail += scratch[i] * scratch[i]
            if tail <= TINY:
                continue
            diagonal = U[g, j, j]
            norm = np.sqrt(diagonal * diagonal + tail)
            head = -tail / (diagonal + norm)  # diagonal - norm, without cancellation
            scale = (diagonal + norm) / (norm * tail)  # 2 / (head^2 + tail)
            for p in range(j // WIDTH * WIDTH, width, WIDTH):
                row, first = (g * size + j) * width + p, g * most * width + p
                before = load(U, row)
                step = head * before
                for i in range(counts[g]):
                    step = fma(load_broadcast(scratch, i), load(rows, first + i * width), step)
                step = -scale * step
                store(U, row, fma(head, step, before))
                for i in range(counts[g]):
                    place = first + i * width
                    store(rows, place, fma(load_broadcast(scratch, i), step, load(rows, place)))
            U[g, j, j] = norm


@kernel(fastmath={"contract", "reassoc"})
def solve_upper(U: FloatArray, g: int, right: FloatArray, theta: FloatArray) -> None:
    """Write ``U[g]^-1 right`` to ``theta[g]``; ``right`` is used up."""
    size = U.shape[1]
    for k in range(size - 1, -1, -1):
        x = right[k] / U[g, k, k]
        theta[g, k] = x
        for j in range(k):
            right[j] -= U[g, j, k] * x


@kernel()
def whiten_columns(
    U: FloatArray,
    g: int,
    V: FloatArray,
    v: int,
    F: FloatArray,
    f: int,
    first: int,
    last: int,
) -> None:
    """Write ``U[g]^-T V[v]`` to ``F[f]``, with ``theta_hat' V[v]`` as a last row.

    Only columns from ``first`` to ``last`` are written, which are whole vectors.
    """
    size, columns = V.shape[1], V.shape[2]
    source, target = v * size * columns, f * (size + 1) * columns
    whole = first + (last - first) // (4 * WIDTH) * (4 * WIDTH)
    for p in range(first, whole, 4 * WIDTH):  # four vectors that do not wait for one another
        for j in range(size + 1):
            x0 = x1 = x2 = x3 = broadcast(0.0)
            if j < size:
                row = source + j * columns + p
                x0, x1 = load(V, row), load(V, row + WIDTH)
                x2, x3 = load(V, row + 2 * WIDTH), load(V, row + 3 * WIDTH)
            for k in range(j):
                u, row = broadcast(-U[g, k, j]), target + k * columns + p
                x0 = fma(u, load(F, row), x0)
                x1 = fma(u, load(F, row + WIDTH), x1)
                x2 = fma(u, load(F, row + 2 * WIDTH), x2)
                x3 = fma(u, load(F, row + 3 * WIDTH), x3)
            # The last row starts from zero and takes U theta_hat, so its sign is turned.
            scale, row = 1.0 / U[g, j, j] if j < size else -1.0, target + j * columns + p
            store(F, row, scale * x0)
            store(F, row + WIDTH, scale * x1)
            store(F, row + 2 * WIDTH, scale * x2)
            store(F, row + 3 * WIDTH, scale * x3)
    for p in range(whole, last, WIDTH):  # two sums at a time, of even and of odd rows
        for j in range(size + 1):
            x, y = broadcast(0.0), broadcast(0.0)
            if j < size:
                x = load(V, source + j * columns + p)
            for k in range(0, j - 1, 2):
                row = target + k * columns + p
                x = fma(-U[g, k, j], load(F, row), x)
                y = fma(-U[g, k + 1, j], load(F, row + columns), y)
            if j % 2 == 1:
                row = target + (j - 1) * columns + p
                x = fma(-U[g, j - 1, j], load(F, row), x)
            scale = 1.0 / U[g, j, j] if j < size else -1.0
            store(F, target + j * columns + p, scale * (x + y))


@kernel(fastmath={"contract", "reassoc"})
def smallest_eigenvalue(
    U: FloatArray,
    g: int,
    X: FloatArray,
    floor: FloatArray,
    Y: FloatArray,
    G: FloatArray,
    C: FloatArray,
) -> float:
    """Return the smallest eigenvalue of block g of A, by inverse iteration on a few vectors at once.

    ``X[g]`` (size x WIDTH, of which DIRECTIONS count) spans about the directions least seen, as the last
    call left it. What is found is proved to be the smallest by ``floor[g]``, which no eigenvalue was
    below before (none ever falls), or by an elimination; a direction in which it is not takes the place
    of one in X. Y (as ``X[g]``), G (DIRECTIONS x DIRECTIONS) and C (as ``U[g]``) are scratch.
    """
    # One flat function: a compiled callee is optimised once more in each of its callers.
    size, width, at = U.shape[1], U.shape[2], g * U.shape[1] * WIDTH
    largest = 0.0
    for j in range(size):
        largest = max(largest, U[g, j, j] * U[g, j, j])
    value, proved = np.inf, False
    for _ in range(MAX_STEPS):
        # Orthonormal columns that span those of X; columns that add nothing become 0.
        for one in range(DIRECTIONS):
            before = 0.0
            for j in range(size):
                before += X[g, j, one] * X[g, j, one]
            for other in range(one):
                dot = 0.0
                for j in range(size):
                    dot += X[g, j, one] * X[g, j, other]
                for j in range(size):
                    X[g, j, one] -= dot * X[g, j, other]
            after = 0.0
            for j in range(size):
                after += X[g, j, one] * X[g, j, one]
            scale = 1.0 / np.sqrt(after) if after > 1e-24 * before else 0.0
            for j in range(size):
                X[g, j, one] *= scale

        # Y = U^-T X, the Gram matrix G = Y'Y = X'A^-1 X, and X = U^-1 Y = A^-1 X for the next step.
        for j in range(size):
            store(Y, j * WIDTH, load(X, at + j * WIDTH))
        for k in range(size):
            y = (1.0 / U[g, k, k]) * load(Y, k * WIDTH)
            store(Y, k * WIDTH, y)
            y = 0.0 - y
            for j in range(k + 1, size):
                store(Y, j * WIDTH, fma(U[g, k, j], y, load(Y, j * WIDTH)))
        for one in range(DIRECTIONS):
            for other in range(one + 1):
                dot = 0.0
                for j in range(size):
                    dot += Y[j, one] * Y[j, other]
                G[one, other] = G[other, one] = dot
        for k in range(size - 1, -1, -1):
            x = (1.0 / U[g, k, k]) * load(Y, k * WIDTH)
            store(X, at + k * WIDTH, x)
            x = 0.0 - x
            for j in range(k):
                store(Y, j * WIDTH, fma(U[g, j, k], x, load(Y, j * WIDTH)))

        # The least Rayleigh quotient in the span of X is 1 / the largest eigenvalue of G (Jacobi).
        for _ in range(MAX_STEPS):
            off, size_of_G = 0.0, 0.0
            for p in range(DIRECTIONS):
                size_of_G = max(size_of_G, abs(G[p, p]))
                for q in range(p):
                    off = max(off, abs(G[p, q]))
            if off <= ROUNDING * size_of_G:
                break
            for p in range(DIRECTIONS):
                for q in range(p):
                    if G[p, q] == 0.0:
                        continue
                    half = (G[q, q] - G[p, p]) / (2.0 * G[p, q])
                    t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
                    t = t if half >= 0.0 else -t
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(DIRECTIONS):
                        u, v = G[p, k], G[q, k]
                        G[p, k], G[q, k] = c * u - s * v, s * u + c * v
                    for k in range(DIRECTIONS):
                        u, v = G[k, p], G[k, q]
                        G[k, p], G[k, q] = c * u - s * v, s * u + c * v
        inverse = G[0, 0]
        for p in range(1, DIRECTIONS):
            inverse = max(inverse, G[p, p])
        previous, value = value, 1.0 / inverse
        proved = (1.0 - 2.0 * CLOSE) * value <= floor[g]
        if proved:
            break
        shift = value - CLOSE * value - ROUNDING * size * largest
        if shift <= floor[g]:  # rounding hides it from an elimination: it must have settled
            proved = value >= (1.0 - CLOSE) * previous
            if proved:
                break
            continue

        # Rows of A - shift I, eliminated one by one, with the inverses of the diagonal behind them. It
        # is positive definite, and so the value proved, unless a row j ends below zero.
        negative = -1
        for j in range(size):
            for p in range(j // WIDTH * WIDTH, size, WIDTH):
                kept, taken = broadcast(0.0), broadcast(0.0)
                for k in range(j + 1):
                    row = (g * size + k) * width
                    kept = fma(load_broadcast(U, row + j), load(U, row + p), kept)
                for k in range(j):
                    ratio = load_broadcast(C, k * width + j) * load_broadcast(C, k * width + size)
                    taken = fma(ratio, load(C, k * width + p), taken)
                store(C, j * width + p, kept - taken)
            C[j, j] -= shift
            C[j, size] = 1.0 / C[j, j]
            if C[j, j] <= 0.0:
                negative = j
                break
        proved = negative < 0
        if proved:
            floor[g] = shift
            break
        # The vector z with z'(A - shift I) z < 0 that it ended with joins the iteration.
        for i in range(size):
            X[g, i, DIRECTIONS - 1] = 1.0 if i == negative else 0.0
        for i in range(negative - 1, -1, -1):
            total = 0.0
            for k in range(i + 1, negative + 1):
                total += C[i, k] * X[g, k, DIRECTIONS - 1]
            X[g, i, DIRECTIONS - 1] = -total / C[i, i]
    return float(value if proved else floor[g])
