"""The pair problem: a reward for the arms at both ends of every edge, edge types, forbidden arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb import _kernels
from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.problem.edges import EdgeFeatures
from gbb.problem.problem import allowed_arms

if TYPE_CHECKING:
    from gbb._kernels.pairwise import PairArrays
    from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class PairProblem:
    """Maximise the sum over undirected edges of a table entry, one arm per agent.

    Attributes
    ----------
    graph
        The graph.
    tables
        ``tables[t]`` is the reward of an undirected edge of type t, in both directions (T x K x K).
    types
        Table of each directed edge: edge k from i to j has reward ``tables[types[k], x_i, x_j]`` and the
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
        checks.finite("tables", self.tables)

    @classmethod
    def of(
        cls, problem: Problem | PairProblem, M: ArrayLike = (), *, allowed: ArrayLike | None = None
    ) -> PairProblem:
        """Build from a problem and its matrix, or matrices of shape (types, d, d)."""
        if isinstance(problem, PairProblem):
            if np.size(M) or allowed is not None:
                raise checks.conflict("A PairProblem has tables and allowed arms: leave out yours.")
            return problem
        problem.check_agents("problem")
        d, types = problem.d, problem.types
        one = types == 1 and np.ndim(M) != 3
        shape, meaning = ((d, d), "d x d") if one else ((types, d, d), "types x d x d")
        matrices = checks.array("M", M, shape=shape, meaning=meaning).reshape(-1, d, d)
        rewards = problem.arms @ matrices @ problem.arms.T
        permitted = allowed_arms(problem.graph, problem.K, allowed)
        both = problem.allowed if permitted is None else permitted & problem.allowed
        if permitted is not None:  # each leaves every agent an arm, and together they must, too
            allowed_arms(problem.graph, problem.K, both)
        return cls.directed(problem.graph, rewards, problem.edges, both)

    @classmethod
    def directed(
        cls,
        graph: Graph,
        rewards: FloatArray,
        features: EdgeFeatures,
        allowed: NDArray[np.bool_],
    ) -> PairProblem:
        """Build from what directed edges pay: the tables ``rewards`` (types x K x K) by ``features``."""
        if not features.single:
            rows, which = features.kinds(graph.m, len(rewards))
            rewards, types = np.tensordot(rows, rewards, 1), which.astype(np.int32)
        elif (features.weight == 1.0).all():
            types = features.type.astype(np.int32)
        else:
            rewards, types = _split_by_weight(rewards, features)
        backward = types[graph.reverse] if len(rewards) > 1 else types
        if np.array_equal(types, backward):
            return cls(graph, rewards + rewards.transpose(0, 2, 1), types, allowed)
        # An edge whose directions differ in type gets a table of its own for the two together.
        pairs = types.astype(np.int64) * len(rewards) + backward
        kinds, codes = np.unique(pairs, return_inverse=True)
        there, back = np.divmod(kinds, len(rewards))
        tables = rewards[there] + rewards[back].transpose(0, 2, 1)
        return cls(graph, tables, codes.astype(np.int32), allowed)

    @classmethod
    def of_table(cls, graph: Graph, W: FloatArray) -> PairProblem:
        """Build from the table W of every undirected edge's reward; all arms are allowed."""
        every = np.ones((graph.n, len(W)), dtype=np.bool_)
        return cls(graph, W[None], np.zeros(graph.m, dtype=np.int32), every)

    @cached_property
    def arrays(self) -> PairArrays:
        """The arrays that kernels read."""
        graph = self.graph
        pattern = (graph.indptr, graph.indices)
        return _kernels.pairwise.PairArrays(*pattern, self.types, self.tables, self.allowed)

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
        """The largest difference of values that rounding may make."""
        return 1e-9 * float(np.abs(self.tables).max()) * self.graph.m / 2.0

    def reaches(self, value: float, bound: float) -> bool:
        """Return whether ``value`` reaches ``bound`` up to rounding, so that it is the maximum."""
        # On the scale of the best rewards of edges: an entry that no optimum plays, however large its
        # loss, must not make differences look small. Nor must a link with far larger rewards than the
        # others: their arms are proven only on the scale of what depends on them.
        size = max(abs(value), abs(self.edge_bound))
        return bound - value <= max(2e-9 * min(size, self.smallest_spread), 1e-14 * size)

    @cached_property
    def smallest_spread(self) -> float:
        """The spread of the value if all edges had the smallest spread of a table above 0."""
        used = self.tables[np.unique(self.types)]
        spread = np.ptp(used, axis=(1, 2)) if used.size else np.zeros(1)
        smallest = spread.min(where=spread > 0.0, initial=np.inf)
        return float(smallest * self.graph.m / 2.0)

    @cached_property
    def once(self) -> IntArray:
        """Positions of the directed edges (i, j) with i < j: each undirected edge once."""
        return np.flatnonzero(self.graph.sources < self.graph.indices).astype(np.int64)

    def value(self, allocation: IntArray) -> float:
        """Return the expected global reward of an allocation, in plain numpy."""
        codes = allocation[self.graph.sources] * self.K + allocation[self.graph.indices]
        if not self.single:
            codes += self.types.astype(np.int64) * self.K**2
        entries = self.tables.ravel()
        if len(entries) > len(codes):
            return float(entries[codes].sum() / 2.0)
        # The number of edges that read each table entry is exact, and there is one product an entry.
        return float(np.bincount(codes, minlength=len(entries)) @ entries / 2.0)

    @cached_property
    def edge_bound(self) -> float:
        """The sum over edges of the largest reward of each: the bound of linear programming."""
        if self.allowed.all():
            return float(self.tables.max(axis=(1, 2))[self.types].sum() / 2.0)
        masks, which = np.unique(self.allowed, axis=0, return_inverse=True)
        which = which.ravel()
        kinds = np.stack((self.types, which[self.graph.sources], which[self.graph.indices]))
        unique, counts = np.unique(kinds, axis=1, return_counts=True)
        largest = [self.tables[t][np.ix_(masks[s], masks[e])].max() for t, s, e in unique.T]
        return float(np.dot(largest, counts) / 2.0)


def _split_by_weight(
    rewards: FloatArray, features: EdgeFeatures
) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return a table for every type and weight that occur together, and which of them each edge has."""
    values, which = np.unique(features.weight, return_inverse=True)
    kinds, codes = np.unique(features.type * len(values) + which, return_inverse=True)
    kind, weight = np.divmod(kinds, len(values))
    return values[weight][:, None, None] * rewards[kind], codes.astype(np.int32)
