"""A block of ``A = U'U`` kept as its triangular factor, row by row of what is observed.

U has a positive diagonal, so it is unique. It is held with ``U theta_hat`` as a last column: solving
with it gives the estimate, and solving with it after a standard normal was added gives a draw from
``N(theta_hat, A^-1)``. Nothing here squares a condition number.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels.jit import kernel
from gbb._kernels.lanes import WIDTH, load, minus, plus, splat, spread, store, times, times_plus
from gbb._support.checks import FloatArray, IntArray

TINY = 1e-200
DIRECTIONS = 4
"""Vectors of one inverse iteration."""

TURNS = 60
"""The most steps of an iteration."""

CLOSE = 1e-9
"""The share by which an eigenvalue may be off, at most; as a rule it is off by far less."""

ROUNDING = 1e-15
"""Of the largest entry of A: what the elimination of its rows may be off by."""


@kernel()
def append_rows(
    U: FloatArray, blocks: IntArray, rows: FloatArray, counts: IntArray, scratch: FloatArray
) -> None:
    """These blocks of ``U`` after ``counts[g]`` more observations each, by Householder reflections.

    A row of ``rows[g]`` is ``sqrt(w) q'`` with the response ``sqrt(w) y`` behind it; ``rows`` is used
    up, and what stands below the diagonal of U means nothing. Each reflection turns the diagonal entry
    and what stands below it into one positive number. Blocks take turns, as one need not wait for the
    roots of another.
    """
    size, width = U.shape[1], U.shape[2]
    most = rows.shape[1]
    for j in range(size):
        for k in range(blocks.size):
            g = blocks[k]
            tail = 0.0
            for i in range(counts[g]):
                scratch[i] = rows[g, i, j]
                tail += scratch[i] * scratch[i]
            if tail <= TINY:
                continue
            above = U[g, j, j]
            norm = np.sqrt(above * above + tail)
            head = -tail / (above + norm)  # above - norm, without cancellation
            scale = (above + norm) / (norm * tail)  # 2 / (head^2 + tail)
            for lane in range(j // WIDTH * WIDTH, width, WIDTH):
                row, first = (g * size + j) * width + lane, g * most * width + lane
                before = load(U, row)
                step = times(splat(head), before)
                for i in range(counts[g]):
                    step = times_plus(spread(scratch, i), load(rows, first + i * width), step)
                step = times(splat(-scale), step)
                store(U, row, times_plus(splat(head), step, before))
                for i in range(counts[g]):
                    place = first + i * width
                    store(rows, place, times_plus(spread(scratch, i), step, load(rows, place)))
            U[g, j, j] = norm


@kernel(fastmath={"contract", "reassoc"})
def solve_back(U: FloatArray, g: int, right: FloatArray, theta: FloatArray) -> None:
    """``theta[g] = U[g]^-1 right``; ``right`` is used up."""
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
    """``F[f] = U[g]^-T V[v]`` and, as its last row, ``theta_hat' V[v]``.

    In the columns from ``first`` to ``last``, which are whole lanes.
    """
    size, columns = V.shape[1], V.shape[2]
    source, target = v * size * columns, f * (size + 1) * columns
    whole = first + (last - first) // (4 * WIDTH) * (4 * WIDTH)
    for p in range(
        first, whole, 4 * WIDTH
    ):  # four lanes of columns, which do not wait for one another
        for j in range(size + 1):
            x0 = x1 = x2 = x3 = splat(0.0)
            if j < size:
                row = source + j * columns + p
                x0, x1 = load(V, row), load(V, row + WIDTH)
                x2, x3 = load(V, row + 2 * WIDTH), load(V, row + 3 * WIDTH)
            for k in range(j):
                u, row = splat(-U[g, k, j]), target + k * columns + p
                x0 = times_plus(u, load(F, row), x0)
                x1 = times_plus(u, load(F, row + WIDTH), x1)
                x2 = times_plus(u, load(F, row + 2 * WIDTH), x2)
                x3 = times_plus(u, load(F, row + 3 * WIDTH), x3)
            scale, row = splat(1.0 / U[g, j, j] if j < size else -1.0), target + j * columns + p
            store(F, row, times(scale, x0))
            store(F, row + WIDTH, times(scale, x1))
            store(F, row + 2 * WIDTH, times(scale, x2))
            store(F, row + 3 * WIDTH, times(scale, x3))
    for p in range(whole, last, WIDTH):
        for j in range(size + 1):
            x, y = splat(0.0), splat(0.0)
            if j < size:
                x = load(V, source + j * columns + p)
            for k in range(0, j - 1, 2):
                row = target + k * columns + p
                x = times_plus(splat(-U[g, k, j]), load(F, row), x)
                y = times_plus(splat(-U[g, k + 1, j]), load(F, row + columns), y)
            if j % 2 == 1:
                row = target + (j - 1) * columns + p
                x = times_plus(splat(-U[g, j - 1, j]), load(F, row), x)
            scale = splat(1.0 / U[g, j, j] if j < size else -1.0)
            store(F, target + j * columns + p, times(scale, plus(x, y)))


@kernel(fastmath={"contract", "reassoc"})
def orthonormalise(X: FloatArray) -> None:
    """Orthonormal columns that span those of X; columns that add nothing become 0."""
    for one in range(DIRECTIONS):
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


@kernel()
def largest_of_small(G: FloatArray) -> float:
    """The largest eigenvalue of a small symmetric matrix, by Jacobi rotations; G is used up."""
    for _ in range(TURNS):
        off, size = 0.0, 0.0
        for p in range(DIRECTIONS):
            size = max(size, abs(G[p, p]))
            for q in range(p):
                off = max(off, abs(G[p, q]))
        if off <= ROUNDING * size:
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
                    x, y = G[p, k], G[q, k]
                    G[p, k], G[q, k] = c * x - s * y, s * x + c * y
                for k in range(DIRECTIONS):
                    x, y = G[k, p], G[k, q]
                    G[k, p], G[k, q] = c * x - s * y, s * x + c * y
    found = G[0, 0]
    for p in range(1, DIRECTIONS):
        found = max(found, G[p, p])
    return float(found)


@kernel(fastmath={"contract", "reassoc"})
def improve(U: FloatArray, g: int, X: FloatArray, Y: FloatArray, G: FloatArray) -> float:
    """A step of inverse iteration on the columns of ``X[g]``; returns the least Rayleigh quotient.

    It is the least in the span of X, as X was.
    """
    size, width = U.shape[1], U.shape[2]
    at = g * size * WIDTH
    orthonormalise(X[g])
    for j in range(size):
        store(Y, j * WIDTH, load(X, at + j * WIDTH))
    for k in range(size):  # Y = U^-T X
        y = times(splat(1.0 / U[g, k, k]), load(Y, k * WIDTH))
        store(Y, k * WIDTH, y)
        y = minus(splat(0.0), y)
        for j in range(k + 1, size):
            u = spread(U, (g * size + k) * width + j)
            store(Y, j * WIDTH, times_plus(u, y, load(Y, j * WIDTH)))
    for one in range(DIRECTIONS):
        for other in range(one + 1):
            dot = 0.0
            for j in range(size):
                dot += Y[j, one] * Y[j, other]
            G[one, other] = G[other, one] = dot
    for k in range(size - 1, -1, -1):  # X = U^-1 Y
        x = times(splat(1.0 / U[g, k, k]), load(Y, k * WIDTH))
        store(X, at + k * WIDTH, x)
        x = minus(splat(0.0), x)
        for j in range(k):
            u = spread(U, (g * size + j) * width + k)
            store(Y, j * WIDTH, times_plus(u, x, load(Y, j * WIDTH)))
    return 1.0 / largest_of_small(G)


@kernel()
def first_below(U: FloatArray, g: int, shift: float, C: FloatArray) -> int:
    """The first row of ``A - shift I`` that shows it is not positive definite, -1 if it is.

    C gets the rows of its elimination, and behind them the inverses of its diagonal.
    """
    size, width = U.shape[1], U.shape[2]
    for j in range(size):
        for lane in range(j // WIDTH * WIDTH, size, WIDTH):
            x, y = splat(0.0), splat(0.0)
            for k in range(j + 1):
                row = (g * size + k) * width
                x = times_plus(spread(U, row + j), load(U, row + lane), x)
            for k in range(j):
                row = k * width
                factor = times(spread(C, row + j), spread(C, row + size))
                y = times_plus(factor, load(C, row + lane), y)
            store(C, j * width + lane, minus(x, y))
        C[j, j] -= shift
        C[j, size] = 1.0 / C[j, j]
        if C[j, j] <= 0.0:
            return j
    return -1


@kernel()
def smallest_eigenvalue(
    U: FloatArray,
    g: int,
    X: FloatArray,
    floor: FloatArray,
    Y: FloatArray,
    G: FloatArray,
    C: FloatArray,
) -> float:
    """The smallest eigenvalue of block g of A, by inverse iteration on a few vectors at once.

    ``X[g]`` (size x WIDTH, of which DIRECTIONS count) spans about the directions least seen, as the last
    call left it. What is found is proved to be the smallest by ``floor[g]``, which no eigenvalue was
    below before (none ever falls), or by an elimination; a direction in which it is not takes the place
    of one in X. Where rounding hides the difference, the iteration goes on until it has settled. Y (as
    ``X[g]``), G (DIRECTIONS x DIRECTIONS) and C (as ``U[g]``) are scratch space.
    """
    size, most = U.shape[1], 0.0
    for j in range(size):
        most = max(most, U[g, j, j] * U[g, j, j])
    found, proved = np.inf, False
    for _ in range(TURNS):
        before = found
        found = improve(U, g, X, Y, G)
        proved = (1.0 - 2.0 * CLOSE) * found <= floor[g]
        if proved:
            break
        shift = found - CLOSE * found - ROUNDING * size * most
        if shift <= floor[g]:  # rounding hides it from an elimination: it must have settled
            proved = found >= (1.0 - CLOSE) * before
            if proved:
                break
            continue
        j = first_below(U, g, shift, C)
        proved = j < 0
        if proved:
            floor[g] = shift
            break
        for i in range(size):
            X[g, i, DIRECTIONS - 1] = 1.0 if i == j else 0.0
        for i in range(j - 1, -1, -1):  # z with z'(A - shift I) z < 0
            value = 0.0
            for k in range(i + 1, j + 1):
                value += C[i, k] * X[g, k, DIRECTIONS - 1]
            X[g, i, DIRECTIONS - 1] = -value / C[i, i]
    return float(found if proved else floor[g])
