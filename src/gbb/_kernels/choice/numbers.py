"""An estimate for a vector c of context numbers where every edge-arm has a coordinate to itself.

So it is for one-hot arms and rewards per edge. What an edge pays is linear in ``c (x) q``, and different
regressors q_s share no parameter: ``A = lam I + sum c c' (x) q q'`` has a block of C x C for each,
``A_s = lam I + |q_s|^2 sum N_s c c'``. All that a round with numbers c asks of a regressor is its mean
``|q_s| c'theta_s`` and its variance ``|q_s|^2 c'A_s^-1 c``, C^2 multiplications. What is left is the
choice of a problem without contexts, by :mod:`gbb._kernels.choice.diagonal`.

Each block is kept as its triangular factor ``A_s = U'U``, which takes in a round by C rotations. The
factors of all regressors stand side by side, so that eight are solved at a time.
"""

from __future__ import annotations

from operator import mul as times
from operator import sub as minus
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.diagonal import place_counted
from gbb._kernels.choice.rule import Rule, add_offset, log_of_product
from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import fma as times_plus
from gbb._kernels.simd import load, store
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

TURNS = 60
"""The most passes of rotations."""

ROUNDING = 1e-15
"""Columns with a smaller cosine between them are orthogonal."""


class Numbers(NamedTuple):
    """Factors of the regressors' blocks, and what they are solved with.

    Attributes
    ----------
    now
        The numbers c of the round.
    U
        The factors and, behind them, ``U theta_hat`` and the inverse of the diagonal (C x C + 2 x
        regressors, padded to whole lanes).
    norm
        The size of each regressor, with its sign (as padded).
    times
        How many blocks of A are equal to that of each regressor: 2 where it stands for two directions.
    first, second
        The arms of each regressor.
    mean, var
        Those of each regressor in this round (as padded).
    log_det
        ``log det(A_s / lam)`` of each block.
    smallest, stale
        What no eigenvalue of each block over lam is below, and whether it has grown since.
    seen
        What a round added to the counts and rewards of each regressor, 0 in between.
    gram, moment
        ``sum N c c'`` and ``sum Y c`` of every edge-arm (K x K x C x C and K x K x C): the whole record.
    solved, row, columns
        Scratch space: C x regressors as padded, C + 1, and C x C.
    """

    now: FloatArray
    U: FloatArray
    norm: FloatArray
    times: FloatArray
    first: IntArray
    second: IntArray
    mean: FloatArray
    var: FloatArray
    log_det: FloatArray
    smallest: FloatArray
    stale: NDArray[np.bool_]
    seen: FloatArray
    gram: FloatArray
    moment: FloatArray
    solved: FloatArray
    row: FloatArray
    columns: FloatArray


@kernel(forceinline=True)
def estimate_numbers(numbers: Numbers, counted: Counted | None) -> None:
    """Mean and variance of every regressor in this round, also where they are searched on.

    With ``f = |q_s| U^-T c`` they are ``<f, U theta_hat>`` and ``<f, f>``.
    """
    U, solved = numbers.U, numbers.solved
    C, columns, width = U.shape
    for lane in range(0, width, WIDTH):
        size, mean, var = load(numbers.norm, lane), splat(0.0), splat(0.0)
        for i in range(C):
            x = times(splat(numbers.now[i]), size)
            for j in range(i):
                known = times(
                    load(U, (j * columns + i) * width + lane), load(solved, j * width + lane)
                )
                x = minus(x, known)
            row = i * columns * width + lane
            x = times(load(U, row + (C + 1) * width), x)
            store(solved, i * width + lane, x)
            mean = times_plus(x, load(U, row + C * width), mean)
            var = times_plus(x, x, var)
        store(numbers.mean, lane, mean)
        store(numbers.var, lane, var)
    if counted is not None:
        for s in range(numbers.first.size):
            a, b = numbers.first[s], numbers.second[s]
            place_counted(counted, 0, a, b, numbers.mean[s], numbers.var[s])


