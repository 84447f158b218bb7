import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb._kernels.cuts import greedy_sides
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
    ("parts", "message"),
    [
        ([0, 1], r"`parts` to have shape \(3,\), one per agent, but got \(2,\)"),
        ([0, 1, 2], "`parts` to hold numbers from 0 to 1, but got 2 at position 2"),
        ([0.0, 1.0, 1.0], "`parts` to hold whole numbers"),
    ],
)
def test_bad_parts_are_refused(parts, message):
    with pytest.raises(gbb.InputError, match=message):
        gbb.Cut.of(gbb.Graph.complete(3), parts)


def test_a_cut_in_three_parts_says_what_two_parts_would_have():
    cut = gbb.Cut.of(gbb.Graph.complete(5), [0, 1, 2, 0, 1], 3)
    assert repr(cut) == "Cut(n=5, m=20, k=3, rho=0.8)"
    for name in ("sides", "weights", "m12", "V1"):
        with pytest.raises(
            gbb.InputError, match=r"`cut` to have 2 parts, but got 3. Take .*merged"
        ):
            getattr(cut, name)
    assert cut.merged.weights == (6, 6, 6, 2)
    with pytest.raises(gbb.InputError, match=r"`cut` to have 2 parts, but got 3"):
        gbb.policies.ImprovedOFUL(gbb.Problem(cut.graph, np.eye(2)), cut=cut)


def test_bad_tables_and_seeds_are_refused():
    graph = gbb.Graph.random(30, 0.3, seed=0)
    with pytest.raises(gbb.InputError, match=r"`table` to hold finite numbers only, but got nan"):
        gbb.cuts.greedy(graph).couple_values(np.full((2, 2), np.nan))
    with pytest.raises(gbb.InputError, match="`seed` to be a whole number"):
        gbb.cuts.annealing(graph, seed="one")
    with pytest.raises(gbb.InputError, match="`cut` to cut the problem's graph"):
        gbb.cuts.check_cut(gbb.Graph.circle(5), gbb.cuts.greedy(graph))
