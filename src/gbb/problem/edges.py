"""Features of the directed edges, by which they pay, and the numbers that a round reports of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.graph.build import Integers

MAX_WEIGHT = 1e50

MAX_TYPES = 1000
"""So many types may always be named; beyond that at most one for each directed edge."""

FEEDBACKS = {
    "edge": "one per directed edge",
    "link": "one per link",
    "agent": "one per agent",
    "global": "one in all",
}
"""The kinds of report: a number per directed edge, per link (the sum of both directions), per agent (the
sum over its edges (i, j)), or one (the sum over all)."""


@dataclass(frozen=True, eq=False)
class EdgeFeatures:
    """The nonzero features of all edges as a sparse matrix (m x types), by edge and then by matrix.

    An edge e with features ``f_e`` pays ``sum_k f_e[k] x_i' M_k x_j``; an entry is one of these terms.

    Attributes
    ----------
    edge
        The directed edge of each entry.
    type
        The number k of its matrix.
    weight
        ``f_e[k]``.
    """

    edge: IntArray
    type: IntArray
    weight: FloatArray

    def __post_init__(self) -> None:
        for values in (self.edge, self.type, self.weight):
            checks.frozen(values)

    @classmethod
    def from_dense(cls, features: FloatArray) -> EdgeFeatures:
        """Return the entries of features (m x P) that are not 0; one for each edge if none has two."""
        edge, kind = np.nonzero(features)
        if (np.bincount(edge, minlength=len(features)) <= 1).all():
            # An edge that pays nothing keeps an entry, of weight 0: arrays by edge then need no index.
            edge, kind = np.arange(len(features)), np.abs(features).argmax(axis=1)
        return cls(edge, kind, features[edge, kind])

    @cached_property
    def single(self) -> bool:
        """Whether there is one entry for each edge, in edge order."""
        return np.array_equal(self.edge, np.arange(len(self.edge)))

    @cached_property
    def weighted(self) -> bool:
        """Whether there are weights other than 1, or several entries for an edge."""
        return not self.single or bool((self.weight != 1.0).any())

    def settings(self, m: int, types: int) -> dict[str, Any]:
        """Return the arguments of :class:`gbb.Problem` that make these; None for those left out."""
        if not self.single:
            return {"features": self.dense(m, types)}
        edge_types = self.type if self.type.any() else None
        return {"edge_types": edge_types, "edge_weights": self.weight if self.weighted else None}

    def same_both_ways(self, graph: Graph) -> bool:
        """Return whether (i, j) and (j, i) have the same features for every link."""
        back = graph.reverse[self.edge]
        # Entries are sorted by edge, then type; so must those of the edges back be.
        here = np.stack([self.edge, self.type, self.weight])
        there = np.stack([back, self.type, self.weight])[:, np.lexsort((self.type, back))]
        return np.array_equal(here, there)

    def combine(self, matrices: FloatArray, m: int) -> tuple[FloatArray, IntArray]:
        """Return ``sum_k f[k] matrices[k]`` for distinct features f, and which of them each edge has."""
        if not self.single:
            rows, which = np.unique(self.dense(m, len(matrices)), axis=0, return_inverse=True)
            return np.tensordot(rows, matrices, 1), which.ravel()
        # By type, then by weight: the order numbers the types of a round's environment.
        weights, number = np.unique(self.weight, return_inverse=True)
        codes, which = np.unique(self.type * len(weights) + number, return_inverse=True)
        types, numbers = np.divmod(codes, len(weights))
        return weights[numbers][:, None, None] * matrices[types], which

    def dense(self, m: int, types: int) -> FloatArray:
        """Return the features of all edges, m x types."""
        features = np.zeros((m, types))
        np.add.at(features, (self.edge, self.type), self.weight)
        return features


@dataclass(frozen=True, eq=False)
class Report:
    """The numbers of a round's report, and the entries of :class:`EdgeFeatures` that each sums.

    Attributes
    ----------
    graph, edges
        The graph, and by what its edges pay.
    feedback
        One of :data:`FEEDBACKS`.
    """

    graph: Graph
    feedback: str
    edges: EdgeFeatures

    @property
    def size(self) -> int:
        """Number of numbers."""
        return len(self.agents[0]) if self.agents else 1

    @cached_property
    def edge_index(self) -> IntArray:
        """Which number each directed edge adds to (m)."""
        graph, m = self.graph, self.graph.m
        if self.feedback == "link":
            # Links are numbered in the order of their edges (i, j) with i < j, as `agents` names them.
            number = np.empty(m, dtype=np.int64)
            number[graph.links] = number[graph.reverse[graph.links]] = np.arange(m // 2)
            return checks.frozen(number)
        index = {"edge": np.arange(m), "agent": graph.sources, "global": np.zeros(m)}
        return checks.frozen(index[self.feedback].astype(np.int64))

    @cached_property
    def index(self) -> IntArray:
        """Which number each entry of ``edges`` adds to."""
        index = self.edge_index
        return index if self.edges.single else checks.frozen(index[self.edges.edge])

    @cached_property
    def agents(self) -> tuple[Integers, ...]:
        """The agents that name each number: both ends of an edge or link, one agent, or none."""
        if self.feedback in ("edge", "link"):
            which = self.graph.links if self.feedback == "link" else slice(None)
            return self.graph.sources[which], self.graph.indices[which]
        return (np.arange(self.graph.n),) if self.feedback == "agent" else ()

    @cached_property
    def weights(self) -> FloatArray:
        """The sum of the absolute weights of each number's entries."""
        # Of absolute values: weights of 1 and -1 may add up to 0 and still carry rewards.
        sums = np.bincount(self.index, weights=np.abs(self.edges.weight), minlength=self.size)
        return checks.frozen(sums.astype(np.float64, copy=False))

    @property
    def nonzero(self) -> NDArray[np.bool_]:
        """Which numbers an edge of nonzero weight adds to; the others are always 0."""
        return checks.frozen(self.weights > 0.0)

    def sum(self, values: FloatArray) -> FloatArray:
        """Return a value per entry of ``edges`` summed into the numbers of the report."""
        if self.size == 1:
            # Summed pairwise, which rounds less than bincount's running sum over all edges.
            return np.atleast_1d(values.sum())
        sums = np.bincount(self.index, weights=values, minlength=self.size)
        return sums.astype(np.float64, copy=False)


