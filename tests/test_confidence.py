"""The confidence that certificates rest on: it agrees with plain matrices, and it holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import gbb
import naive
from gbb.learning import Confidence, Tuples, empty, observe
from indices import couple_vectors
from strategies import environments


def played(env, rounds, seed):
    """The record of random rounds, and their allocations and rewards."""
    rng, problem = np.random.default_rng(seed), env.problem
    record, allocations, rewards = empty(problem), [], []
    for _ in range(rounds):
        arms = rng.integers(problem.K, size=problem.n)
        paid = env.draw(1, arms, rng)
        record = record.merge(observe(problem, arms, paid))
        allocations.append(arms)
        rewards.append(paid)
    return record, allocations, rewards


@settings(max_examples=60, deadline=None)
@given(environments(), st.integers(0, 4), st.floats(0.1, 5.0), st.integers(0, 99))
def test_agrees_with_plain_matrices_on_couples(env, rounds, lam, seed):
    problem = env.problem
    arms, edges = problem.arms, problem.graph.edges
    record, allocations, rewards = played(env, rounds, seed)
    cut = gbb.cuts.greedy(problem.graph)
    seen = Confidence(problem, record, lam)
    assert seen.symmetric
    A = naive.gram(arms, edges, allocations, lam)
    b = naive.responses(arms, edges, allocations, rewards)
    inverse = np.linalg.inv(A)
    objectives = couple_vectors(gbb.policies.ImprovedOFUL(problem, cut=cut))
    couples = Tuples(problem, cut.sides.astype(int), 2, problem.edge_weights)
    values = couples.combine(seen.ridge.means)
    scale = 1 + np.abs(values).max()
    np.testing.assert_allclose(values, objectives @ inverse @ b, atol=1e-8 * scale)
    chosen, radius = int(np.argmax(values)), 1.7
    excess = seen.excess(couples.combine, chosen, radius)
    for position, v in enumerate(objectives):
        gone = v - objectives[chosen]
        wanted = gone @ inverse @ b + radius * np.sqrt(max(gone @ inverse @ gone, 0.0))
        wanted += lam * problem.S * np.linalg.norm(inverse @ gone)
        wanted = min(wanted, problem.S * np.linalg.norm(gone))
        assert excess[position] == pytest.approx(wanted, abs=2e-7 * scale * (1 + problem.S))
    assert excess[chosen] == 0.0


@settings(max_examples=40, deadline=None)
@given(environments(), st.integers(0, 4), st.integers(0, 99))
def test_the_ellipsoid_is_that_of_the_symmetric_radius(env, rounds, seed):
    problem = env.problem
    record, _, _ = played(env, rounds, seed)
    grown = gbb.Ridge(problem, record, 0.5, symmetric=True).log_det + 2 * np.log(1 / 0.03)
    found = Confidence(problem, record, 0.5).ellipsoid(0.03)
    assert found == pytest.approx(problem.sigma * np.sqrt(grown), rel=1e-9)


def test_one_direction_alone_is_seen_in_all_dimensions():
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2), S=2.0)
    record = gbb.Record(np.array([[0, 3], [0, 0]]), np.array([[0.0, 6.0], [0.0, 0.0]]))
    seen = Confidence(problem, record, 1.0)
    assert not seen.symmetric
    assert seen.ridge.means.ravel() == pytest.approx([0.0, 1.5, 0.0, 0.0])
    assert seen.ellipsoid(0.1) == pytest.approx(np.sqrt(np.log(4) + 2 * np.log(10)))


def test_what_plays_the_same_edge_arms_has_no_excess():
    # With m1 = m2 the couples (a, b) and (b, a) have the same sum of edge-arms.
    graph = gbb.Graph.complete(4)
    cut = gbb.cuts.greedy(graph)
    assert cut.m1 == cut.m2
    problem = gbb.Problem(graph, np.random.default_rng(0).normal(size=(3, 3)), S=3.0)
    env = gbb.Environment(problem, np.random.default_rng(1).normal(size=(3, 3)))
    record, _, _ = played(env, 40, 3)
    couples = Tuples(problem, cut.sides.astype(int), 2, problem.edge_weights)
    excess = Confidence(problem, record).excess(couples.combine, 1, 5.0).reshape(3, 3)
    assert excess[0, 1] == excess[1, 0] == 0.0


@pytest.mark.parametrize("law", ["gaussian", "rademacher"])
def test_the_union_bound_holds_and_is_of_the_right_size(law):
    # One vector, one side: the bound exp(-r^2 / 2) = delta of a Gaussian's tail is about 5 times it.
    delta, runs = 0.3, 400
    problem = gbb.Problem(gbb.Graph.circle(5), [[1.0, 0.3], [0.2, -1.0]], sigma=2.0, S=1.0)
    env = gbb.Environment(problem, [[0.4, 0.3], [-0.2, 0.1]], noise=law)
    v = np.array([2.0, 1.0, 1.0, -3.0])
    truth = v @ env.reward_table.ravel()
    misses = 0
    for seed in range(runs):
        record, _, _ = played(env, 30, seed)
        seen = Confidence(problem, record, 1e-6)
        white = seen.whitened.reshape(4, -1)
        bound = v @ seen.ridge.means.ravel() + seen.union(1, delta) * np.linalg.norm(v @ white)
        misses += truth > bound
    assert binom.ppf(1e-4, runs, 0.03) < misses < binom.ppf(0.9999, runs, 0.1)


def test_the_ellipsoid_holds_for_the_worst_vector_after_every_round():
    delta, runs, misses = 0.3, 100, 0
    problem = gbb.Problem(gbb.Graph.circle(3), np.eye(2), sigma=1.5, S=1.0)
    env = gbb.Environment(problem, [[0.4, 0.3], [-0.2, 0.1]])
    for run in range(runs):
        rng, record, missed = np.random.default_rng(run), empty(problem), False
        for _ in range(60):
            arms = rng.integers(2, size=3)
            paid = env.draw(1, arms, rng)
            record = record.merge(observe(problem, arms, paid))
            seen = Confidence(problem, record, 1.0)
            truth = env.reward_table + env.reward_table.T
            white = seen.whitened.reshape(4, -1)[[0, 1, 3]]
            A = np.linalg.inv(white @ white.T)
            gone = (seen.ridge.means.ravel() - truth.ravel() / 2)[[0, 1, 3]]
            limit = seen.ellipsoid(delta) + np.sqrt(seen.lam) * problem.S
            missed |= np.sqrt(gone @ A @ gone) > limit
        misses += missed
    assert misses <= binom.ppf(0.999, runs, delta)


def test_a_bad_regulariser_is_refused():
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2))
    with pytest.raises(gbb.InputError, match="`lam` to be a finite number > 0"):
        Confidence(problem, empty(problem), 0.0)
