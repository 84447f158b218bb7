"""Estimates of any shape: a triangular factor U for each block of ``A = U'U``.

With a vector c of C context numbers the edge-arms of a round are ``c (x) z``, so of all C d^2 parameters
only ``M(c) = sum_k c_k M_k`` matters, and of that the symmetric part if both directions of every link
are alike. With these p directions as columns of S, the covariance of a round is ``F'F`` for
``F = U^-T (c (x) S)``: the round is that of a problem without contexts and with p parameters, whose
factor :func:`reduce_to_round` makes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.independent import log_of_product, radius_of
from gbb._kernels.index.layout import Layout, Rule
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import solve_upper, whiten_columns
from gbb._kernels.simd import broadcast, fma, load, sqrt, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Dense(NamedTuple):
    """Triangular factors, a block each, and what they are updated and solved with.

    Attributes
    ----------
    U
        The factor and, behind it, ``U theta_hat`` (blocks x size x size + 1, padded to whole vectors).
    features
        The regressors of one type in coordinates, a row each.
    rows, counts
        New rows of each block (blocks x rows x columns as U), and how many there are.
    observed
        What a round added to the counts and rewards of every regressor, 0 in between.
    scratch, theta
        Scratch space: a row, and a solution.
    """

    U: FloatArray
    features: FloatArray
    rows: FloatArray
    counts: IntArray
    observed: FloatArray
    scratch: FloatArray
    theta: FloatArray


class Spectrum(NamedTuple):
    """What follows the smallest eigenvalue of each block: see ``smallest_eigenvalue``."""

    vectors: FloatArray
    floor: FloatArray
    solved: FloatArray
    small: FloatArray
    eliminated: FloatArray


class TupleBounds(NamedTuple):
    """Scratch space for optimistic values of tuples of arms.

    Attributes
    ----------
    U
        The factor that they are computed with: that of the estimate, or of :class:`Reduction`.
    whitened
        The objectives of a block whitened, and what they pay (1 x size + 1 x tuples as padded).
    norm2
        The squared norm of every tuple (as padded).
    """

    U: FloatArray
    whitened: FloatArray
    norm2: FloatArray


class Reduction(NamedTuple):
    """What reduces the estimate of all parameters to those of a round.

    Attributes
    ----------
    directions
        The columns of S, in reverse (1 x d^2 x p, padded to whole vectors).
    columns
        ``c (x) S`` (1 x parameters x as padded).
    F
        Scratch space (1 x parameters + 1 x as padded).
    """

    directions: FloatArray
    columns: FloatArray
    F: FloatArray


@kernel(forceinline=True, fastmath={"contract", "reassoc"})
def draw_dense(
    v: float, layout: Layout, dense: Dense, rng: np.random.Generator, mu: FloatArray
) -> None:
    """Fill in what regressors in play pay: for theta_hat, or a draw from ``N(theta_hat, v^2 A^-1)``."""
    U, features, theta = dense.U, dense.features, dense.theta
    right, size = dense.scratch, U.shape[1]
    count, width = features.shape
    for k in range(layout.blocks_in_play.size):
        g = layout.blocks_in_play[k]
        for j in range(size):
            right[j] = U[g, j, size]
            if v > 0.0:
                right[j] += v * rng.standard_normal()
        solve_upper(U, g, right, theta)
    flat = theta.reshape(mu.size // count, width)
    for k in range(layout.types_in_play.size):
        g = layout.types_in_play[k]
        for s in range(count):
            value = 0.0
            for c in range(width):
                value += features[s, c] * flat[g, c]
            mu[g * count + s] = value


@kernel(forceinline=True)
def bounds_of_objectives(
    layout: Layout, bounds: TupleBounds, radius: float, values: FloatArray
) -> None:
    """Fill in the optimistic values of the tuples."""
    U, white, norm2 = bounds.U, bounds.whitened, bounds.norm2
    size, columns = U.shape[1], white.shape[2]
    zero = 0 * size  # a literal would be a type of its own, and one more kernel
    for k in range(layout.blocks_in_play.size):
        g = layout.blocks_in_play[k]
        whiten_columns(U, g, layout.objectives, k, white, zero, zero, columns)
        for p in range(0, columns, WIDTH):
            x = broadcast(0.0) if k == 0 else load(norm2, p)
            mean, y = broadcast(0.0) if k == 0 else load(values, p), broadcast(0.0)
            for j in range(0, size - 1, 2):
                one, two = load(white, j * columns + p), load(white, (j + 1) * columns + p)
                x, y = fma(one, one, x), fma(two, two, y)
            if size % 2 == 1:
                one = load(white, (size - 1) * columns + p)
                x = fma(one, one, x)
            store(norm2, p, x + y)
            store(values, p, mean + load(white, size * columns + p))
    for p in range(0, columns, WIDTH):
        width = sqrt(load(norm2, p))
        store(values, p, fma(radius, width, load(values, p)))


@kernel(forceinline=True)
def radius_dense(rule: Rule, dense: Dense, smallest: float, offset: float) -> float:
    """Return the radius that follows the factors; ``smallest`` is that of the eigenvalues in play."""
    U, shares, log_det = dense.U, dense.scratch, 0.0
    for g in range(U.shape[0]):
        for j in range(U.shape[1]):
            shares[j] = U[g, j, j] * U[g, j, j] / rule.lam
        log_det += log_of_product(shares, U.shape[1])
    return radius_of(rule, offset, log_det, max(smallest / rule.lam, 1.0))


@kernel(forceinline=True)
def append_observed(layout: Layout, dense: Dense) -> None:
    """Fill in the rows of what a round added to the regressors."""
    features, observed, rows = dense.features, dense.observed, dense.rows
    count, size = features.shape
    for k in range(layout.blocks_in_play.size):
        g, used = layout.blocks_in_play[k], 0
        for s in range(g * count, (g + 1) * count):
            weight = observed[s, 0]
            if weight > 0.0:
                scale = np.sqrt(weight)
                for c in range(size):
                    rows[g, used, c] = scale * features[s - g * count, c]
                rows[g, used, size] = observed[s, 1] / scale
                observed[s, 0] = observed[s, 1] = 0.0
                used += 1
        dense.counts[g] = used


@kernel(forceinline=True)
def multiply_edge_arms(
    c: FloatArray, edge_arms: FloatArray, dense: Dense, reduction: Reduction | None
) -> None:
    """Write the edge-arms ``c (x) z`` of a round, and the directions that they span, for context c."""
    count, size = edge_arms.shape
    for k in range(c.size):
        for s in range(count):
            for i in range(size):
                dense.features[s, k * size + i] = c[k] * edge_arms[s, i]
        if reduction is not None:
            for i in range(size):
                for x in range(reduction.directions.shape[2]):
                    reduction.columns[0, k * size + i, x] = c[k] * reduction.directions[0, i, x]


@kernel(forceinline=True)
def reduce_to_round(dense: Dense, reduction: Reduction, U: FloatArray) -> None:
    """Write to U the factor of the round whose ``c (x) S`` are the columns of ``reduction``.

    They stand there in reverse: then F is Q R with R triangular (Householder reflections, which square
    no condition number), ``R'R`` is the covariance in reverse, and ``R^-T`` in reverse the upper
    triangular factor of its inverse. Rounds whose numbers are all next to 0 must not come here, as they
    would divide by ``F[j, j] = 0``.
    """
    F, v = reduction.F, dense.scratch
    size, p, width = dense.U.shape[1], U.shape[1], F.shape[2]
    zero = 0 * size
    whiten_columns(dense.U, zero, reduction.columns, zero, F, zero, zero, width)
    for j in range(p):
        tail = 0.0
        for i in range(j + 1, size):
            tail += F[0, i, j] * F[0, i, j]
        above = F[0, j, j]
        norm = np.sqrt(above * above + tail)
        head = above + norm if above >= 0.0 else above - norm
        scale = 2.0 / (head * head + tail)
        F[0, j, j] = head
        for i in range(j, size):
            v[i] = F[0, i, j]
        for lane in range(j // WIDTH * WIDTH, width, WIDTH):
            one, two = broadcast(0.0), broadcast(0.0)
            for i in range(j, size - 1, 2):
                row = i * width + lane
                one = fma(v[i], load(F, row), one)
                two = fma(v[i + 1], load(F, row + width), two)
            if (size - j) % 2 == 1:
                row = (size - 1) * width + lane
                one = fma(v[size - 1], load(F, row), one)
            step = -scale * (one + two)
            for i in range(j, size):
                row = i * width + lane
                store(F, row, fma(v[i], step, load(F, row)))
        F[0, j, j] = -norm if above >= 0.0 else norm
    for j in range(p):
        r = p - 1 - j
        U[0, r, r] = 1.0 / F[0, j, j]
        for i in range(j - 1, -1, -1):
            value = 0.0
            for k in range(i + 1, j + 1):
                value += F[0, i, k] * U[0, r, p - 1 - k]
            U[0, r, p - 1 - i] = -value * U[0, p - 1 - i, p - 1 - i]
        reward = 0.0
        for c in range(r, p):
            reward += U[0, r, c] * F[0, size, p - 1 - c]
        U[0, r, p] = reward