def max_types(graph: Graph) -> int:
    """Return how many types there may be."""
    return max(graph.m, MAX_TYPES)


def read_edges(
    graph: Graph, types: ArrayLike | None, weights: ArrayLike | None, features: ArrayLike | None
) -> EdgeFeatures:
    """Check types and weights, or features, of the directed edges: one matrix for all by default."""
    name, kind, weight = "edge_weights", np.zeros(graph.m, np.int64), np.ones(graph.m)
    if isinstance(types, str):  # every agent has a matrix of its own: edge (i, j) has type i
        checks.choice("edge_types", types, ["source"])
        kind = np.array(graph.sources, dtype=np.int64)
    elif types is not None:
        high, meaning = max_types(graph), "one type per directed edge"
        kind = checks.indices("edge_types", types, length=graph.m, high=high, meaning=meaning)
    if weights is not None:
        meaning = "one weight per directed edge"
        weight = checks.array(name, weights, shape=(graph.m,), meaning=meaning)
    entries = EdgeFeatures(np.arange(graph.m), kind, weight)
    if features is not None:
        if types is not None or weights is not None:
            sentence = "`features` say it all: leave out `edge_types` and `edge_weights`."
            raise checks.conflict(sentence)
        name, meaning = "features", "directed edges x features"
        values = checks.array(name, features, ndim=2, meaning=meaning)
        if len(values) != graph.m or not values.size or not values.any(axis=0).all():
            rule = f"have a row for each of the {graph.m} edges, and no column of zeros alone"
            raise checks.input_error(name, rule, f"shape {values.shape}")
        entries = EdgeFeatures.from_dense(values)
    largest = float(np.abs(entries.weight).max())
    if not 1.0 / MAX_WEIGHT <= largest <= MAX_WEIGHT:
        lower = f"the largest at least {1.0 / MAX_WEIGHT:g}"
        rule = f"hold weights that are not all zero, {lower}, none beyond {MAX_WEIGHT:g}"
        raise checks.input_error(name, rule, largest)
    return entries


def read_parts(
    graph: Graph, counts: ArrayLike | None, parts: ArrayLike | None
) -> tuple[IntArray | None, IntArray | None]:
    """Check what the edges and agents of a merged network stand for: ``edge_counts`` and ``parts``."""
    if counts is None and parts is None:
        return None, None
    if counts is None or parts is None:
        sentence = "`edge_counts` and `parts` come together: pass both of a Network."
        raise checks.conflict(sentence)
    part = checks.indices("parts", parts, length=graph.n, high=graph.n, meaning="one per agent")
    table = checks.array("edge_counts", counts, ndim=2, meaning="shards x directed edges")
    # As many links one way as the other: A commutes with transposition, on which couples rely. The first
    # agents stand for the parts in turn: an allocation of parts is the start of one of agents.
    k, same = int(part.max()) + 1, table.shape[1] == graph.m
    same = same and np.array_equal(table, table[:, graph.reverse])
    if not same or not np.array_equal(part[:k], np.arange(k)):
        rule = f"be those of a gbb.Network with {graph.m} edges"
        raise checks.input_error("edge_counts, parts", rule, f"shape {table.shape}, {part}")
    return checks.frozen(table.astype(np.int64)), part
