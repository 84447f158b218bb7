"""A cut under way: sides, flip gains, and the compiled loops that improve them in chunks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.cuts import flips as kernels
from gbb._support.budget import Budget
from gbb.cuts._cut import Cut
from gbb.graph import Graph

HOT, COLD = 0.5, 0.05
"""First and last temperature of annealing, in units of the root of the mean degree."""

CHUNK = 4_000_000
"""Agents and edges visited between two looks at the clock: some hundredths of a second."""


class Flips:
    """Sides of a graph's agents that compiled loops change in place.

    Each compiled call is short, so that a time limit is kept and Ctrl-C arrives between two of them,
    with ``sides`` whole.
    """

    def __init__(self, graph: Graph, sides: NDArray[np.int8]) -> None:
        self.graph = graph
        self.sides = sides
        self.gains = kernels.flip_gains(graph.indptr, graph.indices, sides)
        self._chunk = max(1, CHUNK // (graph.n + graph.m))

    @classmethod
    def random(cls, graph: Graph, rng: np.random.Generator) -> Flips:
        """Every agent on a side drawn at random."""
        return cls(graph, rng.integers(0, 2, graph.n, dtype=np.int8))

    @property
    def size(self) -> int:
        """Number of undirected edges cut."""
        inside_minus_across = int(self.gains.sum(dtype=np.int64)) // 2
        return (self.graph.m // 2 - inside_minus_across) // 2

    def descend(self, budget: Budget | None = None) -> None:
        """Flip agents that gain until none does, or until the budget is over."""
        budget = Budget() if budget is None else budget
        arrays = (self.graph.indptr, self.graph.indices, self.sides, self.gains)
        while kernels.descend(*arrays, self._chunk) > 0 and not budget.over:
            pass

    def anneal(self, sweeps: int, rng: np.random.Generator, budget: Budget) -> bool:
        """Simulated annealing with linear cooling, then descent.

        When the budget is too small for all sweeps, cooling keeps step with the clock instead.
        Returns whether all sweeps were made; a Ctrl-C ends them too.
        """
        scale = max(1.0, self.graph.m / self.graph.n) ** 0.5
        arrays = (self.graph.indptr, self.graph.indices, self.sides, self.gains)
        done = 0
        try:
            while done < sweeps and not budget.over:
                chunk = min(self._chunk, sweeps - done)
                progress = np.maximum((done + np.arange(chunk)) / sweeps, budget.progress)
                temperatures = scale * (HOT + (COLD - HOT) * progress)
                kernels.anneal(*arrays, temperatures, rng)
                done += chunk
        except KeyboardInterrupt:
            budget.interrupt()
            sweeps = -1
        self.descend()
        return done == sweeps

    def cut(self) -> Cut:
        """The cut as it stands."""
        return Cut.of(self.graph, self.sides)
