import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb._kernels.cuts.greedy import greedy_sides
from strategies import graphs, trees


@given(graph=graphs(max_n=9))
def test_greedy_is_the_papers_algorithm(graph):
    cut = gbb.cuts.greedy(graph)
    edges = [tuple(edge) for edge in graph.edges.tolist()]
    assert np.array_equal(cut.sides, naive.greedy_sides(graph.n, edges))


@given(graph=graphs(max_n=7))
def test_the_kernel_runs_the_same_compiled_and_not(graph):
    compiled = greedy_sides(graph.indptr, graph.indices)
    plain = greedy_sides.py_func(graph.indptr, graph.indices)
    assert np.array_equal(compiled, plain)
    assert compiled.dtype == plain.dtype


@pytest.mark.parametrize(
    ("graph", "uncut"),
    [
        (gbb.Graph.complete(100), 49 / 99),  # the paper prints 0.495
        (gbb.Graph.circle(100), 0.0),  # the paper prints 0.01, which is that of 101 agents
        (gbb.Graph.circle(101), 1 / 101),
        (gbb.Graph.star(100), 0.0),
        (gbb.Graph.matching(100), 0.0),
        (gbb.Graph.path(100), 0.0),
        (gbb.Graph.complete(5), 0.4),
    ],
    ids=repr,
)
def test_the_papers_table_1(graph, uncut):
    cut = gbb.cuts.greedy(graph)
    assert cut.uncut == pytest.approx(uncut, rel=1e-15)
    assert cut.rho == pytest.approx(1 - uncut, rel=1e-15)


def test_the_papers_table_1_on_random_graphs():
    uncut = [gbb.cuts.greedy(gbb.Graph.random(100, p=0.6, seed=seed)).uncut for seed in range(100)]
    # One graph's value has a standard deviation of about 0.004; the paper prints 0.453.
    assert np.mean(uncut) == pytest.approx(0.453, abs=0.0015)


@given(graph=trees())
def test_greedy_cuts_every_edge_of_a_tree_numbered_from_its_root(graph):
    assert gbb.cuts.greedy(graph).uncut == 0


@given(graph=graphs(max_n=8), data=st.data())
def test_any_sides_are_counted(graph, data):
    sides = data.draw(st.lists(st.integers(0, 1), min_size=graph.n, max_size=graph.n))
    cut = gbb.Cut.of(graph, sides)
    assert cut.weights == naive.edge_counts(graph.edges, sides)
    assert cut.m == graph.m
    assert cut.V1.tolist() == [i for i, side in enumerate(sides) if side == 0]
    assert cut.V2.tolist() == [i for i, side in enumerate(sides) if side == 1]
    assert cut.allocation((7, 3)).tolist() == [3 if side else 7 for side in sides]


def test_a_cut_says_what_it_is():
    cut = gbb.cuts.greedy(gbb.Graph.complete(5))
    assert repr(cut) == "Cut(n=5, m=20, m12=6, m21=6, m1=6, m2=2, rho=0.6)"
    for array in (cut.sides, cut.V1, cut.V2):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([0, 1], r"`sides` to have shape \(3,\), one per agent, but got \(2,\)"),
        ([0, 1, 2], "`sides` to hold numbers from 0 to 1, but got 2 at position 2"),
        ([0.0, 1.0, 1.0], "`sides` to hold whole numbers"),
    ],
)
def test_bad_sides_are_refused(sides, message):
    with pytest.raises(gbb.InputError, match=message):
        gbb.Cut.of(gbb.Graph.complete(3), sides)
