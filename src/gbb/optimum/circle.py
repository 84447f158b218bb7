"""On a circle the optimum is the trace of a (max, +) matrix power."""

from __future__ import annotations

import numpy as np

from gbb._kernels import pairwise as kernels
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.optimum._optimum import Optimum, Solver
from gbb.pairwise import PairProblem


@Solver
def circle(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:  # noqa: ARG001
    """Optimal on a circle of any length, for one edge type and no forbidden arms.

    In the (max, +) algebra ``(W^n)[a, a]`` is the most that a closed walk of n steps from arm a can
    pay. Squaring takes ``log n`` products of K x K matrices; the places of the maxima give the walk
    back.
    """
    if not (pairs.uniform and pairs.graph.is_circle()):
        return None
    walk = closed_walk(pairs.tables[0], pairs.n)
    allocation = np.empty(pairs.n, dtype=np.int64)
    order = kernels.circle.order_around(pairs.graph.indptr, pairs.graph.indices)
    allocation[order] = walk
    return Optimum.of(pairs, allocation, "circle")


def closed_walk(W: FloatArray, length: int) -> IntArray:
    """The arms at the ``length`` places of the closed walk that pays most."""
    powers, middles = [W], []
    while 2 ** len(powers) <= length:
        square, middle = max_plus(powers[-1], powers[-1])
        powers.append(square)
        middles.append(middle)
    # The walk as blocks of 2^e steps, one for each binary digit of the length.
    digits = [e for e in range(len(powers)) if length >> e & 1]
    total = powers[digits[0]]
    joins = []
    for e in digits[1:]:
        total, middle = max_plus(total, powers[e])
        joins.append(middle)
    start = end = int(np.argmax(np.diag(total)))
    blocks: list[IntArray] = []
    for e, middle in zip(reversed(digits[1:]), reversed(joins), strict=True):
        between = int(middle[start, end])
        blocks.append(_steps(between, end, middles[:e]))
        end = between
    blocks.append(_steps(start, end, middles[: digits[0]]))
    return np.concatenate(blocks[::-1])


def max_plus(left: FloatArray, right: FloatArray) -> tuple[FloatArray, IntArray]:
    """The (max, +) product and the places of its maxima."""
    sums = left[:, :, None] + right[None, :, :]
    return sums.max(axis=1), sums.argmax(axis=1)


def _steps(start: int, end: int, middles: list[IntArray]) -> IntArray:
    """Arms at the places of a block of ``2^len(middles)`` steps, the last one left out."""
    places = np.array([start, end])
    for middle in reversed(middles):
        finer = np.empty(2 * len(places) - 1, dtype=np.int64)
        finer[::2] = places
        finer[1::2] = middle[places[:-1], places[1:]]
        places = finer
    return places[:-1]
