"""A network in shards as its coordinator knows it: how many links of each kind every shard has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut
from gbb.graph import Graph
from gbb.problem import Problem
from gbb.shards._shard import Kind

MOST_KINDS = 4096
"""Kinds of links beyond which a network is no longer small."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network by its parts: a small graph whose edges stand for all links of a kind.

    Its agents V1, V2, ... stand for the parts. Where a kind of links has no pair of agents to itself,
    V1', V1'', ... stand for the same part and play the same arm.

    Attributes
    ----------
    graph
        The small graph.
    edge_counts, parts
        What its edges and agents stand for: how many links of each shard (shards x m), and the part.
    edge_types, edge_weights
        Those of its edges; None where all links have one type, or the weight 1.
    """

    graph: Graph
    edge_counts: IntArray
    parts: IntArray
    edge_types: IntArray | None
    edge_weights: FloatArray | None

    @classmethod
    def of(cls, shards: Iterable[Sequence[Kind] | Sequence[Sequence[Any]]]) -> Network:
        """The network of shards 0, 1, ..., each given by its :attr:`gbb.Shard.kinds`.

        Kinds may be rows of plain numbers: the parts of both ends, the types there and back, the weights
        there and back, and how many links.
        """
        found: dict[tuple[Any, ...], dict[int, int]] = {}
        shard = -1
        for shard, kinds in enumerate(shards):
            for *kind, count in map(_read_kind, kinds):
                if count:
                    counts = found.setdefault(tuple(kind), {})
                    counts[shard] = counts.get(shard, 0) + count
        if not found:
            raise checks.input_error("shards", "have at least one link", "none")
        order = sorted(found)
        table = np.zeros((shard + 1, len(order)), dtype=np.int64)
        for column, counts in enumerate(found[each] for each in order):
            table[list(counts), column] = list(counts.values())
        return cls._build(order, table)

    @classmethod
    def _build(cls, kinds: list[tuple[Any, ...]], table: IntArray) -> Network:
        """A graph with a link for each kind, none of them twice between the same agents."""
        if len(kinds) > MOST_KINDS:
            rule = f"have at most {MOST_KINDS:,} kinds of links, by parts, types and weights"
            raise checks.input_error("kinds", rule, f"{len(kinds):,}", "Round the weights.")
        k = max(2, 1 + max(kind[1] for kind in kinds))
        agents = {(part, 0): part for part in range(k)}
        taken: dict[tuple[int, int], int] = {}
        rows = []
        for first, second, *_ in kinds:
            copy = taken[first, second] = taken.get((first, second), 0) + 1
            other = (second, copy if first == second else copy - 1)
            rows.append((first, agents.setdefault(other, len(agents))))
        names = [f"V{part + 1}" + "'" * copy for part, copy in agents]
        graph = Graph.from_edges(rows, n=len(agents), names=names, undirected=True)
        place = {row: (column, 0) for column, row in enumerate(rows)}
        place |= {row[::-1]: (column, 1) for column, row in enumerate(rows)}
        column, back = np.array([place[i, j] for i, j in graph.edges.tolist()]).T
        links = np.array([kind[2:] for kind in kinds], dtype=np.float64)
        types = links[column, back].astype(np.int64)
        weights = links[column, 2 + back]
        of = np.array([part for part, _ in agents], dtype=np.int64)
        return cls(
            graph,
            checks.frozen(table[:, column]),
            checks.frozen(of),
            types if types.any() else None,
            weights if (weights != 1.0).any() else None,
        )

    def problem(self, arms: ArrayLike, **known: Any) -> Problem:
        """The problem on it; ``known`` is what else :class:`gbb.Problem` takes, such as sigma and S."""
        links: Any = {"edge_types": self.edge_types, "edge_weights": self.edge_weights}
        links |= {"edge_counts": self.edge_counts, "parts": self.parts}
        return Problem(self.graph, arms, **known, **links)

    @property
    def k(self) -> int:
        """Number of parts."""
        return int(self.parts.max()) + 1

    @property
    def cut(self) -> Cut:
        """Its parts, as policies take them."""
        return Cut.of(self.graph, self.parts, self.k)

    @property
    def counts(self) -> IntArray:
        """How many directed links run from each part to each (k x k)."""
        counts, source, target = np.zeros((self.k, self.k), np.int64), *self.graph.edges.T
        links = self.edge_counts.sum(axis=0)
        np.add.at(counts, (self.parts[source], self.parts[target]), links)
        return counts

    @property
    def m(self) -> int:
        """Number of directed links."""
        return int(self.edge_counts.sum())

    @property
    def rho(self) -> float:
        """Fraction of the links that run between two parts."""
        return 1.0 - float(np.trace(self.counts)) / self.m

    def __repr__(self) -> str:
        shards = len(self.edge_counts)
        return f"Network(m={self.m}, k={self.k}, shards={shards}, rho={self.rho:.4g})"


def _read_kind(given: Sequence[Any]) -> Kind:
    """A kind of links, the lower part first."""
    try:
        first, second, there, back, w, w_back, count = given
    except (TypeError, ValueError):
        rule = "be rows of two parts, two types, two weights and a count"
        raise checks.input_error("kinds", rule, repr(given)) from None
    whole = [checks.integer("kinds", value, low=0) for value in (first, second, there, back, count)]
    first, second, there, back, count = whole
    w, w_back = checks.real("kinds", w), checks.real("kinds", w_back)
    if (first, there, w) > (second, back, w_back) if first == second else first > second:
        first, second, there, back, w, w_back = second, first, back, there, w_back, w
    return Kind(first, second, there, back, w, w_back, count)
