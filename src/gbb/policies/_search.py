"""Searches: the best tuple of arms over a cut, and local search from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut, check_cut
from gbb.learning.coordinates import coordinates
from gbb.learning.ridge import Ridge
from gbb.learning.tuples import Tuples
from gbb.policies._policy import Choice
from gbb.problem import Problem, rounds_kept

if TYPE_CHECKING:  # numba takes long to load
    from gbb._kernels.index.layout import Layout

STARTS = 5
"""Tuples that local search starts from. One gets stuck on an eighth of the matrices of the paper's
Figure 2, where three reach the optimum on all of sixty."""

TIE = 1e-12
"""Values this near to the largest, measured by the largest magnitude among them, tie."""

MAX_TUPLES = 2_000_000
"""The largest number of tuples of arms over the parts that is enumerated each round."""

MAX_CELLS = 1 << 22
"""About how many numbers are held at once when tuples are compared."""

Weights = tuple[float, float, float, float]
"""What an edge counts for in the value of a couple: (w12, w21, w1, w2) of z_xx', z_x'x, z_xx, z_x'x'."""


@dataclass(frozen=True, eq=False)
class Objective:
    """What is maximised over sums of edge-arms phi: ``<phi, theta> + radius ||phi||_{A^-1}``.

    ``theta`` is whitened as :attr:`gbb.Ridge.theta` is: the estimate, or a draw around it.
    """

    ridge: Ridge
    theta: FloatArray
    radius: float

    @cached_property
    def means(self) -> FloatArray:
        """``<z_ab, theta>`` by type and edge-arm (types x K x K)."""
        return self.ridge.means_at(self.theta)


class Search(Protocol):
    """Looks for the best allocation."""

    def check(self, problem: Problem) -> None:
        """Raise InputError if the search does not suit ``problem``."""

    def maximise(self, objective: Objective, rng: np.random.Generator) -> Choice:
        """Return the best allocation found."""


@dataclass(frozen=True, eq=False)
class CutSearch:
    """The tuple of arms, one for each part of the cut, with the largest value, by enumeration.

    Parameters
    ----------
    cut
        The parts.
    weights
        What the edges between and inside two parts count for in the value of a couple; their own
        numbers (m12, m21, m1, m2) by default.
    """

    cut: Cut
    weights: Weights | None = None

    def check(self, problem: Problem) -> None:
        check_parts(problem, self.cut)

    def maximise(self, objective: Objective, rng: np.random.Generator) -> Choice:
        tuples = self.tuples(objective.ridge.problem)
        values = tuple_values(tuples, objective)
        best = pick_near(values, rng)
        return Choice(tuples.allocation(best), couple_of(tuples, best), float(values[best]))

    @cached_property
    def tuples(self) -> Callable[[Problem], Tuples]:
        """Return the tuples of arms on a round's problem, with what each edge counts for."""
        return lru_cache(rounds_kept(self.cut.graph.m))(self._make_tuples)

    def _make_tuples(self, problem: Problem) -> Tuples:
        part, weights = np.array(self.cut.parts, dtype=np.int64), problem.edge_totals
        if self.weights is not None:
            # Each edge of a class gets its share of the class's weight, so that the sum over edges is
            # w12 z_xx' + w21 z_x'x + w1 z_xx + w2 z_x'x'.
            classes = part[problem.graph.sources], part[problem.graph.indices]
            counts = np.zeros((2, 2))
            stands_for = problem.edge_counts
            np.add.at(counts, classes, 1.0 if stands_for is None else stands_for.sum(axis=0))
            (w12, w21, w1, w2) = self.weights
            factor = np.array([[w1, w12], [w21, w2]]) / np.where(counts > 0.0, counts, np.inf)
            weights = factor[part[problem.sources], part[problem.targets]] * weights
        return Tuples(problem, part, self.cut.k, weights)


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """Coordinate ascent over allocations from the best tuples over the cut.

    Agents in turn take the arm that is best for the objective until none gains. The value reached is
    never below the best tuple's.

    Parameters
    ----------
    cut
        The parts of the tuples.
    starts
        The number of tuples that it starts from.
    """

    cut: Cut
    starts: int = STARTS

    def check(self, problem: Problem) -> None:
        checks.integer("starts", self.starts, low=1)
        if problem.parts is not None:
            rule = "be 0 for a network in shards, which gets an arm for each part"
            raise checks.input_error("starts", rule, self.starts)
        check_parts(problem, self.cut)

    def maximise(self, objective: Objective, rng: np.random.Generator) -> Choice:
        from gbb.policies._game import maximise  # noqa: PLC0415  (loads numba)

        ridge = objective.ridge
        layout = self._layout(ridge.problem, ridge.symmetric)
        return maximise(layout, self.tuples(ridge.problem), objective, rng)

    def restarts(self, problem: Problem) -> int:
        """Return the number of random allocations to start from as well.

        If links differ, or numbers are sums over agents, couples need not be near the best allocation.
        """
        return 0 if problem.feedback in ("edge", "link") and problem.uniform else self.starts

    @cached_property
    def _cut_search(self) -> CutSearch:
        return CutSearch(self.cut)

    def tuples(self, problem: Problem) -> Tuples:
        """Return the tuples of arms on a round's problem."""
        return self._cut_search.tuples(problem)

    @cached_property
    def _layout(self) -> Callable[[Problem, bool], Layout]:
        # Twice: with symmetric parts, and without where one direction of links was lost.
        return lru_cache(2 * rounds_kept(self.cut.graph.m))(self._make_layout)

    def _make_layout(self, problem: Problem, symmetric: bool) -> Layout:
        from gbb._kernels.index.layout import make_layout  # noqa: PLC0415

        return make_layout(
            self.tuples(problem),
            coordinates(problem, symmetric=symmetric),
            starts=self.starts,
            searches=self.starts + self.restarts(problem),
            dense=True,
            valued=False,
        )


