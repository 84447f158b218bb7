"""Estimates that are independent across regressors: of orthogonal arms with rewards per edge.

Each regressor q_s has a block of A to itself. Without a context vector it is one number,
``A_s = lam + |q_s|^2 N_s`` (:class:`Independent`). With a vector c of C numbers an edge pays a linear
function of ``c (x) q``, and ``A_s = lam I + |q_s|^2 sum N_s c c'`` is C x C (:class:`ByFeatures`). All
that a round asks of a regressor is its mean ``|q_s| c'theta_s`` and its variance ``|q_s|^2 c'A_s^-1 c``:
the rest of the choice is that of a problem without contexts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.index.layout import Layout, Rule
from gbb._kernels.index.search_counts import CountsSearch
from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast, fma, gather, load, sqrt, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

HUGE = 1e100

TURNS = 60
"""The most passes of rotations."""

ROUNDING = 1e-15
"""Columns with a smaller cosine between them are orthogonal."""


class Independent(NamedTuple):
    """Means and variances of the regressors, type after type, and the record that they follow from.

    Attributes
    ----------
    N, Y
        How often every edge-arm of each type was observed, and the sum of its rewards (types x K x K).
    mean, var, share
        Estimate, variance, and precision over lam of every regressor of every type.
    norm2
        The squared norm of each regressor of one type.
    first, second
        The arms of each regressor of one type.
    symmetric
        Whether a regressor stands for both orders of its arms.
    lam
        The ridge regulariser.
    """

    N: FloatArray
    Y: FloatArray
    mean: FloatArray
    var: FloatArray
    share: FloatArray
    norm2: FloatArray
    first: IntArray
    second: IntArray
    symmetric: bool
    lam: float


class ByFeatures(NamedTuple):
    """A triangular factor ``A_s = U'U`` for each regressor, side by side: eight are solved at a time.

    Attributes
    ----------
    c
        The numbers of the round's context.
    U
        The factors and, behind them, ``U theta_hat`` and the inverse of the diagonal (C x C + 2 x
        regressors, padded to whole vectors).
    norm
        The size of each regressor, with its sign (as padded).
    multiplicity
        How many blocks of A are equal to that of each regressor: 2 if it stands for two directions.
    first, second
        The arms of each regressor.
    mean, var
        Those of each regressor in this round (as padded).
    log_det
        ``log det(A_s / lam)`` of each block.
    smallest, stale
        What no eigenvalue of each block over lam is below, and whether it has grown since.
    observed
        What a round added to the counts and rewards of each regressor, 0 in between.
    solved, row, columns
        Scratch space: C x regressors as padded, C + 1, and C x C.
    """

    c: FloatArray
    U: FloatArray
    norm: FloatArray
    multiplicity: FloatArray
    first: IntArray
    second: IntArray
    mean: FloatArray
    var: FloatArray
    log_det: FloatArray
    smallest: FloatArray
    stale: NDArray[np.bool_]
    observed: FloatArray
    solved: FloatArray
    row: FloatArray
    columns: FloatArray


# Radii


@kernel()
def log_of_product(factors: FloatArray, count: int) -> float:
    """Return the logarithm of the product of the first ``count`` numbers."""
    result, product = 0.0, 1.0
    for j in range(count):
        if factors[j] > HUGE:  # a product of two of them could overflow
            result += np.log(factors[j])
            continue
        product *= factors[j]
        if product > HUGE:  # a logarithm costs more than all these products
            result += np.log(product)
            product = 1.0
    return float(result + np.log(product))


@kernel(forceinline=True)
def radius_of(rule: Rule, offset: float, log_det: float, smallest: float) -> float:
    """Return ``sigma sqrt(log_det + spread) + offset``; ``smallest`` is an eigenvalue of ``A / lam``."""
    share = 1.0 / np.sqrt(smallest) if rule.shrinking else 1.0
    return float(rule.sigma * np.sqrt(max(log_det, 0.0) + rule.spread) + share * offset)


# Tuples of arms


@kernel(forceinline=True)
def mean_of_tuples(layout: Layout, mu: FloatArray, values: FloatArray) -> None:
    """Fill in the values of the tuples without optimism, from what the regressors pay."""
    regressor, amount = layout.tuple_regressor, layout.tuple_amount
    terms, columns = amount.shape
    for p in range(0, columns, WIDTH):
        x = broadcast(0.0)
        for at in range(p, terms * columns, columns):
            x = fma(load(amount, at), gather(mu, regressor, at), x)
        store(values, p, x)


@kernel(forceinline=True)
def bounds_of_tuples(
    layout: Layout, mean: FloatArray, var: FloatArray, radius: float, values: FloatArray
) -> None:
    """Fill in the optimistic values ``sum c_s mean_s + radius sqrt(sum c_s^2 var_s)`` of the tuples."""
    regressor, amount = layout.tuple_regressor, layout.tuple_amount
    terms, columns = amount.shape
    for p in range(0, columns, WIDTH):
        x, norm2 = broadcast(0.0), broadcast(0.0)
        for at in range(p, terms * columns, columns):
            c = load(amount, at)
            x = fma(c, gather(mean, regressor, at), x)
            norm2 = fma(c * c, gather(var, regressor, at), norm2)
        store(values, p, fma(radius, sqrt(norm2), x))


@kernel(forceinline=True)
def place_regressor(counts: CountsSearch, g: int, a: int, b: int, mean: float, var: float) -> None:
    """Write mean and variance of the regressor of arms a and b of type g where they are searched on."""
    other = counts.reverse[g]
    counts.var[g, b, a] = counts.var[other, a, b] = var
    counts.mean[g, b, a] = counts.mean[other, a, b] = mean
    if a == b:
        counts.level[g, a] = counts.level[other, a] = var


# A number for each regressor


@kernel()
def estimate_all(estimate: Independent, counts: CountsSearch | None) -> None:
    """Compute the estimates and variances of all regressors from the record."""
    for g in range(estimate.N.shape[0]):
        for s in range(estimate.norm2.size):
            estimate_regressor(estimate, counts, g, s)


@kernel(forceinline=True)
def estimate_regressor(estimate: Independent, counts: CountsSearch | None, g: int, s: int) -> None:
    """Compute ``var = |q|^2 / (lam + |q|^2 N_q)`` and ``mean = var Y_q`` of regressor s of type g."""
    a, b, norm2 = estimate.first[s], estimate.second[s], estimate.norm2[s]
    weight, total = estimate.N[g, a, b], estimate.Y[g, a, b]
    if estimate.symmetric and a != b:
        weight += estimate.N[g, b, a]
        total += estimate.Y[g, b, a]
    precision = estimate.lam + norm2 * weight
    var = norm2 / precision
    mean = var * total
    place = g * estimate.norm2.size + s
    estimate.var[place], estimate.mean[place] = var, mean
    estimate.share[place] = precision / estimate.lam
    if counts is not None:
        place_regressor(counts, g, a, b, mean, var)


@kernel(forceinline=True)
def draw_independent(
    v: float, layout: Layout, estimate: Independent, rng: np.random.Generator, mu: FloatArray
) -> None:
    """Fill in what the regressors in play pay: their means, or a draw around them."""
    mean, var, count = estimate.mean, estimate.var, estimate.norm2.size
    # Types out of play draw nothing: the reference loop would not draw for them either.
    for k in range(layout.types_in_play.size):
        first = layout.types_in_play[k] * count
        for s in range(first, first + count):
            mu[s] = mean[s]
            if v > 0.0:
                mu[s] += v * np.sqrt(var[s]) * rng.standard_normal()


@kernel(forceinline=True)
def radius_independent(rule: Rule, layout: Layout, estimate: Independent, offset: float) -> float:
    """Return the radius that follows the estimate."""
    smallest, count = np.inf, estimate.norm2.size
    for k in range(layout.types_in_play.size if rule.shrinking else 0):
        first = layout.types_in_play[k] * count
        for s in range(first, first + count):
            if estimate.var[s] > 0.0:  # arms of norm 0 are never seen, and charge nothing
                smallest = min(smallest, estimate.share[s])
    log_det = log_of_product(estimate.share, estimate.share.size)
    return radius_of(rule, offset, log_det, smallest)


# A triangular factor for each regressor


@kernel(forceinline=True)
def estimate_by_features(estimate: ByFeatures, counts: CountsSearch | None) -> None:
    """Compute mean and variance of every regressor in this round.

    With ``f = |q_s| U^-T c`` they are ``<f, U theta_hat>`` and ``<f, f>``.
    """
    U, solved = estimate.U, estimate.solved
    C, columns, width = U.shape
    for lane in range(0, width, WIDTH):
        size, mean, var = load(estimate.norm, lane), broadcast(0.0), broadcast(0.0)
        for i in range(C):
            x = estimate.c[i] * size
            for j in range(i):
                u = load(U, (j * columns + i) * width + lane)
                x = x - u * load(solved, j * width + lane)
            row = i * columns * width + lane
            x = load(U, row + (C + 1) * width) * x
            store(solved, i * width + lane, x)
            mean = fma(x, load(U, row + C * width), mean)
            var = fma(x, x, var)
        store(estimate.mean, lane, mean)
        store(estimate.var, lane, var)
    if counts is not None:
        for s in range(estimate.first.size):
            a, b = estimate.first[s], estimate.second[s]
            place_regressor(counts, 0, a, b, estimate.mean[s], estimate.var[s])


@kernel(forceinline=True)
def draw_by_features(
    v: float, estimate: ByFeatures, rng: np.random.Generator, mu: FloatArray
) -> None:
    """Fill in what the regressors pay for theta_hat, or for a draw from ``N(theta_hat, v^2 A^-1)``."""
    U, right = estimate.U, estimate.solved
    C, columns, width = U.shape
    # Number after number, and for each regressor after regressor, as a factor of all of A has it.
    for i in range(C):
        for s in range(estimate.first.size):
            right[i, s] = U[i, C, s]
            if v > 0.0:
                right[i, s] += v * rng.standard_normal()
    for lane in range(0, width, WIDTH):
        reward = broadcast(0.0)
        for i in range(C - 1, -1, -1):
            x, row = load(right, i * width + lane), i * columns * width + lane
            for j in range(i + 1, C):
                x = x - load(U, row + j * width) * load(right, j * width + lane)
            x = load(U, row + (C + 1) * width) * x
            store(right, i * width + lane, x)
            reward = fma(estimate.c[i], x, reward)
        store(mu, lane, load(estimate.norm, lane) * reward)


@kernel(forceinline=True)
def learn_by_features(rule: Rule, estimate: ByFeatures, s: int) -> None:
    """Update the factor of regressor s with what the round ``observed``, by a rotation for each row."""
    U, row, weight = estimate.U, estimate.row, estimate.observed[s, 0]
    C, scale = U.shape[0], np.sqrt(weight)
    if weight <= 0.0:
        return
    for i in range(C):
        row[i] = scale * estimate.norm[s] * estimate.c[i]
    row[C] = estimate.observed[s, 1] / scale
    estimate.observed[s, 0] = estimate.observed[s, 1] = 0.0
    for i in range(C):
        if row[i] == 0.0:
            continue
        above = U[i, i, s]
        inverse = 1.0 / np.sqrt(above * above + row[i] * row[i])
        cos, sin = above * inverse, row[i] * inverse
        for j in range(i, C + 1):
            x, y = U[i, j, s], row[j]
            U[i, j, s] = cos * x + sin * y
            row[j] = cos * y - sin * x
        U[i, C + 1, s] = 1.0 / U[i, i, s]
    if rule.adaptive:
        for i in range(C):
            row[i] = U[i, i, s] * U[i, i, s] / rule.lam
        estimate.log_det[s] = log_of_product(row, C)
        estimate.stale[s] = True


@kernel(forceinline=True)
def radius_by_features(rule: Rule, estimate: ByFeatures, offset: float) -> float:
    """Return the radius that follows the estimate."""
    log_det, smallest = 0.0, np.inf
    for s in range(estimate.log_det.size):
        log_det += estimate.multiplicity[s] * estimate.log_det[s]
    while rule.shrinking:
        least = 0
        for s in range(1, estimate.smallest.size):
            if estimate.smallest[s] < estimate.smallest[least]:
                least = s
        smallest = estimate.smallest[least]
        # Eigenvalues never fall: if the least of their lower bounds is up to date, it is the smallest.
        if not estimate.stale[least]:
            break
        estimate.stale[least] = False
        found = smallest_of_factor(estimate.U, least, estimate.columns)
        estimate.smallest[least] = max(smallest, found / rule.lam)
    return radius_of(rule, offset, log_det, smallest)


@kernel()
def smallest_of_factor(U: FloatArray, s: int, X: FloatArray) -> float:
    """Return the smallest eigenvalue of ``U'U`` of regressor s, by one-sided Jacobi rotations."""
    C = X.shape[0]
    for i in range(C):
        for j in range(C):
            X[i, j] = U[i, j, s] if j >= i else 0.0
    for _ in range(TURNS):
        turned = False
        for p in range(C):
            for q in range(p):
                one, two, both = 0.0, 0.0, 0.0
                for i in range(C):
                    one += X[i, p] * X[i, p]
                    two += X[i, q] * X[i, q]
                    both += X[i, p] * X[i, q]
                if abs(both) <= ROUNDING * np.sqrt(one) * np.sqrt(two):
                    continue
                turned = True
                half = (two - one) / (2.0 * both)
                t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
                t = t if half >= 0.0 else -t
                cos = 1.0 / np.sqrt(t * t + 1.0)
                sin = t * cos
                for i in range(C):
                    x, y = X[i, p], X[i, q]
                    X[i, p], X[i, q] = cos * x - sin * y, sin * x + cos * y
        if not turned:
            break
    smallest = np.inf
    for p in range(C):
        norm2 = 0.0
        for i in range(C):
            norm2 += X[i, p] * X[i, p]
        smallest = min(smallest, norm2)
    return float(smallest)
