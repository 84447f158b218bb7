"""Cuts in k parts: the agents split so that few edges stay inside a part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gbb._kernels import cuts as kernels
from gbb._support import checks, seeds
from gbb._support.budget import Budget
from gbb._support.checks import IntArray
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.graph import Graph
from gbb.pairwise import ArmSearch, PairProblem
from gbb.pairwise.search import cut_cooling

GROUPED = 16
"""The most parts that are grouped in two every way."""


@dataclass(frozen=True, eq=False)
class KCut:
    """A partition of the agents in k parts.

    Attributes
    ----------
    graph
        The graph that is cut.
    parts
        Part of each agent, 0..k-1.
    counts
        How many directed edges run from part a to part b (k x k, symmetric).
    """

    graph: Graph
    parts: IntArray
    counts: IntArray

    @classmethod
    def of(cls, graph: Graph, parts: ArrayLike, k: int) -> KCut:
        """Count the edges of the partition ``parts`` (0..k-1 per agent)."""
        k = checks.integer("k", k, low=1)
        checked = checks.indices("parts", parts, length=graph.n, high=k, meaning="one per agent")
        pairs = checked[graph.sources] * k + checked[graph.indices]
        counts = np.bincount(pairs, minlength=k * k).reshape(k, k).astype(np.int64)
        return cls(graph, checked, checks.frozen(counts))

    @property
    def k(self) -> int:
        """Number of parts."""
        return len(self.counts)

    @property
    def rho(self) -> float:
        """Fraction of the edges that run between two parts."""
        return 1.0 - self.uncut

    @property
    def uncut(self) -> float:
        """Fraction of the edges inside a part."""
        return float(np.trace(self.counts)) / self.graph.m if self.graph.m else 0.0

    @cached_property
    def merged(self) -> Cut:
        """The two groups of parts with most edges between them, as a cut."""
        return max(self.groupings(), key=lambda cut: cut.m12)  # the first of several

    def groupings(self) -> Iterator[Cut]:
        """All groupings of the parts in two, as cuts; the last part stays in V1."""
        if self.k > GROUPED:
            cure = "Grouping them takes 2^k steps."
            raise checks.input_error("k", f"be at most {GROUPED}", self.k, cure)
        for code in range(2 ** (self.k - 1)):
            group = ((code >> np.arange(self.k)) & 1).astype(np.int8)
            one, two = group == 0, group == 1
            ends = ((one, two), (two, one), (one, one), (two, two))
            edges = [int(self.counts[np.ix_(*pair)].sum()) for pair in ends]
            yield Cut(self.graph, checks.frozen(group[self.parts]), *edges)

    def allocation(self, arms: ArrayLike) -> IntArray:
        """The allocation in which part a plays ``arms[a]``."""
        chosen: IntArray = np.asarray(arms, dtype=np.int64)[self.parts]
        return chosen

    def __repr__(self) -> str:
        return f"KCut(n={self.graph.n}, m={self.graph.m}, k={self.k}, rho={self.rho:.4g})"


def kcut(
    graph: Graph,
    k: int,
    *,
    method: str = "annealing",
    sweeps: int = 300,
    seed: Seed = None,
    seconds: float | None = None,
) -> KCut:
    """Cut in k parts, at least ``(1 - 1/k)`` of the edges.

    Parameters
    ----------
    graph
        The graph to cut.
    k
        Number of parts, at least 2.
    method
        ``greedy`` (agents in order, each to the part with fewest of its neighbours; O(n k + m)) or
        ``annealing`` (from random parts, finished by ascent; never less than greedy).
    sweeps
        How many times annealing offers every agent another part.
    seed
        Where the randomness comes from.
    seconds
        A time limit for annealing; cooling then keeps step with the clock where needed. Without it
        the same seed gives the same cut. Ctrl-C ends it early.
    """
    k = checks.integer("k", k, low=2)
    checks.choice("method", method, ("annealing", "greedy"))
    sweeps = checks.integer("sweeps", sweeps, low=0)
    budget = Budget(seconds)
    parts = kernels.greedy.greedy_parts(graph.indptr, graph.indices, k)
    greedy = KCut.of(graph, parts, k)
    if method == "greedy":
        return greedy
    rng = seeds.generator(seed)
    search = _search(graph, k, rng.integers(k, size=graph.n))
    search.anneal(sweeps, cut_cooling(graph), rng, budget)
    search.ascend()
    return _fewest_inside(KCut.of(graph, search.arms, k), greedy)


def refine(cut: Cut, k: int) -> KCut:
    """Cut in k parts near ``cut``: agents of its two parts move on only where that cuts more.

    If :func:`kcut` leaves fewer edges inside a part, its parts are returned instead. Of two partitions
    that cut the same edges the one near a cut in two is the better to play arms over: the best
    couple pays on most of its edges.
    """
    k = checks.integer("k", k, low=2)
    near = _search(cut.graph, k, cut.sides.astype(np.int64))
    near.ascend()
    return _fewest_inside(KCut.of(cut.graph, near.arms, k), kcut(cut.graph, k, seed=0))


def _search(graph: Graph, k: int, parts: IntArray) -> ArmSearch:
    """Parts as arms, where an edge pays 1 when its ends differ."""
    return ArmSearch(PairProblem.of_table(graph, 1.0 - np.eye(k)), parts)


def _fewest_inside(first: KCut, second: KCut) -> KCut:
    return first if first.uncut <= second.uncut else second
