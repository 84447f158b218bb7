"""Cuts in k parts, Goemans and Williamson's cut, and bounds on every cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbb
from gbb._kernels import cuts as kernels
from gbb._kernels import pairwise
from gbb.cuts import kcut
from graphs import largest_cut, small_graphs


@given(small_graphs(high=6), st.integers(2, 4), st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_kcut_against_all_partitions(graph: gbb.Graph, k: int, seed: int) -> None:
    best = 0
    for parts in itertools.product(range(k), repeat=graph.n):
        chosen = np.array(parts)
        best = max(best, int((chosen[graph.sources] != chosen[graph.indices]).sum()))
    for method in ("greedy", "annealing"):
        cut = kcut(graph, k, method=method, seed=seed, sweeps=50)
        across = cut.parts[graph.sources] != cut.parts[graph.indices]
        assert (1 - 1 / k) * graph.m <= across.sum() <= best
        assert cut.rho == pytest.approx(across.mean())
        slow = np.zeros((k, k), dtype=int)
        for i, j in graph.edges:
            slow[cut.parts[i], cut.parts[j]] += 1
        np.testing.assert_array_equal(cut.counts, slow)
        assert cut.k == k
    greedy = kernels.greedy_parts(graph.indptr, graph.indices, k)
    slow = kernels.greedy_parts.py_func(graph.indptr, graph.indices, k)
    np.testing.assert_array_equal(greedy, slow)


def test_greedy_in_two_parts_is_the_papers() -> None:
    graph = gbb.Graph.random(40, 0.3, seed=1)
    np.testing.assert_array_equal(
        kcut(graph, 2, method="greedy").parts, gbb.cuts.greedy(graph).sides
    )


def test_annealing_finds_the_three_colouring_of_a_complete_tripartite_graph() -> None:
    part = np.arange(30) % 3
    pairs = [(i, j) for i, j in itertools.combinations(range(30), 2) if part[i] != part[j]]
    cut = kcut(gbb.Graph.from_edges(pairs, undirected=True), 3, seed=0)
    assert cut.rho == 1.0
    np.testing.assert_array_equal(cut.allocation([4, 5, 6]), cut.parts + 4)
    assert "k=3, rho=1" in repr(cut)


def test_kcut_checks_its_arguments() -> None:
    graph = gbb.Graph.circle(5)
    with pytest.raises(gbb.InputError, match="`k` to be a whole number >= 2"):
        kcut(graph, 1)
    with pytest.raises(gbb.InputError, match="`method` to be one of 'annealing', 'greedy'"):
        kcut(graph, 3, method="exact")
    with pytest.raises(gbb.InputError, match="`parts` to hold numbers from 0 to 2"):
        gbb.Cut.of(graph, [0, 1, 2, 3, 0], 3)


def test_ctrl_c_ends_the_annealing_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pairwise, "anneal_arms", interrupt)
    graph = gbb.Graph.random(50, 0.3, seed=0)
    assert kcut(graph, 3, seed=0).rho >= 2 / 3


@given(small_graphs(high=10), st.integers(0, 99), st.sampled_from([1e-9, 10.0]))
@settings(max_examples=150, deadline=None)
def test_no_cut_exceeds_the_bound(graph: gbb.Graph, seed: int, seconds: float) -> None:
    bound = gbb.cuts.upper_bound(graph, seed=seed, seconds=seconds)
    assert largest_cut(graph) <= bound.edges + 1e-9
    assert bound.edges <= graph.m / 2
    assert bound.rho == pytest.approx(bound.edges / (graph.m / 2))


def test_the_bound_of_an_odd_circle() -> None:
    # Goemans and Williamson's relaxation of a circle of five: 5/2 (1 + cos(pi / 5)).
    bound = gbb.cuts.upper_bound(gbb.Graph.circle(5))
    assert bound.edges == pytest.approx(5 / 2 * (1 + np.cos(np.pi / 5)), rel=1e-3)


def test_goemans_williamson_beats_local_search_and_not_its_bound() -> None:
    graph = gbb.Graph.random(200, 0.1, seed=4)
    cut = gbb.cuts.goemans_williamson(graph, seed=0)
    assert gbb.cuts.local_search(graph).m12 < cut.m12 <= gbb.cuts.upper_bound(graph).edges


def test_mixing_kernels_run_the_same_compiled_and_not() -> None:
    graph = gbb.Graph.random(12, 0.4, seed=0)
    V = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    fast, slow = V.copy(), V.copy()
    before = (V[graph.sources] * V[graph.indices]).sum() / 2
    fall = kernels.mix(graph.indptr, graph.indices, fast, 0, 12)
    after = (fast[graph.sources] * fast[graph.indices]).sum() / 2
    assert before - after == pytest.approx(fall, abs=1e-4)
    kernels.mix.py_func(graph.indptr, graph.indices, slow, 0, 12)
    np.testing.assert_allclose(fast, slow, atol=1e-4)
    sums = graph.to_sparse() @ fast
    lengths = kernels.dual_multipliers(graph.indptr, graph.indices, fast)
    np.testing.assert_allclose(lengths, np.linalg.norm(sums, axis=1), atol=1e-5)
    np.testing.assert_allclose(
        lengths, kernels.dual_multipliers.py_func(graph.indptr, graph.indices, fast), atol=1e-5
    )
