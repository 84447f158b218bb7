"""An allocation under way: arms, pays, and the compiled loops that improve them in chunks."""

from __future__ import annotations

import numpy as np

from gbb._kernels.pairwise import moves
from gbb._kernels.pairwise.forest import ascend_forest
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.optimum._pairs import PairProblem

HOT, COLD = 0.4, 0.03
"""First and last temperature of annealing, in units of :func:`spread`."""

FOREST = 20_000_000
"""Table entries and edges up to which a forest move is made; it is one compiled call."""

PATIENCE = 5
"""Forest moves in a row without a gain that end the search."""

CHUNK = 1_000_000
"""Agents, edges and table entries visited between two looks at the clock."""


def spread(pairs: PairProblem) -> float:
    """How much a random change of one arm changes the value, roughly."""
    tables = pairs.tables[:100]
    changes = (tables[:, :, :, None] - tables[:, :, None, :]).std(axis=(1, 2, 3)).max()
    return float(changes * np.sqrt(max(1.0, pairs.graph.m / pairs.n)))


class Search:
    """Arms of all agents that compiled loops change in place.

    Each compiled call is short, so that a time limit is kept and Ctrl-C arrives between two of them,
    with ``arms`` whole.
    """

    def __init__(self, pairs: PairProblem, arms: IntArray) -> None:
        self.pairs = pairs
        self.arms = arms
        graph = pairs.graph
        self._problem = (graph.indptr, graph.indices, pairs.types, pairs.tables)
        self.pays: FloatArray = moves.arm_pays(*self._problem, arms)
        self._chunk = max(1, CHUNK // (graph.n * pairs.K + graph.m))

    @property
    def value(self) -> float:
        """The allocation's value, the sum over edges."""
        return float(self.pays[np.arange(len(self.arms)), self.arms].sum() / 2.0)

    def ascend(self, budget: Budget | None = None) -> None:
        """Let agents in turn take their best arm until none gains, or the budget is over."""
        budget = Budget() if budget is None else budget
        arrays = (*self._problem, self.pairs.allowed, self.arms, self.pays)
        while moves.ascend_arms(*arrays, self._chunk) > 0 and not budget.over:
            pass

    def finish(self, rng: np.random.Generator, budget: Budget) -> None:
        """Ascend, then make exact moves on random induced forests until several in a row fail."""
        self.ascend(budget)
        graph, K = self.pairs.graph, self.pairs.K
        if (graph.n * K + graph.m) * K > FOREST:
            return
        arrays = (*self._problem, self.pairs.allowed, self.arms, self.pays)
        failures = 0
        while failures < PATIENCE and not budget.over:
            gain = ascend_forest(*arrays, rng.permutation(graph.n))
            failures = 0 if gain > self.pairs.rounding else failures + 1

    def anneal(self, sweeps: int, scale: float, rng: np.random.Generator, budget: Budget) -> bool:
        """Simulated annealing with linear cooling, then ascent.

        When the budget is too small for all sweeps, cooling keeps step with the clock instead.
        Returns whether all sweeps were made; a Ctrl-C ends them too.
        """
        done = 0
        arrays = (*self._problem, self.pairs.allowed, self.arms, self.pays)
        try:
            while done < sweeps and not budget.over:
                chunk = min(self._chunk, sweeps - done)
                progress = np.maximum((done + np.arange(chunk)) / sweeps, budget.progress)
                temperatures = scale * (HOT + (COLD - HOT) * progress)
                moves.anneal_arms(*arrays, temperatures, rng)
                done += chunk
        except KeyboardInterrupt:
            budget.interrupt()
            sweeps = -1
        self.ascend(budget)
        return done == sweeps