def local_search(cut: Cut, starts: int) -> CutSearch | LocalSearch:
    """Return the local search from so many tuples; with 0 the best tuple as it is."""
    return LocalSearch(cut, starts) if checks.integer("starts", starts, low=0) else CutSearch(cut)


def check_parts(problem: Problem, cut: Cut) -> None:
    """Raise InputError unless ``cut`` is one of the problem's graph whose tuples can be enumerated."""
    check_cut(problem.graph, cut, k=None)
    if problem.K**cut.k > MAX_TUPLES:
        rule = f"have at most {MAX_TUPLES:,} tuples of arms, K^k"
        raise checks.input_error("k", rule, f"{problem.K}^{cut.k}", "Take fewer parts.")
    merged = problem.parts
    if merged is not None and not np.array_equal(cut.parts, cut.parts[merged]):
        rule = "keep the parts whole for a network in shards, which gets an arm for each part"
        cure = "Leave it out, or take `cut` of the gbb.Network."
        raise checks.input_error("cut", rule, repr(cut), cure)


def tuple_values(tuples: Tuples, objective: Objective) -> FloatArray:
    """Return the value of every tuple of arms over the parts (K^k)."""
    ridge, theta = objective.ridge, objective.theta
    if objective.radius == 0.0:  # sums of a table of K^2 means, with no norm to take
        return tuples.combine(objective.means)
    values = np.empty(tuples.size)
    chunk = max(1, MAX_CELLS // (theta.shape[1] + len(tuples.group_part)))
    for first in range(0, tuples.size, chunk):
        codes = np.arange(first, min(first + chunk, tuples.size))
        mean, norm2 = np.zeros(len(codes)), np.zeros(len(codes))
        for block, estimate in enumerate(theta):
            types = np.flatnonzero(ridge.block_of == block)
            sums = tuples.combine(ridge.whitened, codes, types)
            mean += sums @ estimate
            # Whitened: the norm of A^-1 is the Euclidean one.
            norm2 += np.einsum("ij,ij->i", sums, sums)
        values[codes] = mean + objective.radius * np.sqrt(norm2)
    return values


def pick_near(values: FloatArray, rng: np.random.Generator) -> int:
    """Return the position of the largest value, ties broken at random.

    As the compiled choices break them: one uniform number, drawn only if more than one ties.
    """
    ties = np.flatnonzero(values >= values.max() - TIE * np.abs(values).max())
    return int(ties[0 if len(ties) <= 1 else int(rng.random() * len(ties))])


def couple_of(tuples: Tuples, code: int) -> tuple[int, int] | None:
    """Return the two arms of tuple number ``code``; None if there are more, or it is no tuple's."""
    return divmod(code, tuples.problem.K) if code >= 0 and tuples.k == 2 else None