@kernel(forceinline=True)
def draw_numbers(rule: Rule, numbers: Numbers, rng: np.random.Generator, mu: FloatArray) -> None:
    """What the regressors pay for theta_hat, or for a draw from ``N(theta_hat, v^2 A^-1)``.

    Drawn number after number, in each of them coordinate after coordinate, as all of A in one factor
    would have it: it has the same entries, and 0 between regressors.
    """
    U, right, v = numbers.U, numbers.solved, rule.v
    C, columns, width = U.shape
    for i in range(C):
        for s in range(numbers.first.size):
            right[i, s] = U[i, C, s]
            if v > 0.0:
                right[i, s] += v * rng.standard_normal()
    for lane in range(0, width, WIDTH):
        pay = splat(0.0)
        for i in range(C - 1, -1, -1):
            x, row = load(right, i * width + lane), i * columns * width + lane
            for j in range(i + 1, C):
                x = minus(x, times(load(U, row + j * width), load(right, j * width + lane)))
            x = times(load(U, row + (C + 1) * width), x)
            store(right, i * width + lane, x)
            pay = times_plus(splat(numbers.now[i]), x, pay)
        store(mu, lane, times(load(numbers.norm, lane), pay))


@kernel(forceinline=True)
def learn_numbers(rule: Rule, numbers: Numbers, s: int) -> None:
    """Take in what the round has ``seen`` of regressor s, by a rotation for each row of its factor."""
    U, row, weight = numbers.U, numbers.row, numbers.seen[s, 0]
    C, root = U.shape[0], np.sqrt(weight)
    if weight <= 0.0:
        return
    for i in range(C):
        row[i] = root * numbers.norm[s] * numbers.now[i]
    row[C] = numbers.seen[s, 1] / root
    numbers.seen[s, 0] = numbers.seen[s, 1] = 0.0
    for i in range(C):
        if row[i] == 0.0:
            continue
        above = U[i, i, s]
        inverse = 1.0 / np.sqrt(above * above + row[i] * row[i])
        c, d = above * inverse, row[i] * inverse
        for j in range(i, C + 1):
            x, y = U[i, j, s], row[j]
            U[i, j, s] = c * x + d * y
            row[j] = c * y - d * x
        U[i, C + 1, s] = 1.0 / U[i, i, s]
    if rule.adaptive:
        for i in range(C):
            row[i] = U[i, i, s] * U[i, i, s] / rule.lam
        numbers.log_det[s] = log_of_product(row, C)
        numbers.stale[s] = True


@kernel(forceinline=True)
def remember(
    now: FloatArray,
    gram: FloatArray,
    moment: FloatArray,
    a: int,
    b: int,
    weight: float,
    paid: float,
) -> None:
    """The record of an edge-arm after a round with the numbers ``now`` that played it."""
    for k in range(now.size):
        moment[a, b, k] += paid * now[k]
        for j in range(now.size):
            gram[a, b, k, j] += weight * (now[k] * now[j])


@kernel(forceinline=True)
def radius_numbers(rule: Rule, numbers: Numbers) -> float:
    """The radius that follows the estimate.

    Eigenvalues never fall: where the least of what they are not below is up to date, it is the smallest.
    """
    log_det, smallest = 0.0, np.inf
    for s in range(numbers.log_det.size):
        log_det += numbers.times[s] * numbers.log_det[s]
    while rule.shrinking:
        least = 0
        for s in range(1, numbers.smallest.size):
            if numbers.smallest[s] < numbers.smallest[least]:
                least = s
        smallest = numbers.smallest[least]
        if not numbers.stale[least]:
            break
        numbers.stale[least] = False
        numbers.smallest[least] = max(smallest, smallest_of(numbers, least) / rule.lam)
    return add_offset(rule, log_det, smallest)


@kernel()
def smallest_of(numbers: Numbers, s: int) -> float:
    """The smallest eigenvalue of a block: rotations of U's columns until they are orthogonal."""
    X, C = numbers.columns, numbers.columns.shape[0]
    for i in range(C):
        for j in range(C):
            X[i, j] = numbers.U[i, j, s] if j >= i else 0.0
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
                c = 1.0 / np.sqrt(t * t + 1.0)
                d = t * c
                for i in range(C):
                    x, y = X[i, p], X[i, q]
                    X[i, p], X[i, q] = c * x - d * y, d * x + c * y
        if not turned:
            break
    found = np.inf
    for p in range(C):
        norm2 = 0.0
        for i in range(C):
            norm2 += X[i, p] * X[i, p]
        found = min(found, norm2)
    return float(found)
