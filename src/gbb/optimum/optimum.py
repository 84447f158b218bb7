"""The answer of a solver: an allocation, its value, an upper bound, and whether it is proven."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gbb._support import checks
from gbb._support.budget import Budget
from gbb._support.checks import IntArray
from gbb.pairwise import PairProblem


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best allocation that a solver found, with an upper bound on all of them.

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
        The source of the upper bound: the name of a solver, ``edges``, ``quadratic`` or ``spectral``.
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
        proven = bound is None or pairs.reaches(value, bound)
        # A bound that rounding puts below a value that is attained would be no bound.
        upper = value if bound is None else max(bound, value)
        return cls(arms, value, upper, proven, method, 0.0, bound_method or method)

    def merge(self, other: Optimum, pairs: PairProblem) -> Optimum:
        """Combine two answers to one problem: the better allocation, the smaller bound."""
        better = self if self.value >= other.value else other
        tighter = self if self.upper_bound <= other.upper_bound else other
        upper = max(better.value, tighter.upper_bound)
        return dataclasses.replace(
            better,
            upper_bound=upper,
            proven=self.proven or other.proven or pairs.reaches(better.value, upper),
            bound_method=tighter.bound_method,
        )


class Solver(Protocol):
    """A function that solves pair problems within a time budget."""

    def __call__(
        self, pairs: PairProblem, budget: Budget, rng: np.random.Generator, /
    ) -> Optimum | None:
        """Return the best allocation found, or None if the method does not apply."""
        ...
