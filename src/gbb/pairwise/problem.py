"""The pair problem: what every edge pays for the arms at its ends, edge types and forbidden arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._kernels import pairwise as kernels
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph, links
from gbb.graph.entries import Entries

if TYPE_CHECKING:
    from gbb._kernels.pairwise.moves import PairArrays
    from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class PairProblem:
    """Maximise the sum over undirected edges of a table entry, one arm per agent.

    Attributes
    ----------
    graph
        The graph.
    tables
        ``tables[t]`` is what an undirected edge of type t pays, both directions together (T x K x K).
    types
        Table of each directed edge: edge k from i to j pays ``tables[types[k], x_i, x_j]`` and the
        reverse edge's table is the transpose, so that both say the same.
    allowed
        Which arms each agent may play (n x K).
    """

    graph: Graph
    tables: FloatArray
    types: NDArray[np.int32]
    allowed: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for name in ("tables", "types", "allowed"):
            array = np.ascontiguousarray(getattr(self, name))
            object.__setattr__(self, name, checks.frozen(array))

    @classmethod
    def of(
        cls,
        problem: Problem,
        M: ArrayLike,
        *,
        edge_types: ArrayLike | None = None,
        allowed: ArrayLike | None = None,
    ) -> PairProblem:
        """Build from a problem and its matrix, or matrices of shape (types, d, d)."""
        problem.check_agents("problem")
        graph, d = problem.graph, problem.d
        given = np.shape(M)
        several = len(given) == 3
        shape = (given[0], d, d) if several else (d, d)
        matrices = checks.array("M", M, shape=shape, meaning="d x d").reshape(-1, d, d)
        if len(matrices) == 0:
            raise checks.input_error("M", "hold at least one matrix", "none")
        rewards = problem.arms @ matrices @ problem.arms.T
        length = graph.m
        if edge_types is None and problem.types > 1:
            edge_types = problem.edge_types
            length = len(edge_types)
        types = _types(graph, edge_types, len(matrices), length)
        permitted = problem.allowed if allowed is None else _allowed(problem, allowed)
        weights = problem.edge_weights if problem.weighted else None
        edges = None if problem.one_each else problem.entries.edge
        return cls.directed(graph, rewards, types, permitted, weights=weights, edges=edges)

    @classmethod
    def directed(
        cls,
        graph: Graph,
        rewards: FloatArray,
        types: NDArray[np.int32],
        permitted: NDArray[np.bool_],
        *,
        weights: FloatArray | None = None,
        edges: IntArray | None = None,
    ) -> PairProblem:
        """Build from what each directed edge pays: its weight times the table of its type.

        Types and weights are those of the ``edges`` that are listed, and add up where one is listed
        several times; of all edges in order when left out.
        """
        if edges is not None and weights is not None:
            rewards, types = _sum_by_edge(
                graph, rewards, Entries(edges, types.astype(np.int64), weights)
            )
        elif weights is not None:
            rewards, types = _split_by_weight(rewards, types, weights)
        backward = types[graph.reverse] if len(rewards) > 1 else types
        if np.array_equal(types, backward):
            return cls(graph, rewards + rewards.transpose(0, 2, 1), types, permitted)
        # An edge whose directions differ in type gets a table of its own for the two together.
        pairs = types.astype(np.int64) * len(rewards) + backward
        kinds, codes = np.unique(pairs, return_inverse=True)
        there, back = np.divmod(kinds, len(rewards))
        tables = rewards[there] + rewards[back].transpose(0, 2, 1)
        return cls(graph, tables, codes.astype(np.int32), permitted)

    @classmethod
    def of_table(cls, graph: Graph, W: FloatArray) -> PairProblem:
        """Build from the one table W by which every undirected edge pays; all arms are allowed."""
        every = np.ones((graph.n, len(W)), dtype=np.bool_)
        return cls(graph, W[None], np.zeros(graph.m, dtype=np.int32), every)

    @cached_property
    def arrays(self) -> PairArrays:
        """What kernels read."""
        graph = self.graph
        pattern = (graph.indptr, graph.indices)
        return kernels.moves.PairArrays(*pattern, self.types, self.tables, self.allowed)

    @property
    def n(self) -> int:
        """Number of agents."""
        return self.graph.n

    @property
    def K(self) -> int:
        """Number of arms."""
        return int(self.tables.shape[1])

    @property
    def single(self) -> bool:
        """Whether all edges have one table, forbidden arms or not."""
        return len(self.tables) == 1

    @cached_property
    def uniform(self) -> bool:
        """Whether all edges have one table and all arms are allowed: the paper's problem."""
        return self.single and bool(self.allowed.all())

    @cached_property
    def rounding(self) -> float:
        """Differences of values below this are put down to rounding."""
        return 1e-9 * float(np.abs(self.tables).max()) * self.graph.m / 2.0

    def reaches(self, value: float, bound: float) -> bool:
        """Whether ``value`` reaches ``bound`` up to rounding.

        On the scale of what edges can pay at best: an entry that nobody would play, however large
        its loss, must not make differences look small. Nor must a link that pays far more than the
        others: their arms are proven only on the scale of what depends on them.
        """
        size = max(abs(value), abs(self.edge_bound))
        return bound - value <= max(2e-9 * min(size, self.smallest_spread), 1e-14 * size)

    @cached_property
    def smallest_spread(self) -> float:
        """What arms can make of all edges if each depended on them as little as the least that does."""
        used = self.tables[np.unique(self.types)]
        spread = np.ptp(used, axis=(1, 2)) if used.size else np.zeros(1)
        least = spread.min(where=spread > 0.0, initial=np.inf)
        return float(least * self.graph.m / 2.0)

    @cached_property
    def once(self) -> IntArray:
        """Positions of the directed edges (i, j) with i < j: each undirected edge once."""
        return np.flatnonzero(self.graph.sources < self.graph.indices).astype(np.int64)

    def value(self, allocation: IntArray) -> float:
        """Expected global reward of an allocation, in plain numpy."""
        codes = allocation[self.graph.sources] * self.K + allocation[self.graph.indices]
        if not self.single:
            codes += self.types.astype(np.int64) * self.K**2
        entries = self.tables.ravel()
        if len(entries) > len(codes):
            return float(entries[codes].sum() / 2.0)
        # How many edges read each table entry: exact, and one product an entry.
        return float(np.bincount(codes, minlength=len(entries)) @ entries / 2.0)

    @cached_property
    def edge_bound(self) -> float:
        """The sum over edges of the most that each can pay: the bound of linear programming."""
        if self.allowed.all():
            return float(self.tables.max(axis=(1, 2))[self.types].sum() / 2.0)
        masks, which = np.unique(self.allowed, axis=0, return_inverse=True)
        which = which.ravel()
        kinds = np.stack((self.types, which[self.graph.sources], which[self.graph.indices]))
        unique, counts = np.unique(kinds, axis=1, return_counts=True)
        most = [self.tables[t][np.ix_(masks[s], masks[e])].max() for t, s, e in unique.T]
        return float(np.dot(most, counts) / 2.0)


