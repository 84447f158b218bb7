import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb.learning import empty, observe
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.learning.radius import RADII, RADII_BY_ROUND, confidence_radius
from strategies import arm_sets, graphs


def symmetric_basis(d):
    """An orthonormal basis of the symmetric matrices, as columns of length d^2."""
    columns = []
    for i in range(d):
        for j in range(i, d):
            E = np.zeros((d, d))
            E[i, j] = E[j, i] = 1.0
            columns.append(naive.vec(E / np.linalg.norm(E)))
    return np.array(columns).T


def played(problem, rounds, seed):
    """The table N of some rounds of random allocations."""
    rng = np.random.default_rng(seed)
    record = empty(problem)
    for _ in range(rounds):
        allocation = rng.integers(problem.K, size=problem.n)
        zeros = np.zeros(problem.m)
        record = record.merge(observe(problem, allocation, zeros))
    return record


def radius_of(name, problem, record, t, *, lam, delta):
    """The radius of this name after t rounds with this record."""
    if name in RADII_BY_ROUND:
        return float(RADII_BY_ROUND[name](problem, np.array(float(t)), lam, delta))
    return confidence_radius(gbb.Ridge(problem, record, lam, symmetric=name == "symmetric"), delta)


@given(
    graph=graphs(max_n=5),
    arms=arm_sets(),
    rounds=st.integers(0, 20),
    seed=st.integers(0, 99),
    lam=st.sampled_from([0.5, 1.0, 4.0]),
)
def test_the_symmetric_radius_is_that_of_A_on_symmetric_matrices(graph, arms, rounds, seed, lam):
    problem = gbb.Problem(graph, arms, sigma=0.7, S=1.3)
    record = played(problem, rounds, seed)
    B = symmetric_basis(problem.d)
    A_sym = B.T @ gbb.Ridge(problem, record, lam).A @ B
    log_det = np.linalg.slogdet(A_sym / lam)[1]
    assert gbb.Ridge(problem, record, lam, symmetric=True).log_det == pytest.approx(
        log_det, rel=1e-9, abs=1e-9
    )
    expected = 0.7 * np.sqrt(log_det + 2 * np.log(1 / 0.05)) + np.sqrt(lam) * 1.3
    size = radius_of("symmetric", problem, record, rounds, lam=lam, delta=0.05)
    assert size == pytest.approx(expected, rel=1e-9)


@given(
    graph=graphs(max_n=5),
    arms=arm_sets(max_d=3),
    rounds=st.integers(0, 30),
    seed=st.integers(0, 99),
    delta=st.sampled_from([1e-3, 0.1, 0.5]),
)
def test_the_symmetric_radius_is_the_smaller_from_two_dimensions_on(
    graph, arms, rounds, seed, delta
):
    problem = gbb.Problem(graph, arms)
    record = played(problem, rounds, seed)
    small, large = (
        radius_of(name, problem, record, rounds, lam=1.0, delta=delta)
        for name in ("symmetric", "paper")
    )
    # log det <= D log(1 + t m L^2 / (lam D)), D = d (d + 1) / 2 <= d^2, and 2 <= d^2 unless d = 1.
    if problem.d > 1:
        assert small <= large + 1e-12


@given(arms=arm_sets())
def test_symmetric_edge_arms_keep_dot_products(arms):
    K, d = arms.shape
    rows = symmetric_edge_arms(arms)
    assert rows.shape == (K * K, d * (d + 1) // 2)
    halves = []
    for a in range(K):
        for b in range(K):
            Z = np.outer(arms[a], arms[b])
            halves.append(naive.vec((Z + Z.T) / 2))
    halves = np.array(halves)
    assert rows @ rows.T == pytest.approx(halves @ halves.T, abs=1e-12)


def test_the_papers_radius_by_hand():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3) * 2, sigma=0.5, S=4.0)
    # d^2 = 9, m = 20, L = 4, t = 7: log((1 + 7 * 20 * 16 / 2) / 0.01) = log(112100).
    expected = 0.5 * 3 * np.sqrt(np.log(112_100)) + np.sqrt(2) * 4
    assert radius_of("paper", problem, None, 7, lam=2.0, delta=0.01) == pytest.approx(
        expected, rel=1e-14
    )
    twin = naive.paper_radius(sigma=0.5, S=4.0, L=4.0, d=3, m=20, t=7, lam=2.0, delta=0.01)
    assert twin == pytest.approx(expected, rel=1e-14)


def test_the_released_radius_by_hand():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3), sigma=0.5, S=4.0)
    expected = 0.5 * 9 * np.sqrt(np.log((1 + 7 / 2) / 0.01)) + np.sqrt(2) * 8
    assert radius_of("released", problem, None, 7, lam=2.0, delta=0.01) == pytest.approx(
        expected, rel=1e-14
    )


@pytest.mark.parametrize("name", RADII)
def test_radii_grow_with_what_was_played_and_with_confidence(name):
    problem = gbb.Problem(gbb.Graph.complete(4), np.random.default_rng(0).normal(size=(3, 2)))
    values = [
        radius_of(name, problem, played(problem, t, 0), t, lam=1.0, delta=0.1) for t in (0, 5, 50)
    ]
    assert values == sorted(values)
    record = played(problem, 5, 0)
    by_delta = [
        radius_of(name, problem, record, 5, lam=1.0, delta=delta) for delta in (1.0, 0.5, 0.01)
    ]
    assert by_delta[0] < by_delta[1] < by_delta[2]


@pytest.mark.parametrize("name", ["paper", "symmetric"])
def test_without_noise_only_the_bias_remains(name):
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(2), sigma=0.0, S=3.0)
    record = played(problem, 5, 0)
    assert radius_of(name, problem, record, 5, lam=4.0, delta=0.1) == pytest.approx(6.0)
