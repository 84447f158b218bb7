"""An estimate in which every regressor has a coordinate to itself, and the indices it gives.

So it is for orthogonal arms and rewards per edge: every regressor has a mean and a variance of its own.
"""

from __future__ import annotations

from operator import mul as times
from typing import NamedTuple

import numpy as np

from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.rule import Rule, add_offset, log_of_product
from gbb._kernels.jit import kernel
from gbb._kernels.simd import (
    broadcast as splat,
)
from gbb._kernels.simd import (
    fma as times_plus,
)
from gbb._kernels.simd import (
    gather,
    load,
    store,
)
from gbb._kernels.simd import (
    sqrt as root,
)
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray


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


@kernel()
def refresh_all(diagonal: Diagonal, counted: Counted | None, N: FloatArray, Y: FloatArray) -> None:
    """Estimates and variances of all regressors from the record."""
    for g in range(N.shape[0]):
        for s in range(diagonal.norm2.size):
            refresh_diagonal(diagonal, counted, N, Y, g, s)


@kernel(forceinline=True)
def refresh_diagonal(
    diagonal: Diagonal, counted: Counted | None, N: FloatArray, Y: FloatArray, g: int, s: int
) -> None:
    """Estimate and variance of regressor s of type g from the record, also where they are searched on.

    ``var = |q|^2 / (lam + |q|^2 N_q)`` and ``mean = var Y_q``.
    """
    a, b, norm2 = diagonal.first[s], diagonal.second[s], diagonal.norm2[s]
    weight, total = N[g, a, b], Y[g, a, b]
    if diagonal.both and a != b:
        weight += N[g, b, a]
        total += Y[g, b, a]
    precision = diagonal.lam + norm2 * weight
    var = norm2 / precision
    mean = var * total
    place = g * diagonal.norm2.size + s
    diagonal.var[place], diagonal.mean[place] = var, mean
    diagonal.share[place] = precision / diagonal.lam
    if counted is not None:
        place_counted(counted, g, a, b, mean, var)


@kernel(forceinline=True)
def place_counted(counted: Counted, g: int, a: int, b: int, mean: float, var: float) -> None:
    """Mean and variance of the regressor of arms a and b of type g, where they are searched on."""
    mate = counted.mate[g]
    counted.var[g, b, a] = counted.var[mate, a, b] = var
    counted.mean[g, b, a] = counted.mean[mate, a, b] = mean
    if a == b:
        counted.level[g, a] = counted.level[mate, a] = var


@kernel(forceinline=True)
def draw_diagonal(rule: Rule, diagonal: Diagonal, rng: np.random.Generator, mu: FloatArray) -> None:
    """What the regressors in play pay: their means, or a draw around them."""
    mean, var, v, count = diagonal.mean, diagonal.var, rule.v, diagonal.norm2.size
    for k in range(rule.types.size):
        first = rule.types[k] * count
        for s in range(first, first + count):
            mu[s] = mean[s]
            if v > 0.0:
                mu[s] += v * np.sqrt(var[s]) * rng.standard_normal()


@kernel(forceinline=True)
def pay_tuples(rule: Rule, mu: FloatArray, values: FloatArray) -> None:
    """Values of the tuples without optimism."""
    regressor, amount = rule.tuple_regressor, rule.tuple_amount
    terms, columns = amount.shape
    for p in range(0, columns, WIDTH):
        x = splat(0.0)
        for at in range(p, terms * columns, columns):
            x = times_plus(load(amount, at), gather(mu, regressor, at), x)
        store(values, p, x)


@kernel(forceinline=True)
def value_tuples(
    rule: Rule, mean: FloatArray, var: FloatArray, radius: float, values: FloatArray
) -> None:
    """Optimistic values of the tuples."""
    regressor, amount = rule.tuple_regressor, rule.tuple_amount
    terms, columns = amount.shape
    for p in range(0, columns, WIDTH):
        x, norm2 = splat(0.0), splat(0.0)
        for at in range(p, terms * columns, columns):
            c = load(amount, at)
            x = times_plus(c, gather(mean, regressor, at), x)
            norm2 = times_plus(times(c, c), gather(var, regressor, at), norm2)
        store(values, p, times_plus(splat(radius), root(norm2), x))


@kernel(forceinline=True)
def radius_diagonal(rule: Rule, diagonal: Diagonal) -> float:
    """The radius that follows the estimate."""
    smallest, count = np.inf, diagonal.norm2.size
    for k in range(rule.types.size if rule.shrinking else 0):
        first = rule.types[k] * count
        for s in range(first, first + count):
            if diagonal.var[s] > 0.0:
                smallest = min(smallest, diagonal.share[s])
    return add_offset(rule, log_of_product(diagonal.share, diagonal.share.size), smallest)
