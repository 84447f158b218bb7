"""The optimum as a function of zeta, exactly, from few proven solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray
from gbb.instances import with_zeta
from gbb.optimum import PairProblem, solve
from gbb.problem import Problem

ROUNDING = 1e-12


class Line(NamedTuple):
    """What one allocation earns as zeta moves: ``at_0 + slope * zeta``."""

    at_0: float
    slope: float

    def __call__(self, zeta: float) -> float:
        """Its value at ``zeta``."""
        return self.at_0 + self.slope * zeta


@dataclass(frozen=True)
class Envelope:
    """The optimal value as a function of zeta: the largest of these lines.

    Attributes
    ----------
    lines
        Values of the allocations that are optimal somewhere in [0, 1].
    solves
        How many exact solves it took.
    proven
        Whether every one of them was proven.
    """

    lines: tuple[Line, ...]
    solves: int
    proven: bool

    def __call__(self, zeta: ArrayLike) -> FloatArray:
        """The optimal value at each ``zeta``."""
        zetas = np.asarray(zeta, dtype=np.float64)
        values = [line.at_0 + line.slope * zetas for line in self.lines]
        best: FloatArray = np.max(values, axis=0)
        return best


def envelope(problem: Problem, M: ArrayLike, *, method: str | None = None) -> Envelope:
    """The optimum of ``with_zeta(M, zeta)`` for every zeta in [0, 1].

    Only two entries of the matrix move, both linearly in zeta, so the value of an allocation is a
    line and the optimum V, their maximum, is convex. Take an interval and the lines that are optimal at
    its ends. Where these cross, either V meets them, and then V follows the first up to there and the
    last from there (V lies above every line and, being convex, below the chord, which is the line), or
    a solve finds a higher line and both halves are searched. So the number of solves is finite.

    Parameters
    ----------
    problem
        The graph and the arms.
    M
        The matrix before the zeta construction.
    method
        The solver; it must be exact for the result to be.
    """
    ends = [PairProblem.of(problem, with_zeta(M, zeta)) for zeta in (0.0, 1.0)]
    proven: list[bool] = []

    def best_line(zeta: float) -> Line:
        found = solve(problem, with_zeta(M, zeta), method=method)
        proven.append(found.proven)
        at_0, at_1 = (end.value(found.allocation) for end in ends)
        return Line(at_0, at_1 - at_0)

    def between(left: float, first: Line, right: float, last: Line) -> list[Line]:
        """Lines optimal strictly inside (left, right), given those optimal at its ends."""
        gap = last(right) - first(right)
        if gap <= ROUNDING * abs(last(right)) or last.slope <= first.slope:
            return []
        cross = (first.at_0 - last.at_0) / (last.slope - first.slope)
        if not left < cross < right:
            return []
        middle = best_line(cross)
        if middle(cross) - first(cross) <= ROUNDING * abs(middle(cross)):
            return []
        return [
            *between(left, first, cross, middle),
            middle,
            *between(cross, middle, right, last),
        ]

    first, last = best_line(0.0), best_line(1.0)
    lines = [first, *between(0.0, first, 1.0, last), last]
    return Envelope(tuple(dict.fromkeys(lines)), len(proven), all(proven))
