"""Solvers against brute force, kernels against slow twins, budgets and Ctrl-C."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbb
from gbb._kernels import pairwise as kernels
from gbb._support.budget import Budget
from gbb.optimum import Optimum, PairProblem, solve, solvers
from gbb.optimum.exact import closed_walk
from gbb.pairwise import ArmSearch
from graphs import small_graphs
from pair_problems import Case, cases

SOLVERS = solvers()


def check(case: Case, found: Optimum, best: float) -> None:
    """The certificate, recomputed."""
    assert case.respects(found.allocation)
    assert found.value == pytest.approx(case.value(found.allocation), abs=case.tolerance)
    assert found.value <= best + case.tolerance
    assert found.upper_bound >= best - case.tolerance
    assert found.gap >= 0.0
    if found.proven:
        assert found.value == pytest.approx(best, abs=case.tolerance)


@pytest.mark.parametrize("name", sorted(SOLVERS))
@given(case=cases())
@settings(max_examples=100, deadline=None)
def test_every_solver_against_brute_force(name: str, case: Case) -> None:
    pairs = PairProblem.of(case.problem, case.M, **case.options)
    found = SOLVERS[name](pairs, Budget(5.0), np.random.default_rng(0))
    if found is not None:
        assert found.method == name
        check(case, found, case.best())


@given(case=cases(high=6))
@settings(max_examples=300, deadline=None)
def test_solve_proves_small_problems(case: Case) -> None:
    found = solve(case.problem, case.M, **case.options)
    assert found.proven
    assert found.gap == 0.0
    check(case, found, case.best())


@given(case=cases(), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_kernels_against_slow_twins(case: Case, seed: int) -> None:
    pairs = PairProblem.of(case.problem, case.M, **case.options)
    rng = np.random.default_rng(seed)
    arms = rng.integers(pairs.K, size=pairs.n)
    for i in range(pairs.n):
        arms[i] = rng.choice(np.flatnonzero(pairs.allowed[i]))
    slow = np.zeros((pairs.n, pairs.K))
    for k, (i, j) in enumerate(pairs.graph.edges):
        slow[i] += pairs.tables[pairs.types[k], :, arms[j]]
    pays = kernels.arm_values(pairs.arrays, arms)
    np.testing.assert_allclose(pays, slow, atol=1e-12)
    np.testing.assert_allclose(kernels.arm_values.py_func(pairs.arrays, arms), slow, atol=1e-12)
    runs = {
        kernels.anneal_arms: lambda: (np.linspace(1.0, 0.1, 4), np.random.default_rng(seed)),
        kernels.ascend_arms: lambda: (50,),
        kernels.ascend_forest: lambda: (np.random.default_rng(seed).permutation(pairs.n),),
    }
    for kernel, options in runs.items():
        ends = []
        for run in (kernel, kernel.py_func):
            moved, paid = arms.copy(), pays.copy()
            run(pairs.arrays, moved, paid, *options())
            np.testing.assert_allclose(paid, kernels.arm_values(pairs.arrays, moved), atol=1e-9)
            assert pairs.allowed[np.arange(pairs.n), moved].all()
            ends.append(moved)
        np.testing.assert_array_equal(*ends)
    best = kernels.enumerate_arms(pairs.arrays)
    np.testing.assert_array_equal(best, kernels.enumerate_arms.py_func(pairs.arrays))


@given(case=cases(kinds="plain both oriented"), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_a_forest_move_is_the_best_joint_change(case: Case, seed: int) -> None:
    pairs = PairProblem.of(case.problem, case.M, **case.options)
    order = np.random.default_rng(seed).permutation(pairs.n)
    parent, members = kernels.induced_forest(pairs.graph.indptr, pairs.graph.indices, order)
    inside = np.isin(pairs.graph.edges, members).all(axis=1)
    assert inside.sum() == 2 * (parent >= 0).sum()
    search = ArmSearch(pairs, pairs.allowed.argmax(axis=1))
    start = search.arms.copy()
    gain = kernels.ascend_forest(pairs.arrays, search.arms, search.arm_values, order)
    choices = [
        np.flatnonzero(pairs.allowed[i]) if i in members else [start[i]] for i in range(pairs.n)
    ]
    best = max(pairs.value(np.array(arms)) for arms in itertools.product(*choices))
    assert search.value == pytest.approx(best, abs=case.tolerance)
    assert gain == pytest.approx(best - pairs.value(start), abs=case.tolerance)


@pytest.mark.parametrize("length", [3, 5, 7, 12, 33, 100])
def test_a_closed_walk_pays_what_the_power_says(length: int) -> None:
    rng = np.random.default_rng(length)
    W = rng.normal(size=(4, 4))
    W = W + W.T
    power = W
    for _ in range(length - 1):
        power = (power[:, :, None] + W[None]).max(axis=1)
    walk = closed_walk(W, length)
    assert len(walk) == length
    assert W[walk, np.roll(walk, -1)].sum() == pytest.approx(np.diag(power).max())


def test_a_circle_of_a_million_agents_in_any_order() -> None:
    n = 100_001
    order = np.random.default_rng(0).permutation(n)
    graph = gbb.Graph.from_edges(np.column_stack((order, np.roll(order, -1))), n=n, undirected=True)
    M = gbb.instances.absolute_normal(5, seed=3, distinct_couple=True, zeta=0.0)
    found = solve(gbb.Problem(graph, np.eye(5)), M)
    assert found.method == "circle"
    assert found.proven
    million = solve(gbb.Problem(gbb.Graph.circle(1_000_001), np.eye(5)), M)
    per_agent = found.value / n
    assert million.value / 1_000_001 == pytest.approx(per_agent, rel=1e-3)


@given(small_graphs(high=8), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_elimination_in_parts_is_elimination_at_once(graph: gbb.Graph, seed: int) -> None:
    M = np.random.default_rng(seed).normal(size=(3, 3))
    problem = gbb.Problem(graph, np.eye(3))
    whole = solve(problem, M, method="elimination")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gbb.pairwise.elimination.AT_ONCE", 3)
        parts = solve(problem, M, method="elimination")
    np.testing.assert_array_equal(whole.allocation, parts.allocation)


def test_tables_that_hold_nan_are_refused() -> None:
    W = np.array([[1.0, np.nan], [np.nan, 0.0]])
    with pytest.raises(gbb.InputError, match=r"`tables` to hold finite numbers only, but got nan"):
        PairProblem.of_table(gbb.Graph.circle(3), W)


def test_a_pair_problem_is_solved_as_it_is() -> None:
    pairs = PairProblem.of_table(gbb.Graph.circle(5), np.array([[0.0, 1.0], [1.0, 0.5]]))
    assert solve(pairs).value == pytest.approx(4.5)
    with pytest.raises(gbb.InputError, match="A PairProblem has tables and allowed arms"):
        solve(pairs, np.eye(2))


def test_elimination_knows_its_size() -> None:
    M = gbb.instances.absolute_normal(10, seed=0, distinct_couple=True, zeta=0.0)
    problem = gbb.Problem(gbb.Graph.complete(30), np.eye(10))
    with pytest.raises(gbb.InputError, match="`method` to apply to this problem"):
        solve(problem, M, method="elimination")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"M": np.ones((2, 3, 3))}, r"`M` to have shape \(1, 3, 3\), types x d x d"),
        ({"M": ()}, r"`M` to have shape \(3, 3\), d x d, but got \(0,\)"),
        ({"M": np.full((3, 3), np.nan)}, r"`M` to hold finite numbers only, but got nan"),
        ({"seed": 0.5}, r"`seed` to be a whole number, a SeedSequence, a Generator or None"),
        ({"allowed": np.ones((3, 2), dtype=bool)}, r"`allowed` to be a boolean array .* n x K"),
        ({"allowed": np.zeros((3, 3), dtype=bool)}, r"leave every agent an arm.*agent 0"),
    ],
)
def test_bad_matrices_and_arms_are_refused(options: dict[str, Any], message: str) -> None:
    problem = gbb.Problem(gbb.Graph.circle(3), np.eye(3))
    with pytest.raises(gbb.InputError, match=message):
        solve(problem, **({"M": np.eye(3)} | options))


def test_ctrl_c_returns_the_best_allocation_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    problem = gbb.Problem(gbb.Graph.random(60, 0.5, seed=0), np.eye(5))
    M = gbb.instances.absolute_normal(5, seed=0, distinct_couple=True, zeta=0.0)
    for name in ("anneal_arms", "ascend_arms"):
        with monkeypatch.context() as patch:
            patch.setattr(kernels, name, interrupt)
            found = solve(problem, M, method="heuristic")
        assert 0 < found.value <= found.upper_bound


@given(st.integers(2, 4), st.integers(3, 9), st.integers(0, 2**32), st.booleans())
@settings(max_examples=150, deadline=None)
def test_counts_of_a_large_complete_graph(K: int, n: int, seed: int, zero: bool) -> None:
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(K, K))
    np.fill_diagonal(M, 0.0 if zero else M.diagonal())
    problem = gbb.Problem(gbb.Graph.complete(n), np.eye(K))
    best = solve(problem, M, method="arm_counts")
    assert best.proven
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gbb.optimum.exact.MAX_COUNTS", 0)
        found = solve(problem, M, method="arm_counts")
        assert best.value - 1e-9 <= found.upper_bound
        assert found.value <= best.value + 1e-9
        assert found.bound_method == "quadratic"
        patch.setattr("gbb.pairwise.quadratic.MAX_SUPPORTS", 0)
        assert solve(problem, M, method="arm_counts").bound_method == "edges"


def test_a_complete_graph_of_a_hundred_is_nearly_closed() -> None:
    M = gbb.instances.absolute_normal(10, seed=7, distinct_couple=True, zeta=0.0)
    np.fill_diagonal(M, 0.0)
    found = solve(gbb.Problem(gbb.Graph.complete(100), np.eye(10)), M)
    assert found.method == "arm_counts"
    assert found.gap < 1e-3


def test_a_huge_loss_that_nobody_plays_proves_nothing() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        problem = gbb.Problem(gbb.Graph.random(9, p=0.6, seed=seed), np.eye(4))
        M = rng.uniform(0, 2, (4, 4))
        np.fill_diagonal(M, -1e9)
        best = gbb.optimum.solve(problem, M, method="brute_force")
        for method in ("heuristic", None):
            found = gbb.optimum.solve(problem, M, method=method, seconds=1.0)
            assert not found.proven or found.value == pytest.approx(best.value, rel=1e-7)
            assert found.upper_bound >= best.value - 1e-9 * abs(best.value)


def test_many_pinned_agents_on_a_dense_graph() -> None:
    problem = gbb.Problem(gbb.Graph.complete(80), np.eye(3))
    allowed = np.zeros((80, 3), dtype=bool)
    allowed[:, 0] = True
    allowed[:2] = True
    found = gbb.optimum.solve(problem, np.ones((3, 3)), allowed=allowed, seconds=2.0)
    assert found.value == pytest.approx(80 * 79)
