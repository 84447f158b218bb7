"""Upper bounds: any multipliers, any moment, any size; eigenvalues that can be relied on."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gbb
from gbb._kernels.pairwise import augmented_lagrangian
from gbb._support import budget
from gbb._support.budget import Budget
from gbb.optimum import PairProblem, solve
from gbb.pairwise import eigenvalues, sdp, spectral
from gbb.pairwise.sdp import certified_bound
from pair_problems import Case, cases


@given(case=cases(), seed=st.integers(0, 99), size=st.sampled_from([0.0, 0.1, 1.0, 30.0]))
@settings(max_examples=200, deadline=None)
def test_any_multipliers_give_a_bound(case: Case, seed: int, size: float) -> None:
    pairs = PairProblem.of(case.problem, case.M, **case.options)
    rng = np.random.default_rng(seed)
    E = size * rng.normal(size=(pairs.n, pairs.K, pairs.K))
    N = size * rng.normal(size=(pairs.graph.m, pairs.K, pairs.K))
    assert certified_bound(pairs, E, N, rng) >= case.best() - case.tolerance


@given(case=cases(kinds="plain allowed"), stop=st.integers(0, 3), seed=st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_the_spectral_bound_holds_wherever_it_stops(case: Case, stop: int, seed: int) -> None:
    pairs = PairProblem.of(case.problem, case.M, **case.options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectral, "SMOOTHINGS", spectral.SMOOTHINGS[:stop])
        found = spectral.spectral_bound(pairs, Budget(), np.random.default_rng(seed))
    assert found.bound >= case.best() - case.tolerance


@given(case=cases(kinds="plain oriented"), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_the_lagrangian_against_its_formula(case: Case, seed: int) -> None:
    pairs = PairProblem.of(case.problem, case.M, **case.options)
    graph, n, K, sigma = pairs.graph, pairs.n, pairs.K, 0.7
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n, K, 3))
    E = rng.normal(size=(n, K, K))
    E += E.transpose(0, 2, 1)
    N = rng.random((graph.m, K, K))

    def value(V: np.ndarray) -> float:
        total = 0.0
        for k, (i, j) in enumerate(graph.edges):
            if i < j:
                H = V[i] @ V[j].T
                force = np.maximum(0.0, N[k] - sigma * H)
                total += (pairs.tables[pairs.types[k]] * H).sum()
                total -= (force**2 - N[k] ** 2).sum() / (2 * sigma)
        for i in range(n):
            G = np.tril(V[i] @ V[i].T, -1)
            total -= (E[i] * G).sum() + sigma / 2 * (G**2).sum()
        return float(total)

    for kernel in (augmented_lagrangian, augmented_lagrangian.py_func):
        gradient = np.empty_like(V)
        assert kernel(pairs.arrays, V, E, N, sigma, gradient, False) == pytest.approx(
            value(V), rel=1e-9, abs=1e-9
        )
        way = rng.normal(size=V.shape)
        slope = (value(V + 1e-6 * way) - value(V - 1e-6 * way)) / 2e-6
        assert (gradient * way).sum() == pytest.approx(slope, rel=1e-4, abs=1e-4)
    steps = []
    for kernel in (augmented_lagrangian, augmented_lagrangian.py_func):
        E2, N2 = E.copy(), N.copy()
        kernel(pairs.arrays, V, E2, N2, sigma, np.empty_like(V), True)
        steps.append((E2, N2))
    for one, two in zip(*steps, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    E2, N2 = steps[0]
    assert (N2 >= 0).all()
    for k, (i, j) in enumerate(graph.edges):
        if i < j:
            force = np.maximum(0.0, N[k] - sigma * V[i] @ V[j].T)
            np.testing.assert_allclose(N2[k], force, atol=1e-12)
    off = ~np.eye(K, dtype=bool)
    for i in range(n):
        push = E[i] + sigma * V[i] @ V[i].T
        np.testing.assert_allclose(E2[i][off], push[off], atol=1e-12)


def test_the_low_rank_vectors_stay_where_they_belong() -> None:
    problem = gbb.Problem(gbb.Graph.random(8, 0.6, seed=1), np.eye(4))
    allowed = np.ones((8, 4), dtype=bool)
    allowed[2, 1:] = False
    allowed[5, 0] = False
    M = gbb.instances.absolute_normal(4, seed=1)
    pairs = PairProblem.of(problem, M, allowed=allowed)
    relaxed = sdp.PairRelaxation(pairs, np.random.default_rng(0))
    for _ in range(30):
        relaxed.step(Budget())
    V = relaxed.vectors(relaxed._free)
    np.testing.assert_allclose(V.sum(axis=1), np.eye(sdp.RANK)[[0] * 8], atol=1e-9)
    assert not V[~allowed].any()
    products = V @ V.transpose(0, 2, 1)
    assert np.abs(np.tril(products, -1)).max() < 1e-2


def test_the_spectral_bound_nearly_closes_the_gap_of_a_dense_random_graph() -> None:
    M = gbb.instances.absolute_normal(5, seed=3, distinct_couple=True, zeta=0.0)
    problem = gbb.Problem(gbb.Graph.random(60, 0.6, seed=0), np.eye(5))
    value = solve(problem, M, method="heuristic", seconds=60.0).value
    pairs = PairProblem.of(problem, M)
    bound = spectral.spectral_bound(pairs, Budget(), np.random.default_rng(0)).bound
    assert value <= bound < 1.03 * value
    assert bound < 0.95 * pairs.edge_bound


def test_low_rank_bounds_keep_the_time_and_improve(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: 1e-3 * next(ticks))  # a tick a look
    monkeypatch.setattr(budget, "time", clock)
    M = gbb.instances.absolute_normal(4, seed=2, distinct_couple=True, zeta=0.0)
    pairs = PairProblem.of(gbb.Problem(gbb.Graph.random(12, 0.6, seed=0), np.eye(4)), M)
    rng = np.random.default_rng(0)
    spent = Budget()
    found = list(sdp.low_rank_bounds(pairs, None, Budget(1.0), rng))
    assert spent.elapsed < 1.1
    assert min(found) < found[0]


def test_ctrl_c_keeps_the_bounds_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sdp, "low_rank_bounds", interrupt)
    M = gbb.instances.absolute_normal(5, seed=2, distinct_couple=True, zeta=0.0)
    problem = gbb.Problem(gbb.Graph.random(30, 0.6, seed=0), np.eye(5))
    found = solve(problem, M, method="sdp")
    assert found.bound_method == "spectral"


@pytest.mark.parametrize("n", [5, 299, 420])
def test_largest_eigenvalue_is_bounded_closely(n: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    A += A.T
    top = np.linalg.eigvalsh(A)[-1]
    for matrix in (A, sparse.csr_array(A)):
        bound = eigenvalues.largest_eigenvalue(matrix, rng)
        assert top <= bound <= top + 1e-3 * abs(top)


def test_largest_eigenvalue_of_a_matrix_too_large_to_factor() -> None:
    graph = gbb.Graph.random(3500, 0.003, seed=0)
    A = graph.to_sparse()
    top = sparse.linalg.eigsh(A, k=1, which="LA", return_eigenvectors=False)[0]
    rng = np.random.default_rng(0)
    assert top <= eigenvalues.largest_eigenvalue(A, rng) <= 1.05 * top
    hasty = eigenvalues.largest_eigenvalue(A, rng, Budget(1e-6))
    assert hasty >= top


def test_a_flat_direction_does_not_stop_the_factorisation() -> None:
    A = np.diag(np.r_[np.zeros(400), 5.0])
    assert 5.0 <= eigenvalues.largest_eigenvalue(A, np.random.default_rng(0)) < 5.01


def test_what_no_factor_proves_is_bounded_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.ones((301, 301))
    monkeypatch.setattr(eigenvalues, "lanczos", lambda *_: (-1e-9, 1e-9, 2))
    assert eigenvalues.largest_eigenvalue(A, np.random.default_rng(0)) == 301.0
