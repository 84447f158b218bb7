"""Cut methods: guarantees, exactness, kernels against slow twins, budgets and Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbb import Cut, Graph, InputError, cuts
from gbb._kernels import cuts as kernels
from gbb._support import budget
from gbb.pairwise import search as pair_search
from gbb.pairwise.search import SideSearch
from graphs import largest_cut, small_graphs


def size(cut: Cut) -> int:
    return cut.m12


def guarantee(graph: Graph) -> float:
    return graph.m / 4 + (graph.n - graph.components()) / 4


@given(small_graphs())
@settings(max_examples=150, deadline=None)
def test_every_method_against_all_cuts(graph: Graph) -> None:
    most = largest_cut(graph)
    for name, method in cuts.methods().items():
        cut = method(graph, seed=0)
        assert graph.m / 4 <= size(cut) <= most, name
    assert size(cuts.exact(graph)) == size(cuts.best(graph)) == most


@given(st.integers(0, 2**32), st.integers(2, 60), st.floats(0.02, 0.9))
@settings(max_examples=300, deadline=None)
def test_edwards_erdos_guarantee(seed: int, n: int, p: float) -> None:
    graph = Graph.random(n, p, seed=seed)
    if graph.m:
        assert size(cuts.edwards_erdos(graph)) >= guarantee(graph)


@pytest.mark.parametrize("n", [19, 20, 21, 60])
@pytest.mark.parametrize("family", ["path", "tree", "grid"])
def test_best_finds_the_bipartition_of_shuffled_graphs(family: str, n: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        edges = Graph.path(n).edges if family == "path" else Graph.grid(4, n // 4).edges
        if family == "tree":
            edges = np.array([[i, rng.integers(i)] for i in range(1, n)])
        shuffled = rng.permutation(n)[edges]
        graph = Graph.from_edges(shuffled, n=n, undirected=family == "tree")
        assert cuts.best(graph).uncut == 0
        np.testing.assert_array_equal(cuts.exact(graph).sides, graph.bipartition())


@given(small_graphs(high=12))
@settings(deadline=None)
def test_of_equal_cuts_best_takes_the_papers(graph: Graph) -> None:
    paper, best = cuts.greedy(graph), cuts.best(graph)
    np.testing.assert_array_equal(cuts.best(graph, seed=1).sides, best.sides)
    assert size(best) > size(paper) or np.array_equal(best.sides, paper.sides)


def test_fixed_work_finds_the_same_cut_everywhere_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import gbb; print(*gbb.cuts.best(gbb.Graph.random(80, 0.2, seed=1)).sides)"
    elsewhere = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    graph = Graph.random(80, 0.2, seed=1)
    found = cuts.best(graph)
    assert elsewhere.stdout.split() == [b"%d" % side for side in found.sides]
    assert size(found) > size(cuts.local_search(graph))
    monkeypatch.setattr(kernels, "anneal_sides", None)
    np.testing.assert_array_equal(cuts.best(Graph.random(80, 0.2, seed=1)).sides, found.sides)


def test_the_cut_of_a_few_agents_compiles_nothing() -> None:
    script = (
        "import sys, gbb; gbb.cuts.best(gbb.Graph.random(20, 0.6, seed=1));"
        "gbb.cuts.best(gbb.Graph.path(20)); assert not {'numba', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("seed", range(6))
def test_best_keeps_the_guarantee_however_short_the_time(seed: int) -> None:
    graph = Graph.random_regular(200, 2 + seed, seed=seed)
    assert size(cuts.best(graph, seconds=1e-6, seed=seed)) >= guarantee(graph)


@given(small_graphs(high=12))
@settings(deadline=None)
def test_stars_are_induced_and_few(graph: Graph) -> None:
    centre = kernels.star_centres(graph.indptr, graph.indices)
    np.testing.assert_array_equal(centre, kernels.star_centres.py_func(graph.indptr, graph.indices))
    np.testing.assert_array_equal(centre[centre], centre)
    for i, j in graph.edges:
        if centre[i] == centre[j]:
            assert i == centre[i] or j == centre[j]
    for i in np.flatnonzero(centre != np.arange(graph.n)):
        assert centre[i] in graph.neighbours(int(i))
    assert 2 * len(np.unique(centre)) <= graph.n + graph.components()


@given(small_graphs(), st.integers(0, 99))
@settings(deadline=None)
def test_flip_kernels_against_recounting(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = SideSearch.random(graph, rng)
    counted = [
        size(Cut.of(graph, np.where(np.arange(graph.n) == i, 1 - state.sides, state.sides)))
        for i in range(graph.n)
    ]
    assert size(Cut.of(graph, state.sides)) == state.size
    np.testing.assert_array_equal(state.gains, np.array(counted) - state.size)
    temperatures = np.linspace(2.0, 0.1, 5)
    twin = SideSearch(graph, state.sides.copy())
    for kernel, run in ((kernels.anneal_sides, state), (kernels.anneal_sides.py_func, twin)):
        kernel(
            graph.indptr,
            graph.indices,
            run.sides,
            run.gains,
            temperatures,
            np.random.default_rng(seed),
        )
    np.testing.assert_array_equal(state.sides, twin.sides)
    fresh = kernels.flip_gains.py_func(graph.indptr, graph.indices, state.sides)
    np.testing.assert_array_equal(state.gains, fresh)
    state.ascend()
    assert state.gains.max() <= 0


def test_enumeration_in_chunks_is_the_enumeration_at_once() -> None:
    graph = Graph.random(9, 0.5, seed=3)
    whole, pieces = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
    assert kernels.enumerate_cuts.py_func(graph.indptr, graph.indices, whole, 10**6)
    while not kernels.enumerate_cuts(graph.indptr, graph.indices, pieces, 7):
        pass
    np.testing.assert_array_equal(whole, pieces)


def test_exact_by_elimination_on_a_lattice_of_triangles() -> None:
    width, height = 4, 12
    edges = []
    for x in range(width):
        for y in range(height):
            here = x * height + y
            edges += [(here, here + 1)] if y + 1 < height else []
            edges += [(here, here + height)] if x + 1 < width else []
            edges += [(here, here + height + 1)] if x + 1 < width and y + 1 < height else []
    graph = Graph.from_edges(edges, undirected=True)
    cut = cuts.exact(graph)
    # Every triangle has an uncut edge, an edge lies in at most two triangles: stripes attain that.
    triangles = 2 * (width - 1) * (height - 1)
    assert size(cut) == graph.m // 2 - triangles // 2


def test_exact_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InputError, match=r"at most 30 agents .* Use gbb\.cuts\.best"):
        cuts.exact(Graph.complete(60))


def test_same_seed_same_annealing() -> None:
    graph = Graph.random(80, 0.2, seed=0)
    one, two = (cuts.annealing(graph, seed=5, sweeps=40) for _ in range(2))
    np.testing.assert_array_equal(one.sides, two.sides)


@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_best_keeps_the_time(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.random(3000, 0.01, seed=0)
    now = [0.0]

    def charge(name: str) -> Callable[..., int | None]:
        kernel = getattr(kernels, name)

        def run(*given: Any) -> int | None:
            sweeps = len(given[4]) if name == "anneal_sides" else 2  # an ascent's last ones
            now[0] += 1e-8 * sweeps * (graph.n + graph.m)
            return kernel(*given)

        return run

    for name in ("ascend_sides", "anneal_sides"):
        monkeypatch.setattr(kernels, name, charge(name))
    monkeypatch.setattr(budget, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    cut = cuts.best(graph, seconds=seconds, seed=0)
    assert 0.9 * seconds < now[0] < seconds + 2e-8 * pair_search.CHUNK
    assert size(cut) > size(cuts.local_search(graph))


def test_ctrl_c_returns_the_best_cut_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.random(500, 0.1, seed=0)
    calls = []

    def interrupt(*_: object) -> None:
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "anneal_sides", interrupt)
    for cut in (cuts.best(graph, seconds=60.0), cuts.annealing(graph, seed=0)):
        assert size(cut) >= graph.m / 4
    with pytest.raises(KeyboardInterrupt):  # half of the fixed work would be kept for the whole
        cuts.best(graph)
    assert len(calls) == 3
    monkeypatch.undo()
    assert size(cuts.best(graph)) > size(cuts.local_search(graph))


def test_seconds_are_checked() -> None:
    with pytest.raises(InputError, match=r"`seconds` to be a finite number > 0"):
        cuts.best(Graph.circle(5), seconds=0)
