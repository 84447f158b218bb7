"""The two forms of an estimate that rounds keep up to date, and the indices they give.

Diagonal: every regressor has a coordinate to itself (orthogonal arms, rewards per edge), so a mean and
a variance of its own. Triangular: any other, a factor U for each block of ``A = U'U``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.lanes import WIDTH, load, plus, splat, store, times_plus
from gbb._kernels.learning.triangular import (
    HUGE,
    log_det_of,
    smallest_eigenvalue,
    solve_back,
    whiten_columns,
)
from gbb._support.checks import FloatArray, IntArray


class Rule(NamedTuple):
    """The numbers of an index policy.

    Attributes
    ----------
    regressors
        How many there are, over all types.
    tuple_start, tuple_regressor, tuple_amount
        What the edges of each tuple of arms over the parts add to each regressor, row by row.
    lam
        The ridge regulariser.
    adaptive, sigma, spread, offset, shrinking
        Whether the radius is ``sigma sqrt(log det(A / lam) + spread) + offset``, the offset times
        ``sqrt(lam / smallest eigenvalue)`` if it is shrinking; otherwise it is given round by round.
    v, explore
        Scale of the posterior draw; the probability of a random round.
    starts
        From how many tuples to search.
    """

    regressors: int
    tuple_start: IntArray
    tuple_regressor: IntArray
    tuple_amount: FloatArray
    lam: float
    adaptive: bool
    sigma: float
    spread: float
    offset: float
    shrinking: bool
    v: float
    explore: float
    starts: int


class Diagonal(NamedTuple):
    """Means and variances of the regressors, type after type.

    Attributes
    ----------
    mean, var, share
        Estimate, variance, and precision over lam of every regressor of every type.
    norm2
        The squared norm of each regressor of one type.
    first, second
        The arms of each regressor of one type.
    both
        Whether a regressor stands for both orders of its arms.
    lam
        The ridge regulariser.
    """

    mean: FloatArray
    var: FloatArray
    share: FloatArray
    norm2: FloatArray
    first: IntArray
    second: IntArray
    both: bool
    lam: float


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
        The sum of edge-arms of every tuple (blocks x size x tuples, rows padded to whole lanes).
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
        Squared norm and mean of every tuple (2 x tuples as padded).
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


@compiled()
def refresh_diagonal(diagonal: Diagonal, N: FloatArray, Y: FloatArray, g: int, s: int) -> None:
    """Estimate and variance of regressor s of type g from the record.

    ``var = |q|^2 / (lam + |q|^2 N_q)`` and ``mean = var Y_q``.
    """
    a, b, norm2 = diagonal.first[s], diagonal.second[s], diagonal.norm2[s]
    weight, total = N[g, a, b], Y[g, a, b]
    if diagonal.both and a != b:
        weight += N[g, b, a]
        total += Y[g, b, a]
    precision = diagonal.lam + norm2 * weight
    var = norm2 / precision
    place = g * diagonal.norm2.size + s
    diagonal.var[place] = var
    diagonal.mean[place] = var * total
    diagonal.share[place] = precision / diagonal.lam


@compiled()
def draw_diagonal(diagonal: Diagonal, v: float, rng: np.random.Generator, mu: FloatArray) -> None:
    """What the regressors pay: their means, or a draw around them."""
    mean, var = diagonal.mean, diagonal.var
    for s in range(mu.size):
        mu[s] = mean[s]
        if v > 0.0:
            mu[s] += v * np.sqrt(var[s]) * rng.standard_normal()


@compiled(fastmath={"contract", "reassoc"})
def draw_triangular(
    triangular: Triangular, v: float, rng: np.random.Generator, mu: FloatArray
) -> None:
    """What the regressors pay: their means, or a draw from ``N(theta_hat, v^2 A^-1)``."""
    U, features, theta = triangular.U, triangular.features, triangular.theta
    blocks, size = U.shape[0], U.shape[1]
    right = triangular.scratch
    count, width = features.shape
    for g in range(blocks):
        for j in range(size):
            right[j] = U[g, j, size]
            if v > 0.0:
                right[j] += v * rng.standard_normal()
        solve_back(U, g, right, theta)
    flat = theta.reshape(mu.size // count, width)
    for g in range(mu.size // count):
        for s in range(count):
            value = 0.0
            for c in range(width):
                value += features[s, c] * flat[g, c]
            mu[g * count + s] = value


@compiled()
def pay_tuples(rule: Rule, mu: FloatArray, values: FloatArray) -> None:
    """Values of the tuples without optimism."""
    start, regressor, amount = rule.tuple_start, rule.tuple_regressor, rule.tuple_amount
    for p in range(values.size):
        value = 0.0
        for e in range(start[p], start[p + 1]):
            value += amount[e] * mu[regressor[e]]
        values[p] = value


@compiled()
def value_tuples(rule: Rule, diagonal: Diagonal, radius: float, values: FloatArray) -> None:
    """Optimistic values of the tuples for a diagonal estimate."""
    start, regressor, amount = rule.tuple_start, rule.tuple_regressor, rule.tuple_amount
    mu, var = diagonal.mean, diagonal.var
    for p in range(values.size):
        mean, norm2 = 0.0, 0.0
        for e in range(start[p], start[p + 1]):
            s, c = regressor[e], amount[e]
            mean += c * mu[s]
            norm2 += c * c * var[s]
        values[p] = mean + radius * np.sqrt(norm2)


@compiled()
def value_objectives(triangular: Triangular, radius: float, values: FloatArray) -> None:
    """Optimistic values of the tuples for triangular factors."""
    U, white, norm2 = triangular.U, triangular.white_objectives, triangular.norm2
    size, columns = U.shape[1], white.shape[2]
    norm2[:, :] = 0.0
    for g in range(U.shape[0]):
        whiten_columns(U, g, triangular.objectives, g, white, 0)
        for p in range(0, columns, WIDTH):
            x, y = load(norm2, p), splat(0.0)
            for j in range(0, size - 1, 2):
                one, two = load(white, j * columns + p), load(white, (j + 1) * columns + p)
                x, y = times_plus(one, one, x), times_plus(two, two, y)
            if size % 2 == 1:
                one = load(white, (size - 1) * columns + p)
                x = times_plus(one, one, x)
            store(norm2, p, plus(x, y))
            mean = plus(load(norm2, columns + p), load(white, size * columns + p))
            store(norm2, columns + p, mean)
    for p in range(values.size):
        values[p] = norm2[1, p] + radius * np.sqrt(norm2[0, p])


@compiled()
def fill_tables(triangular: Triangular, tables: FloatArray) -> None:
    """The whitened vectors of the entries' tables, and what they pay."""
    for g in range(triangular.U.shape[0]):
        whiten_columns(triangular.U, g, triangular.columns, 0, tables, g)


