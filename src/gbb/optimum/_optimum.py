"""What a solver answers: an allocation, its value, an upper bound, and whether it is proven."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, discover, seeds
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb._support.seeds import Seed
from gbb.pairwise import PairProblem
from gbb.problem import Problem

SECONDS = 5.0
"""Default time limit."""


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
        The solver that found the allocation.
    seconds
        How long it took.
    bound_method
        What gave the upper bound; the solver itself when left out.
    """

    allocation: IntArray
    value: float
    upper_bound: float
    proven: bool
    method: str
    seconds: float = 0.0
    bound_method: str = ""

    @property
    def gap(self) -> float:
        """``(upper_bound - value) / |upper_bound|``, 0 when proven."""
        if self.proven:
            return 0.0
        return (self.upper_bound - self.value) / max(abs(self.upper_bound), np.finfo(float).tiny)

    @classmethod
    def of(
        cls,
        pairs: PairProblem,
        allocation: IntArray,
        method: str,
        *,
        bound: float | None = None,
        bound_method: str = "",
    ) -> Optimum:
        """Evaluate an allocation; without a ``bound``, its method has proven it."""
        arms = checks.frozen(np.array(allocation, dtype=np.int64))
        value = pairs.value(arms)
        sure = bound is None or pairs.reaches(value, bound)
        upper = value if bound is None else max(bound, value)
        return cls(arms, value, upper, sure, method, 0.0, bound_method or method)

    def merge(self, other: Optimum, pairs: PairProblem) -> Optimum:
        """The better allocation with the smaller bound of two answers to one problem."""
        better = self if self.value >= other.value else other
        tighter = self if self.upper_bound <= other.upper_bound else other
        upper = max(better.value, tighter.upper_bound)
        return dataclasses.replace(
            better,
            upper_bound=upper,
            proven=self.proven or other.proven or pairs.reaches(better.value, upper),
            bound_method=tighter.bound_method,
        )


Method = Callable[[PairProblem, Budget, np.random.Generator], Optimum | None]


class Solver:
    """A solver: what a file of this folder offers under its own name.

    It wraps a function of a pair problem, a budget and a generator, available as ``run``.
    """

    def __init__(self, run: Method) -> None:
        self.run = run
        functools.update_wrapper(self, run)

    def __call__(
        self,
        problem: Problem,
        M: ArrayLike,
        *,
        edge_types: ArrayLike | None = None,
        allowed: ArrayLike | None = None,
        seconds: float = SECONDS,
        seed: Seed = 0,
    ) -> Optimum | None:
        """The best allocation for the matrix M, or None where the method does not apply."""
        budget = Budget(seconds)
        pairs = PairProblem.of(problem, M, edge_types=edge_types, allowed=allowed)
        found = self.run(pairs, budget, seeds.generator(seed))
        return None if found is None else dataclasses.replace(found, seconds=budget.elapsed)


SOLVERS: discover.Family[Solver] = discover.Family(
    "gbb.optimum", "method", "be a gbb.optimum.Solver", lambda item: isinstance(item, Solver)
)
"""All solvers, found by existing."""


def pair_table(problem: Problem, M: ArrayLike) -> FloatArray:
    """``W = R + R'`` with ``R = X M X'``: what an undirected edge pays for its two arms (K x K)."""
    shape = (problem.d, problem.d)
    matrix = checks.array("M", M, shape=shape, meaning="d x d")
    table = problem.arms @ matrix @ problem.arms.T
    return table + table.T


def value_of(problem: Problem, W: FloatArray, allocation: IntArray) -> float:
    """Expected global reward of ``allocation`` for the pair table W, in plain numpy."""
    graph = problem.graph
    return float(W[allocation[graph.sources], allocation[graph.indices]].sum() / 2.0)
