"""What a solver answers: an allocation, its value, an upper bound, and whether it is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from gbb import _checks
from gbb._checks import FloatArray, IntArray
from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best allocation a solver found, and what it knows of how good it is.

    Attributes
    ----------
    allocation
        An arm index per agent.
    value
        Its expected global reward, the sum over all directed edges.
    upper_bound
        No allocation has a larger value than this.
    proven
        Whether ``value`` is the maximum (up to rounding).
    method
        The solver's name.
    seconds
        How long it took.
    """

    allocation: IntArray
    value: float
    upper_bound: float
    proven: bool
    method: str
    seconds: float = 0.0

    @property
    def gap(self) -> float:
        """``(upper_bound - value) / |upper_bound|``, 0 when proven."""
        if self.proven:
            return 0.0
        return (self.upper_bound - self.value) / max(abs(self.upper_bound), np.finfo(float).tiny)


class Solver(Protocol):
    """What a file of this folder offers under its own name."""

    def __call__(self, problem: Problem, M: FloatArray) -> Optimum | None:
        """The best allocation for the matrix M, or None where the method does not apply."""
        ...


def pair_table(problem: Problem, M: ArrayLike) -> FloatArray:
    """``W = R + R'`` with ``R = X M X'``: what an undirected edge pays for its two arms (K x K)."""
    shape = (problem.d, problem.d)
    matrix = _checks.array("M", M, shape=shape, meaning="d x d")
    table = problem.arms @ matrix @ problem.arms.T
    return table + table.T


def value_of(problem: Problem, W: FloatArray, allocation: IntArray) -> float:
    """Expected global reward of ``allocation`` for the pair table W, in plain numpy."""
    graph = problem.graph
    return float(W[allocation[graph.sources], allocation[graph.indices]].sum() / 2.0)


def proven_optimum(problem: Problem, W: FloatArray, allocation: IntArray, method: str) -> Optimum:
    """An optimum that a method has proven."""
    value = value_of(problem, W, allocation)
    return Optimum(_checks.frozen(allocation), value, value, proven=True, method=method)
