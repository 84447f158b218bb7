"""A cut: the agents split in parts, and the edges counted by the parts of their ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.seeds import Seed
from gbb.graph import Graph

MAX_GROUPED = 16
"""The most parts that are grouped in two in all ways, of which there are ``2^(k - 1)``."""

FEW_PARTS = 4
"""Parts up to which a comparison for each pair of them counts edges faster than a histogram."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A partition of the agents in k parts: the paper's V1 and V2 if k = 2.

    Attributes
    ----------
    graph
        The graph that is cut.
    parts
        Part of each agent, 0..k-1.
    counts
        Number of directed edges from part p to part q (k x k, symmetric).
    """

    graph: Graph
    parts: NDArray[np.signedinteger[Any]]
    counts: IntArray

    @classmethod
    def of(cls, graph: Graph, parts: ArrayLike, k: int = 2) -> Cut:
        """Count the edges of the partition ``parts`` (0..k-1 per agent)."""
        k = checks.integer("k", k, low=1)
        checked = checks.indices("parts", parts, length=graph.n, high=k, meaning="one per agent")
        # The smallest type that holds k^2, as these are gathered for both ends of up to 10^8 edges.
        small = checks.frozen(checked.astype(np.min_scalar_type(-(k**2))))
        pairs = small.take(graph.sources) * k + small.take(graph.indices)
        if k <= FEW_PARTS:
            counts = np.array([np.count_nonzero(pairs == code) for code in range(k * k)])
        else:
            counts = np.bincount(pairs, minlength=k * k)
        return cls(graph, small, checks.frozen(counts.reshape(k, k).astype(np.int64)))

    @property
    def k(self) -> int:
        """Number of parts."""
        return len(self.counts)

    @property
    def m(self) -> int:
        """Number of directed edges."""
        return self.graph.m

    @property
    def sides(self) -> NDArray[np.signedinteger[Any]]:
        """The parts of a cut in two: 0 for an agent of V1, 1 for one of V2."""
        return check_cut(self.graph, self).parts

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """``(m12, m21, m1, m2)`` of a cut in two, the weights of the improved algorithm."""
        (m1, m12), (m21, m2) = check_cut(self.graph, self).counts.tolist()
        return m12, m21, m1, m2

    @property
    def m12(self) -> int:
        """Number of directed edges from V1 to V2."""
        return self.weights[0]

    @property
    def m21(self) -> int:
        """Number of directed edges from V2 to V1."""
        return self.weights[1]

    @property
    def m1(self) -> int:
        """Number of directed edges inside V1."""
        return self.weights[2]

    @property
    def m2(self) -> int:
        """Number of directed edges inside V2."""
        return self.weights[3]

    @property
    def _inside(self) -> int:
        return int(np.trace(self.counts))

    @property
    def rho(self) -> float:
        """Fraction of the edges that are cut, ``(m12 + m21) / m`` if k = 2; 1 without edges."""
        return (self.m - self._inside) / self.m if self.m else 1.0

    @property
    def uncut(self) -> float:
        """Fraction of the edges inside a part, ``(m1 + m2) / m`` if k = 2 (the paper's Table 1)."""
        return self._inside / self.m if self.m else 0.0

    @cached_property
    def V1(self) -> IntArray:
        """The agents of the first part of two."""
        return checks.frozen(np.flatnonzero(self.sides == 0))

    @cached_property
    def V2(self) -> IntArray:
        """The agents of the second part of two."""
        return checks.frozen(np.flatnonzero(self.sides == 1))

    @cached_property
    def merged(self) -> Cut:
        """The two groups of parts with most edges between them; the first of several such groupings."""
        return max(self.groupings(), key=lambda cut: cut.m12)

    def groupings(self) -> Iterator[Cut]:
        """Yield all groupings of the parts in two; of two parts, only the cut itself."""
        if self.k == 2:
            yield self
            return
        if self.k > MAX_GROUPED:
            cure = "Grouping them takes 2^k steps."
            raise checks.input_error("k", f"be at most {MAX_GROUPED}", self.k, cure)
        # The last part stays in V1, since exchanging the groups gives nothing new.
        for code in range(2 ** (self.k - 1)):
            group = ((code >> np.arange(self.k)) & 1).astype(np.int8)
            member = np.eye(2, dtype=np.int64)[group]
            counts = member.T @ self.counts @ member
            yield Cut(self.graph, checks.frozen(group[self.parts]), checks.frozen(counts))

    def couple_values(
        self, table: ArrayLike, weights: tuple[float, float, float, float] | None = None
    ) -> FloatArray:
        """Return ``m12 R_ab + m21 R_ba + m1 R_aa + m2 R_bb`` for all couples (a, b) of a table R.

        R is K x K; it may have further axes, which stay. Other ``weights`` may replace the counts.
        """
        R = checks.array("table", table)
        w12, w21, w1, w2 = self.weights if weights is None else weights
        equal = R[np.arange(len(R)), np.arange(len(R))]  # both agents play the same arm
        values: FloatArray = w12 * R + w21 * R.swapaxes(0, 1) + w1 * equal[:, None] + w2 * equal
        return values

    def allocation(self, arms: ArrayLike) -> IntArray:
        """Return the allocation in which part p plays ``arms[p]``: V1 a and V2 b of a couple (a, b)."""
        chosen: IntArray = np.asarray(arms, dtype=np.int64)[self.parts]
        return chosen

    def __repr__(self) -> str:
        counts = f"k={self.k}"
        if self.k == 2:
            counts = "m12={}, m21={}, m1={}, m2={}".format(*self.weights)
        return f"Cut(n={self.graph.n}, m={self.m}, {counts}, rho={self.rho:.4g})"


class CutMethod(Protocol):
    """A method of cutting a graph in two."""

    def __call__(self, graph: Graph, *, seed: Seed = None) -> Cut:
        """Cut ``graph``; ``seed`` is that of the method's randomness, if it has any."""
        ...


def check_cut(graph: Graph, cut: Cut, *, k: int | None = 2) -> Cut:
    """Return ``cut`` if it is one of ``graph`` in k parts (None: any number of them)."""
    if not isinstance(cut, Cut):
        raise checks.input_error("cut", "be a gbb.Cut", type(cut).__name__)
    if cut.graph is not graph and cut.graph != graph:
        raise checks.input_error("cut", f"cut the problem's graph ({graph!r})", repr(cut.graph))
    if k is not None and cut.k != k:
        cure = "Take its attribute `merged`: its parts grouped in two." if k == 2 else ""
        raise checks.input_error("cut", f"have {k} parts", cut.k, cure)
    return cut
