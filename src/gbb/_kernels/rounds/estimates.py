"""The two forms of an estimate that rounds keep up to date, and the indices they give.

Diagonal: every regressor has a coordinate to itself (orthogonal arms, rewards per edge), so a mean and
a variance of its own. Triangular: any other, a factor U for each block of ``A = U'U``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.climb import Whitened
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
        The factor and, as its last column, ``U theta_hat`` (blocks x size x size + 1).
    features
        The regressors of one type in coordinates, a row each.
    columns
        The same in the coordinates of a block, a column each: of one type, or of all types in one block.
    objectives
        The sum of edge-arms of every tuple (blocks x size x tuples).
    white, white_objectives
        Both whitened.
    rows, seen, scratch
        New rows; what a round added to the counts and rewards of every regressor; scratch space.
    theta
        A solution.
    towards, small
        Where inverse iteration ended (blocks x size x LANES), the last as scratch space; more of it.
    mean, norm2
        Of every tuple.
    """

    U: FloatArray
    features: FloatArray
    columns: FloatArray
    objectives: FloatArray
    white: FloatArray
    white_objectives: FloatArray
    rows: FloatArray
    seen: FloatArray
    scratch: FloatArray
    theta: FloatArray
    towards: FloatArray
    small: FloatArray
    mean: FloatArray
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
        solve_back(U[g], right, theta[g])
    flat = theta.reshape(theta.size)
    for place in range(mu.size):
        g, s = place // count, place % count
        value = 0.0
        for c in range(width):
            value += features[s, c] * flat[g * width + c]
        mu[place] = value


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


@compiled(fastmath={"contract"})
def value_objectives(triangular: Triangular, radius: float, values: FloatArray) -> None:
    """Optimistic values of the tuples for triangular factors."""
    U, mean, norm2 = triangular.U, triangular.mean, triangular.norm2
    white = triangular.white_objectives
    size = U.shape[1]
    mean[:] = 0.0
    norm2[:] = 0.0
    for g in range(U.shape[0]):
        whiten_columns(U[g], triangular.objectives[g], white)
        for j in range(size):
            y = U[g, j, size]
            for p in range(values.size):
                mean[p] += white[j, p] * y
                norm2[p] += white[j, p] * white[j, p]
    for p in range(values.size):
        values[p] = mean[p] + radius * np.sqrt(norm2[p])


@compiled()
def fill_tables(triangular: Triangular, one: IntArray, two: IntArray, white: Whitened) -> None:
    """The whitened vectors of the entries' tables, and the centre."""
    U, found, columns = triangular.U, triangular.white, triangular.columns
    tables, centre = white.tables, white.centre
    blocks, size, own = U.shape[0], U.shape[1], triangular.features.shape[0]
    for g in range(blocks):
        whiten_columns(U[g], columns, found[g])
        for j in range(size):
            centre[g, j] = U[g, j, size]
    for t in range(one.shape[0]):
        for b in range(one.shape[1]):
            for a in range(one.shape[2]):
                # Types share a block, each with columns of its own, or have a block each.
                s, r = one[t, b, a], two[t, b, a]
                g = s // own if blocks > 1 else 0
                for j in range(size):
                    tables[t, b, a, j] = found[g, j, s - g * own] + found[g, j, r - g * own]


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
        log_det += log_det_of(U[g], rule.lam)
        if rule.shrinking:
            last = U.shape[0]
            found = smallest_eigenvalue(U[g], towards[g], towards[last], triangular.small)
            smallest = min(smallest, found / rule.lam)
    return add_offset(rule, log_det, max(smallest, 1.0))


@compiled()
def add_offset(rule: Rule, log_det: float, smallest: float) -> float:
    """``sigma sqrt(log_det + spread) + offset``; ``smallest`` is that eigenvalue of ``A / lam``."""
    share = 1.0 / np.sqrt(smallest) if rule.shrinking else 1.0
    return float(rule.sigma * np.sqrt(max(log_det, 0.0) + rule.spread) + share * rule.offset)