@compiled()
def radius_diagonal(rule: Rule, diagonal: Diagonal) -> float:
    """The radius that follows a diagonal estimate."""
    result, product, smallest = 0.0, 1.0, np.inf
    for s in range(diagonal.share.size):
        share = diagonal.share[s]
        if diagonal.var[s] > 0.0:
            smallest = min(smallest, share)
        if share > HUGE:
            result += np.log(share)
            continue
        product *= share
        if product > HUGE:
            result += np.log(product)
            product = 1.0
    return add_offset(rule, result + np.log(product), smallest)


@compiled()
def radius_triangular(rule: Rule, triangular: Triangular) -> float:
    """The radius that follows triangular factors."""
    U, towards = triangular.U, triangular.towards
    log_det, smallest = 0.0, np.inf
    for g in range(U.shape[0]):
        log_det += log_det_of(U, g, rule.lam)
        if rule.shrinking:
            found = smallest_eigenvalue(
                U,
                g,
                towards,
                triangular.floor,
                triangular.turned,
                triangular.small,
                triangular.eliminated,
            )
            smallest = min(smallest, found / rule.lam)
    return add_offset(rule, log_det, max(smallest, 1.0))


@compiled()
def add_offset(rule: Rule, log_det: float, smallest: float) -> float:
    """``sigma sqrt(log_det + spread) + offset``; ``smallest`` is that eigenvalue of ``A / lam``."""
    share = 1.0 / np.sqrt(smallest) if rule.shrinking else 1.0
    return float(rule.sigma * np.sqrt(max(log_det, 0.0) + rule.spread) + share * rule.offset)
