"""Local search by compiled loops that change a state in place, a chunk at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb import _kernels
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.pairwise.problem import PairProblem

CHUNK = 2_000_000
"""Numbers visited between two looks at the clock: some hundredths of a second."""

FOREST = 20_000_000
"""Table entries and edges up to which a forest move is made; it is one compiled call."""

PATIENCE = 5
"""Forest moves in a row without a gain that end the search."""


class Cooling(NamedTuple):
    """Temperatures that fall linearly from ``scale * hot`` to ``scale * cold``."""

    hot: float
    cold: float
    scale: float


def cut_cooling(graph: Graph) -> Cooling:
    """Return the cooling for edges of reward 1 if cut, in units of the root of the mean degree."""
    return Cooling(0.5, 0.05, max(1.0, graph.m / graph.n) ** 0.5)


class InPlaceSearch(ABC):
    """A state under way to a local optimum.

    Parameters
    ----------
    visits
        How many numbers one sweep over all agents visits.
    """

    # Every compiled call is short, so that a time limit is kept and Ctrl-C arrives between two of
    # them, with the state whole.

    def __init__(self, visits: int) -> None:
        self._chunk = max(1, CHUNK // visits)

    @abstractmethod
    def _ascend(self, sweeps: int) -> int:
        """Make at most so many sweeps of single changes that gain; the changes of the last one."""

    @abstractmethod
    def _anneal(self, temperatures: FloatArray, rng: np.random.Generator) -> None:
        """Make one Metropolis sweep at each temperature."""

    def ascend(self, budget: Budget | None = None) -> None:
        """Make single changes that gain until there are none, or until the budget is over."""
        budget = Budget() if budget is None else budget
        while self._ascend(self._chunk) > 0 and not budget.over:
            pass

    def anneal(
        self, sweeps: int, cooling: Cooling, rng: np.random.Generator, budget: Budget
    ) -> bool:
        """Simulated annealing; follow it by :meth:`ascend`.

        When the budget is too small for all sweeps, cooling keeps step with the clock instead.
        Returns whether all sweeps were made; a Ctrl-C ends them, and the budget, too.
        """
        done, (hot, cold, scale) = 0, cooling
        try:
            while done < sweeps and not budget.over:
                chunk = min(self._chunk, sweeps - done)
                progress = np.maximum((done + np.arange(chunk)) / sweeps, budget.progress)
                self._anneal(scale * (hot + (cold - hot) * progress), rng)
                done += chunk
        except KeyboardInterrupt:
            budget.interrupt()
            return False
        return done == sweeps


class ArmSearch(InPlaceSearch):
    """Arms of all agents, changed in place.

    Attributes
    ----------
    pairs
        The problem.
    arms
        The arm of each agent.
    arm_values
        The reward of each agent's edges for each of its arms, all others as they are (n x K).
    """

    def __init__(self, pairs: PairProblem, arms: IntArray) -> None:
        super().__init__(visits=pairs.n * pairs.K + pairs.graph.m)
        self.pairs = pairs
        self.arms = arms
        self.arm_values: FloatArray = _kernels.pairwise.arm_values(pairs.arrays, arms)

    @property
    def value(self) -> float:
        """The value of the allocation, the sum over edges."""
        return float(self.arm_values[np.arange(len(self.arms)), self.arms].sum() / 2.0)

    def finish(self, rng: np.random.Generator, budget: Budget) -> None:
        """Ascend, then make exact moves on random induced forests until several in a row fail."""
        self.ascend(budget)
        pairs = self.pairs
        if (pairs.n * pairs.K + pairs.graph.m) * pairs.K > FOREST:
            return
        failures = 0
        while failures < PATIENCE and not budget.over:
            gain = _kernels.pairwise.ascend_forest(
                pairs.arrays, self.arms, self.arm_values, rng.permutation(pairs.n)
            )
            failures = 0 if gain > pairs.rounding else failures + 1

    def _ascend(self, sweeps: int) -> int:
        return _kernels.pairwise.ascend_arms(self.pairs.arrays, self.arms, self.arm_values, sweeps)

    def _anneal(self, temperatures: FloatArray, rng: np.random.Generator) -> None:
        state = (self.arms, self.arm_values)
        _kernels.pairwise.anneal_arms(self.pairs.arrays, *state, temperatures, rng)


class SideSearch(InPlaceSearch):
    """Sides of a graph's agents, changed in place: :class:`ArmSearch` for a cut in two.

    Attributes
    ----------
    sides
        The side of each agent, one byte.
    gains
        By how many edges the cut grows if an agent flips.
    """

    def __init__(self, graph: Graph, sides: NDArray[np.int8]) -> None:
        super().__init__(visits=graph.n + graph.m)
        self.graph = graph
        self.sides = sides
        self.gains = _kernels.cuts.flip_gains(graph.indptr, graph.indices, sides)

    @classmethod
    def random(cls, graph: Graph, rng: np.random.Generator) -> SideSearch:
        """Every agent on a side drawn at random."""
        return cls(graph, rng.integers(0, 2, graph.n, dtype=np.int8))

    @property
    def size(self) -> int:
        """Number of undirected edges cut."""
        inside_minus_across = int(self.gains.sum(dtype=np.int64)) // 2
        return (self.graph.m // 2 - inside_minus_across) // 2

    def _ascend(self, sweeps: int) -> int:
        graph = self.graph
        return _kernels.cuts.ascend_sides(
            graph.indptr, graph.indices, self.sides, self.gains, sweeps
        )

    def _anneal(self, temperatures: FloatArray, rng: np.random.Generator) -> None:
        pattern = (self.graph.indptr, self.graph.indices)
        _kernels.cuts.anneal_sides(*pattern, self.sides, self.gains, temperatures, rng)