def _split_by_weight(
    rewards: FloatArray, types: NDArray[np.int32], weights: FloatArray
) -> tuple[FloatArray, NDArray[np.int32]]:
    """A table for every type and weight that occur together, and which of them each edge has."""
    values, which = np.unique(weights, return_inverse=True)
    kinds, codes = np.unique(types.astype(np.int64) * len(values) + which, return_inverse=True)
    kind, weight = np.divmod(kinds, len(values))
    return values[weight][:, None, None] * rewards[kind], codes.astype(np.int32)


def _sum_by_edge(
    graph: Graph, rewards: FloatArray, entries: Entries
) -> tuple[FloatArray, NDArray[np.int32]]:
    """A table for every way in which edges sum tables, and which of them each edge has."""
    rows, which = entries.kinds(graph.m, len(rewards))
    return np.tensordot(rows, rewards, 1), which.astype(np.int32)


def _types(
    graph: Graph, edge_types: ArrayLike | None, count: int, length: int
) -> NDArray[np.int32]:
    if edge_types is None:
        if count > 1:
            rule = f"say which of the {count} matrices of `M` each directed edge uses"
            raise checks.input_error("edge_types", rule, "None")
        return np.zeros(graph.m, dtype=np.int32)
    meaning = "one type per directed edge"
    checked = checks.indices("edge_types", edge_types, length=length, high=count, meaning=meaning)
    return checked.astype(np.int32)


def _allowed(problem: Problem, allowed: ArrayLike) -> NDArray[np.bool_]:
    """``allowed`` within what the problem allows."""
    graph, K = problem.graph, problem.K
    mask = links.allowed(graph, K, allowed)
    both = None if mask is None else links.allowed(graph, K, mask & problem.allowed)
    return problem.allowed if both is None else both
