"""A cut: the agents split into V1 and V2, and the edges counted by where they run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.seeds import Seed
from gbb.cuts._tuples import sum_over_edges, tuples_of
from gbb.graph import Graph


@dataclass(frozen=True, eq=False)
class Cut:
    """A partition of the agents in two (the paper's V1 and V2).

    Attributes
    ----------
    graph
        The graph that is cut.
    sides
        0 for an agent of V1, 1 for an agent of V2.
    m12, m21, m1, m2
        How many directed edges run from V1 to V2, from V2 to V1, inside V1, inside V2.
    """

    graph: Graph
    sides: NDArray[np.int8]
    m12: int
    m21: int
    m1: int
    m2: int

    @classmethod
    def of(cls, graph: Graph, sides: ArrayLike) -> Cut:
        """Count the edges of the partition ``sides`` (0 or 1 per agent)."""
        checked = checks.indices("sides", sides, length=graph.n, high=2, meaning="one per agent")
        small = checks.frozen(checked.astype(np.int8))
        source, target = small[graph.sources], small[graph.indices]
        total = int(source.size)
        m2 = int(np.count_nonzero(source & target))
        from2 = int(np.count_nonzero(source))
        into2 = int(np.count_nonzero(target))
        m21, m12 = from2 - m2, into2 - m2
        return cls(graph, small, m12, m21, total - m12 - m21 - m2, m2)

    @property
    def m(self) -> int:
        """Number of directed edges."""
        return self.m12 + self.m21 + self.m1 + self.m2

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """``(m12, m21, m1, m2)``, the weights of the improved algorithm."""
        return self.m12, self.m21, self.m1, self.m2

    @property
    def rho(self) -> float:
        """Fraction of the edges that are cut, ``(m12 + m21) / m``; 1 when there are none."""
        return (self.m12 + self.m21) / self.m if self.m else 1.0

    @property
    def uncut(self) -> float:
        """Fraction of the edges inside a part, ``(m1 + m2) / m`` (the paper's Table 1)."""
        return (self.m1 + self.m2) / self.m if self.m else 0.0

    @cached_property
    def V1(self) -> IntArray:
        """The agents of the first part."""
        return checks.frozen(np.flatnonzero(self.sides == 0))

    @cached_property
    def V2(self) -> IntArray:
        """The agents of the second part."""
        return checks.frozen(np.flatnonzero(self.sides == 1))

    def couple_values(
        self, table: FloatArray, weights: tuple[float, float, float, float] | None = None
    ) -> FloatArray:
        """``m12 R_ab + m21 R_ba + m1 R_aa + m2 R_bb`` for every couple (a, b) of a table R (K x K).

        R may have further axes, which stay; other ``weights`` may take the place of the counts.
        """
        K = len(table)
        w12, w21, w1, w2 = self.weights if weights is None else weights
        kinds = [(0, 0, 1, w12), (0, 1, 0, w21), (0, 0, 0, w1), (0, 1, 1, w2)]
        return sum_over_edges(table[None], tuples_of(K, 2), kinds).reshape(table.shape)

    def allocation(self, couple: tuple[int, int]) -> IntArray:
        """The allocation in which V1 plays the couple's first arm and V2 its second."""
        arms: IntArray = np.where(self.sides == 0, couple[0], couple[1]).astype(np.int64)
        return arms

    def __repr__(self) -> str:
        return (
            f"Cut(n={self.graph.n}, m={self.m}, m12={self.m12}, m21={self.m21}, "
            f"m1={self.m1}, m2={self.m2}, rho={self.rho:.4g})"
        )


class CutMethod(Protocol):
    """What a file of this folder offers under its own name."""

    def __call__(self, graph: Graph, *, seed: Seed = None) -> Cut:
        """Cut ``graph``; ``seed`` says where randomness comes from, if the method has any."""
        ...


def check_cut(graph: Graph, cut: Cut) -> Cut:
    """``cut``, if it is one of ``graph``."""
    if not isinstance(cut, Cut):
        raise checks.input_error("cut", "be a gbb.cuts.Cut", type(cut).__name__)
    if cut.graph is not graph and cut.graph != graph:
        raise checks.input_error("cut", f"cut the problem's graph ({graph!r})", repr(cut.graph))
    return cut
