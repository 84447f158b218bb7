"""A k-cut: the agents split into k parts, and the edges counted by the parts they join."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb import _checks
from gbb._checks import IntArray
from gbb._kernels.parts import improve_parts
from gbb.cuts._cut import Cut
from gbb.graph import Graph

LARGEST_K = 16
"""Parts that :attr:`KCut.merged` still tries all groupings of."""

COLOURED = 20_000
"""The most directed edges of a graph that is coloured: the colouring is quadratic in the agents."""


@dataclass(frozen=True, eq=False)
class KCut:
    """A partition of the agents in k parts.

    Attributes
    ----------
    graph
        The graph that is cut.
    parts
        The part of every agent, 0 to k - 1.
    counts
        ``counts[p, q]`` directed edges run from part p to part q (k x k).
    """

    graph: Graph
    parts: IntArray
    counts: IntArray

    @classmethod
    def of(cls, graph: Graph, parts: ArrayLike, *, k: int | None = None) -> KCut:
        """Count the edges of the partition ``parts``; k is its largest part plus one if left out."""
        if k is None:
            k = int(np.max(np.asarray(parts), initial=0)) + 1
        k = _checks.integer("k", k, low=2)
        checked = _checks.indices("parts", parts, length=graph.n, high=k, meaning="one per agent")
        code = checked[graph.sources] * k + checked[graph.indices]
        counts = np.bincount(code, minlength=k * k).reshape(k, k).astype(np.int64)
        return cls(graph, checked, _checks.frozen(counts))

    @property
    def k(self) -> int:
        """Number of parts."""
        return int(self.counts.shape[0])

    @property
    def m(self) -> int:
        """Number of directed edges."""
        return int(self.counts.sum())

    @property
    def rho(self) -> float:
        """Fraction of the edges that join two parts; 1 when there are none."""
        return 1.0 - float(np.trace(self.counts)) / self.m if self.m else 1.0

    @cached_property
    def merged(self) -> Cut:
        """The two groups of parts with most edges between them, as a cut."""
        if self.k > LARGEST_K:
            cure = "Grouping them would take 2^k steps."
            raise _checks.fail("k", f"be at most {LARGEST_K}", self.k, cure)
        best, side = -1, np.zeros(self.k, dtype=np.int64)
        for code in range(2 ** (self.k - 1)):  # the last part stays in V1
            group = (code >> np.arange(self.k)) & 1
            across = int(self.counts[np.ix_(group == 0, group == 1)].sum())
            if across > best:
                best, side = across, group
        return Cut.of(self.graph, side[self.parts])

    def allocation(self, arms: ArrayLike) -> IntArray:
        """The allocation in which part p plays ``arms[p]``."""
        chosen: NDArray[np.int64] = np.asarray(arms, dtype=np.int64)[self.parts]
        return chosen

    def __repr__(self) -> str:
        return f"KCut(n={self.graph.n}, m={self.m}, k={self.k}, rho={self.rho:.4g})"


def k_cut(graph: Graph, k: int, *, start: ArrayLike | None = None) -> KCut:
    """Split the agents in k parts so that at least ``1 - 1/k`` of the edges join two of them.

    Agents in turn move to the part with fewest of their neighbours until none gains: then no agent
    has more than 1/k of its neighbours in its own part. The best of a few starts, and deterministic:
    agents joining one after the other, a colouring by saturation (which cuts every edge if it needs
    no more than k colours) on graphs of at most :data:`COLOURED` edges, and ``start``.

    Parameters
    ----------
    graph
        The graph to cut.
    k
        Number of parts, at least 2.
    start
        A part per agent to start from as well, such as the sides of a :class:`Cut`.
    """
    k = _checks.integer("k", k, low=2)
    starts = [np.full(graph.n, -1, dtype=np.int64)]
    if start is not None:
        checked = _checks.indices("start", start, length=graph.n, high=k, meaning="one per agent")
        starts.insert(0, checked.copy())
    if graph.m <= COLOURED:
        starts.append(_colours(graph) % k)
    for parts in starts:
        improve_parts(graph.indptr, graph.indices, k, parts)
    return max((KCut.of(graph, parts, k=k) for parts in starts), key=lambda cut: cut.rho)


def _colours(graph: Graph) -> IntArray:
    """A colour per agent by the method of Brelaz (1979): the most constrained agent first."""
    plain = nx.Graph()
    plain.add_nodes_from(range(graph.n))
    plain.add_edges_from(graph.edges.tolist())
    colour = nx.greedy_color(plain, strategy="saturation_largest_first")
    return np.array([colour[i] for i in range(graph.n)], dtype=np.int64)
