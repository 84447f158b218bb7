"""An estimate of any shape, a triangular factor U for each block of ``A = U'U``, and its indices."""

from __future__ import annotations

from operator import add as plus
from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.links import Links
from gbb._kernels.choice.rule import Rule, add_offset, log_of_product
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import smallest_eigenvalue, whiten_columns
from gbb._kernels.linalg import solve_upper as solve_back
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import fma as times_plus
from gbb._kernels.simd import load, store
from gbb._kernels.simd import sqrt as root
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


class Triangular(NamedTuple):
    """Triangular factors, a block each, and what they are updated and solved with.

    Attributes
    ----------
    U
        The factor and, behind it, ``U theta_hat`` (blocks x size x size + 1, padded to whole lanes).
    features
        The regressors of one type in coordinates, a row each.
    columns
        What the entries of a block's tables add, a column each (1 x size x columns).
    objectives
        The sum of edge-arms of every tuple (blocks in play x size x tuples, rows padded to whole lanes).
    white_objectives
        Those of a block whitened, and what they pay (1 x size + 1 x tuples as padded).
    rows, counts
        New rows of each block (blocks x rows x columns as U), and how many there are.
    seen, scratch
        What a round added to the counts and rewards of every regressor; scratch space.
    theta
        A solution.
    towards, floor, turned, small, eliminated
        Where inverse iteration ended (blocks x size x WIDTH), what no eigenvalue of each block is below,
        and scratch space.
    norm2
        The squared norm of every tuple (as padded).
    """

    U: FloatArray
    features: FloatArray
    columns: FloatArray
    objectives: FloatArray
    white_objectives: FloatArray
    rows: FloatArray
    counts: IntArray
    seen: FloatArray
    scratch: FloatArray
    theta: FloatArray
    towards: FloatArray
    floor: FloatArray
    turned: FloatArray
    small: FloatArray
    eliminated: FloatArray
    norm2: FloatArray


@kernel(forceinline=True, fastmath={"contract", "reassoc"})
def draw_triangular(
    rule: Rule, triangular: Triangular, rng: np.random.Generator, mu: FloatArray
) -> None:
    """What the regressors in play pay: their means, or a draw from ``N(theta_hat, v^2 A^-1)``."""
    U, features, theta = triangular.U, triangular.features, triangular.theta
    right, v, size = triangular.scratch, rule.v, U.shape[1]
    count, width = features.shape
    for k in range(rule.blocks.size):
        g = rule.blocks[k]
        for j in range(size):
            right[j] = U[g, j, size]
            if v > 0.0:
                right[j] += v * rng.standard_normal()
        solve_back(U, g, right, theta)
    flat = theta.reshape(mu.size // count, width)
    for k in range(rule.types.size):
        g = rule.types[k]
        for s in range(count):
            value = 0.0
            for c in range(width):
                value += features[s, c] * flat[g, c]
            mu[g * count + s] = value


@kernel(forceinline=True)
def value_objectives(rule: Rule, triangular: Triangular, radius: float, values: FloatArray) -> None:
    """Optimistic values of the tuples."""
    U, white, norm2 = triangular.U, triangular.white_objectives, triangular.norm2
    size, columns = U.shape[1], white.shape[2]
    for k in range(rule.blocks.size):
        whiten_columns(U, rule.blocks[k], triangular.objectives, k, white, 0, 0, columns)
        for p in range(0, columns, WIDTH):
            x = splat(0.0) if k == 0 else load(norm2, p)
            mean, y = splat(0.0) if k == 0 else load(values, p), splat(0.0)
            for j in range(0, size - 1, 2):
                one, two = load(white, j * columns + p), load(white, (j + 1) * columns + p)
                x, y = times_plus(one, one, x), times_plus(two, two, y)
            if size % 2 == 1:
                one = load(white, (size - 1) * columns + p)
                x = times_plus(one, one, x)
            store(norm2, p, plus(x, y))
            store(values, p, plus(mean, load(white, size * columns + p)))
    for p in range(0, columns, WIDTH):
        width = root(load(norm2, p))
        store(values, p, times_plus(splat(radius), width, load(values, p)))


@kernel(forceinline=True)
def fill_tables(rule: Rule, links: Links, triangular: Triangular, tables: FloatArray) -> None:
    """The whitened vectors of the tables in use, and what they pay."""
    U, columns = triangular.U, triangular.columns
    own = columns.shape[2] // links.one.shape[0]
    if U.shape[0] > 1 or links.used.size == links.one.shape[0]:
        for k in range(rule.blocks.size):
            g = rule.blocks[k]
            whiten_columns(U, g, columns, 0, tables, g, 0, columns.shape[2])
    else:  # the tables of all matrices stand in one block
        for k in range(links.used.size):
            t = links.used[k]
            whiten_columns(U, 0, columns, 0, tables, 0, t * own, (t + 1) * own)


@kernel(forceinline=True)
def radius_triangular(rule: Rule, triangular: Triangular) -> float:
    """The radius that follows triangular factors."""
    U, shares = triangular.U, triangular.scratch
    log_det, smallest = 0.0, np.inf
    for g in range(U.shape[0]):
        for j in range(U.shape[1]):
            shares[j] = U[g, j, j] * U[g, j, j] / rule.lam
        log_det += log_of_product(shares, U.shape[1])
    for k in range(rule.blocks.size if rule.shrinking else 0):
        found = smallest_eigenvalue(
            U,
            rule.blocks[k],
            triangular.towards,
            triangular.floor,
            triangular.turned,
            triangular.small,
            triangular.eliminated,
        )
        smallest = min(smallest, found / rule.lam)
    return add_offset(rule, log_det, max(smallest, 1.0))
