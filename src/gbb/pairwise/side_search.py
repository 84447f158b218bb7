"""A cut under way: sides, what every flip would gain, and flips that cut more edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels import pairwise as kernels
from gbb._support.checks import FloatArray
from gbb.graph import Graph
from gbb.pairwise.in_place import Cooling, InPlaceSearch


def cut_cooling(graph: Graph) -> Cooling:
    """Cooling for edges that pay 1 when they are cut, in units of the root of the mean degree."""
    return Cooling(0.5, 0.05, max(1.0, graph.m / graph.n) ** 0.5)


class SideSearch(InPlaceSearch):
    """Sides of a graph's agents, changed in place: :class:`ArmSearch` for two arms that differ.

    A byte and a whole number per agent take the place of its arm and pays.
    """

    def __init__(self, graph: Graph, sides: NDArray[np.int8]) -> None:
        super().__init__(visits=graph.n + graph.m)
        self.graph = graph
        self.sides = sides
        self.gains = kernels.flips.flip_gains(graph.indptr, graph.indices, sides)

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
        return kernels.flips.ascend_sides(
            graph.indptr, graph.indices, self.sides, self.gains, sweeps
        )

    def _anneal(self, temperatures: FloatArray, rng: np.random.Generator) -> None:
        pattern = (self.graph.indptr, self.graph.indices)
        kernels.flips.anneal_sides(*pattern, self.sides, self.gains, temperatures, rng)
