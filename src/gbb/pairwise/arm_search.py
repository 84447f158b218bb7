"""An allocation under way: arms, what every change would pay, and moves that improve them."""

from __future__ import annotations

import numpy as np

from gbb._kernels import pairwise as kernels
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.pairwise.in_place import InPlaceSearch
from gbb.pairwise.problem import PairProblem

FOREST = 20_000_000
"""Table entries and edges up to which a forest move is made; it is one compiled call."""

PATIENCE = 5
"""Forest moves in a row without a gain that end the search."""


class ArmSearch(InPlaceSearch):
    """Arms of all agents, changed in place; ``pays[i, a]`` is what agent i's edges pay for arm a."""

    def __init__(self, pairs: PairProblem, arms: IntArray) -> None:
        super().__init__(visits=pairs.n * pairs.K + pairs.graph.m)
        self.pairs = pairs
        self.arms = arms
        self.pays: FloatArray = kernels.moves.arm_pays(pairs.arrays, arms)

    @property
    def value(self) -> float:
        """The allocation's value, the sum over edges."""
        return float(self.pays[np.arange(len(self.arms)), self.arms].sum() / 2.0)

    def finish(self, rng: np.random.Generator, budget: Budget) -> None:
        """Ascend, then make exact moves on random induced forests until several in a row fail."""
        self.ascend(budget)
        pairs = self.pairs
        if (pairs.n * pairs.K + pairs.graph.m) * pairs.K > FOREST:
            return
        failures = 0
        while failures < PATIENCE and not budget.over:
            gain = kernels.forest.ascend_forest(
                pairs.arrays, self.arms, self.pays, rng.permutation(pairs.n)
            )
            failures = 0 if gain > pairs.rounding else failures + 1

    def _ascend(self, sweeps: int) -> int:
        return kernels.moves.ascend_arms(self.pairs.arrays, self.arms, self.pays, sweeps)

    def _anneal(self, temperatures: FloatArray, rng: np.random.Generator) -> None:
        kernels.moves.anneal_arms(self.pairs.arrays, self.arms, self.pays, temperatures, rng)
