"""What every cut method owes, whoever wrote it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from gbb.cuts import Cut, CutMethod
from gbb.graph import Graph


def small_graphs() -> Iterator[Graph]:
    """Every graph of up to four agents, and random ones of up to nine."""
    for n in range(1, 5):
        links = list(itertools.combinations(range(n), 2))
        for kept in itertools.product((False, True), repeat=len(links)):
            edges = np.array(list(itertools.compress(links, kept)), dtype=np.int64).reshape(-1, 2)
            yield Graph.from_edges(edges, n=n, undirected=True)
    for seed in range(40):
        yield Graph.random(5 + seed % 5, p=(1 + seed % 9) / 10, seed=seed)


def check_cut_method(method: CutMethod, graph: Graph, seed: int) -> None:
    """Check that ``method`` cuts at least half of the edges, and that its counts are true."""
    cut = method(graph, seed=seed)
    assert isinstance(cut, Cut)
    assert cut.graph is graph
    assert cut.sides.shape == (graph.n,)
    assert set(cut.sides.tolist()) <= {0, 1}
    assert not cut.sides.flags.writeable
    first, second = cut.sides[graph.sources], cut.sides[graph.indices]
    ways = [(0, 1), (1, 0), (0, 0), (1, 1)]
    counts = tuple(int(((first == a) & (second == b)).sum()) for a, b in ways)
    assert cut.weights == counts
    assert cut.m == sum(counts) == graph.m
    assert 2 * (cut.m12 + cut.m21) >= graph.m


class CutContract:
    """The tests of one cut method.

    Attributes
    ----------
    method
        The method.
    """

    method: ClassVar[CutMethod]

    def test_it_cuts_at_least_half_of_the_edges_and_counts_them(self) -> None:
        for seed, graph in enumerate(small_graphs()):
            check_cut_method(self.method, graph, seed)

    def test_same_seed_same_cut(self) -> None:
        graph = Graph.random(60, p=0.2, seed=1)
        first, again = (self.method(graph, seed=5) for _ in range(2))
        assert np.array_equal(first.sides, again.sides)

    def test_isolated_agents_are_placed_and_cut_nothing(self) -> None:
        cut = self.method(Graph.from_edges([[2, 4]], n=6, undirected=True), seed=0)
        assert cut.weights == (1, 1, 0, 0)
        assert cut.sides[2] != cut.sides[4]

    def test_a_graph_without_edges_has_nothing_to_cut(self) -> None:
        cut = self.method(Graph.from_edges(np.empty((0, 2), dtype=int), n=3), seed=0)
        assert cut.weights == (0, 0, 0, 0)
        assert (cut.rho, cut.uncut) == (1.0, 0.0)

    def test_it_says_what_it_does(self) -> None:
        assert self.method.__doc__


def cut_contract(method: CutMethod) -> type[CutContract]:
    """The tests of a cut method, to be given a name that starts with ``Test``."""
    return type("TestCut", (CutContract,), {"method": staticmethod(method)})
