"""What every cut method owes, whoever wrote it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from strategies import graphs

METHODS = gbb.cuts.methods()
every_method = pytest.mark.parametrize("name", METHODS)


def test_the_papers_cut_is_discovered():
    assert METHODS["greedy"] is gbb.cuts.greedy


@every_method
@given(graph=graphs(max_n=9), seed=st.integers(0, 2**32))
def test_counts_are_those_of_the_sides_and_at_least_half_is_cut(name, graph, seed):
    cut = METHODS[name](graph, seed=seed)
    assert isinstance(cut, gbb.Cut)
    assert cut.graph is graph
    assert cut.sides.shape == (graph.n,)
    assert set(cut.sides.tolist()) <= {0, 1}
    assert cut.weights == naive.edge_counts(graph.edges, cut.sides)
    assert cut.m12 == cut.m21
    assert cut.m == sum(cut.weights) == graph.m
    assert 2 * (cut.m12 + cut.m21) >= graph.m
    assert not cut.sides.flags.writeable


@every_method
def test_same_seed_same_cut(name):
    graph = gbb.Graph.random(60, p=0.2, seed=1)
    first, again = (METHODS[name](graph, seed=5) for _ in range(2))
    assert np.array_equal(first.sides, again.sides)


@every_method
def test_isolated_agents_are_placed_and_cut_nothing(name):
    graph = gbb.Graph.from_edges([[2, 4]], n=6, undirected=True)
    cut = METHODS[name](graph, seed=0)
    assert cut.weights == (1, 1, 0, 0)
    assert cut.sides[2] != cut.sides[4]


@every_method
def test_two_agents_stand_apart(name):
    cut = METHODS[name](gbb.Graph.complete(2), seed=0)
    assert cut.sides[0] != cut.sides[1]


@every_method
def test_a_graph_without_edges_has_nothing_to_cut(name):
    cut = METHODS[name](gbb.Graph.from_edges(np.empty((0, 2), dtype=int), n=3), seed=0)
    assert cut.weights == (0, 0, 0, 0)
    assert (cut.rho, cut.uncut) == (1.0, 0.0)
    assert "m=0" in repr(cut)


@every_method
def test_says_what_it_does(name):
    assert METHODS[name].__doc__
