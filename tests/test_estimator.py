import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb.learning.record import empty, from_dict, observe
from strategies import environments


@st.composite
def histories(draw):
    """An environment with a few rounds of arbitrary allocations and rewards, and a lambda."""
    env = draw(environments(max_n=4, max_K=3))
    rounds = draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    allocations = rng.integers(env.problem.K, size=(rounds, env.problem.n))
    rewards = [env.draw(1, allocation, rng) for allocation in allocations]
    return env.problem, allocations, rewards, draw(st.sampled_from([0.1, 1.0, 3.0]))


def record_of(problem, allocations, rewards):
    record = empty(problem)
    for allocation, paid in zip(allocations, rewards, strict=True):
        record = record.merge(observe(problem, allocation, paid))
    return record


@given(history=histories())
def test_A_and_b_from_the_tables_are_the_sums_over_edges(history):
    problem, allocations, rewards, lam = history
    ridge = gbb.Ridge(problem, record_of(problem, allocations, rewards), lam)
    edges = problem.graph.edges
    A = naive.gram(problem.arms, edges, allocations, lam)
    b = naive.responses(problem.arms, edges, allocations, rewards)
    assert pytest.approx(A, rel=1e-13, abs=1e-13 * np.abs(A).max()) == ridge.A
    assert ridge.b == pytest.approx(b, rel=1e-13, abs=1e-12 * max(1.0, np.abs(b).max()))


@given(history=histories())
def test_theta_hat_is_least_squares_on_every_edge_reward(history):
    problem, allocations, rewards, lam = history
    ridge = gbb.Ridge(problem, record_of(problem, allocations, rewards), lam)
    expected = naive.theta_hat(problem.arms, problem.graph.edges, allocations, rewards, lam)
    size = max(1.0, float(np.abs(expected).max()))
    assert ridge.theta_hat == pytest.approx(expected, abs=1e-11 * size)
    assert ridge.M_hat == pytest.approx(
        expected.reshape(problem.d, -1, order="F"), abs=1e-11 * size
    )
    assert not ridge.theta_hat.flags.writeable


@given(history=histories())
def test_widths_are_norms_in_the_inverse(history):
    problem, allocations, rewards, lam = history
    ridge = gbb.Ridge(problem, record_of(problem, allocations, rewards), lam)
    vectors = np.vstack([problem.edge_arms, np.eye(problem.d**2)])
    inverse = np.linalg.inv(ridge.A)
    expected = [np.sqrt(max(v @ inverse @ v, 0.0)) for v in vectors]
    assert ridge.width(vectors) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(history=histories())
def test_A_commutes_with_transposition(history):
    problem, allocations, rewards, lam = history
    A = gbb.Ridge(problem, record_of(problem, allocations, rewards), lam).A
    d = problem.d
    # The permutation of coordinates that takes vec(M) to vec(M').
    transposed = np.arange(d * d).reshape(d, d).T.ravel()
    P = np.eye(d * d)[transposed]
    assert pytest.approx(A @ P, rel=1e-14, abs=1e-14 * np.abs(A).max()) == P @ A


@given(history=histories(), data=st.data())
def test_records_add_up_over_rounds_and_shards_of_the_graph(history, data):
    problem, allocations, rewards, _ = history
    whole = record_of(problem, allocations, rewards)
    split = data.draw(st.integers(0, len(allocations)))
    early = record_of(problem, allocations[:split], rewards[:split])
    late = record_of(problem, allocations[split:], rewards[split:])
    both = late.merge(early)
    assert np.array_equal(both.N, whole.N)
    assert pytest.approx(whole.Y, abs=1e-12) == both.Y
    # Two servers, each with the edges it owns: the tables of their sums are the sums of tables.
    K, edges = problem.K, problem.graph.edges
    owner = data.draw(st.lists(st.booleans(), min_size=problem.m, max_size=problem.m))
    N, Y = np.zeros((2, K, K)), np.zeros((2, K, K))
    for allocation, paid in zip(allocations, rewards, strict=True):
        for (i, j), y, who in zip(edges, paid, owner, strict=True):
            N[int(who), allocation[i], allocation[j]] += 1
            Y[int(who), allocation[i], allocation[j]] += y
    shards = gbb.Record(N[0], Y[0]).merge(gbb.Record(N[1], Y[1]))
    assert np.array_equal(shards.N, whole.N)
    assert pytest.approx(whole.Y, abs=1e-12) == shards.Y


def test_a_record_counts_directed_edges():
    graph = gbb.Graph.path(3)
    problem = gbb.Problem(graph, np.eye(2))
    record = observe(problem, np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    # Edges (0,1), (1,0), (1,2), (2,1) are played with (0,1), (1,0), (1,1), (1,1).
    assert record.N.tolist() == [[0, 1], [1, 2]]
    assert record.Y.tolist() == [[0.0, 1.0], [2.0, 7.0]]
    assert record.N.dtype == np.int64


def test_merging_leaves_both_records_alone():
    problem = gbb.Problem(gbb.Graph.path(2), np.eye(2))
    one, two = empty(problem), gbb.Record(np.ones((2, 2), dtype=int), np.ones((2, 2)))
    merged = one.merge(two)
    merged.N[0, 0] = 9
    assert one.N.sum() == 0
    assert two.N.sum() == 4


def test_before_the_first_round_there_is_only_lambda():
    problem = gbb.Problem(gbb.Graph.path(2), np.eye(2))
    ridge = gbb.Ridge(problem, empty(problem), 4.0)
    assert np.array_equal(ridge.A, 4 * np.eye(4))
    assert np.array_equal(ridge.theta_hat, np.zeros(4))
    assert ridge.width(np.eye(4)) == pytest.approx(0.5)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan])
def test_lambda_must_be_positive(lam):
    problem = gbb.Problem(gbb.Graph.path(2), np.eye(2))
    with pytest.raises(gbb.InputError, match="`lam` to be a finite number > 0"):
        gbb.Ridge(problem, empty(problem), lam)


def high_precision(problem, record, lam):
    """theta_hat and the widths of the edge-arms, solved with 80 digits."""
    with mpmath.workdps(80):
        d, K = problem.d, problem.K
        X = [[mpmath.mpf(float(x)) for x in row] for row in problem.arms]
        z = [[x[i] * y[j] for j in range(d) for i in range(d)] for x in X for y in X]
        A, b = mpmath.eye(d * d) * lam, mpmath.zeros(d * d, 1)
        for p in range(K * K):
            for u in range(d * d):
                b[u] += z[p][u] * float(record.Y.flat[p])
                for v in range(d * d):
                    A[u, v] += int(record.N.flat[p]) * z[p][u] * z[p][v]
        theta = mpmath.lu_solve(A, b)
        widths = []
        for row in z:
            column = mpmath.matrix(row)
            widths.append(float(mpmath.sqrt((column.T * mpmath.lu_solve(A, column))[0])))
        return np.array([float(value) for value in theta]), np.array(widths)


@pytest.mark.parametrize("seed", range(4))
def test_arms_of_very_different_norms_keep_their_accuracy(seed):
    # Arm norms from 1e-6 to 1e6: A has condition number 1e24, beyond any solve with A itself.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 2))
    X *= (np.geomspace(1e-6, 1e6, 5) / np.linalg.norm(X, axis=1))[:, None]
    problem = gbb.Problem(gbb.Graph.complete(4), X)
    N = rng.integers(0, 50, size=(5, 5))
    record = gbb.Record(N + N.T, (N + N.T) * rng.normal(size=(5, 5)))
    ridge = gbb.Ridge(problem, record, 1.0)
    theta, widths = high_precision(problem, record, 1.0)
    # Solving with A itself loses between 1e-10 and 1e-3 here.
    assert np.linalg.norm(ridge.theta_hat - theta) <= 1e-11 * np.linalg.norm(theta)
    assert ridge.width(problem.edge_arms) == pytest.approx(widths, rel=1e-13)


def test_a_discounted_record_is_weighted_least_squares():
    rng = np.random.default_rng(0)
    problem = gbb.Problem(gbb.Graph.complete(4), rng.normal(size=(3, 2)))
    record = gbb.Record(rng.integers(0, 9, size=(3, 3)), rng.normal(size=(3, 3)))
    half = gbb.Ridge(problem, record.discount(0.5), 1.0)
    z = problem.edge_arms
    A = np.eye(4) + 0.5 * (z * record.N.reshape(-1, 1)).T @ z
    assert pytest.approx(A) == half.A
    assert half.theta_hat == pytest.approx(np.linalg.solve(A, 0.5 * record.Y.ravel() @ z))
    assert half.log_det == pytest.approx(np.linalg.slogdet(A)[1])
    assert gbb.Ridge(problem, record, 3.0).log_det == pytest.approx(
        np.linalg.slogdet(gbb.Ridge(problem, record, 3.0).A / 3.0)[1]
    )


@pytest.mark.parametrize("edge_types", [None, "source"])
@pytest.mark.parametrize("arms", [np.eye(3), np.diag([1.0, 2.0, 0.5]), 2 * np.eye(4)[[0, 2]]])
def test_widths_along_any_vector_for_orthogonal_arms(arms, edge_types):
    """In the span of the edge-arms and beyond it, in the order in which vec stacks columns."""
    problem = gbb.Problem(gbb.Graph.complete(3), arms, edge_types=edge_types)
    rng = np.random.default_rng(0)
    N = rng.integers(0, 9, (problem.types, problem.K, problem.K))
    ridge = gbb.Ridge(problem, gbb.Record(N, np.zeros(N.shape)), 0.7)
    vectors, size = rng.normal(size=(5, problem.d**2)), problem.d**2
    inverse = np.linalg.inv(ridge.A)
    for g, widths in enumerate(np.atleast_2d(ridge.width(vectors))):
        own = inverse[g * size : (g + 1) * size, g * size : (g + 1) * size]
        expected = np.sqrt(np.einsum("ri,ij,rj->r", vectors, own, vectors))
        np.testing.assert_allclose(widths, expected, rtol=1e-12)


@given(history=histories(), data=st.data())
def test_the_part_seen_in_both_directions_adds_up_beside_the_whole(history, data):
    """Of rounds that lose some directions, against a record of the links that kept both."""
    problem, allocations, rewards, _ = history
    graph, whole, part = problem.graph, empty(problem), empty(problem)
    for allocation, paid in zip(allocations, rewards, strict=True):
        size = {"min_size": problem.m, "max_size": problem.m}
        seen = np.array(data.draw(st.lists(st.booleans(), **size)))
        both = seen & seen[graph.reverse]
        whole = whole.merge(observe(problem, allocation, np.where(seen, paid, np.nan)))
        part = part.merge(observe(problem, allocation, np.where(both, paid, np.nan)))
    for record in (
        whole,
        whole.merge(empty(problem)),
        from_dict(whole.to_dict()),
        pickle.loads(pickle.dumps(whole)),
        whole.resize(problem),
    ):
        found = record.two_way_part
        assert found.two_way
        assert np.array_equal(found.N, part.N)
        assert pytest.approx(part.Y, abs=1e-12) == found.Y
        assert found.count == part.count <= record.count
        assert found.squares == pytest.approx(part.squares)
    faded = whole.discount(0.5)
    assert pytest.approx(part.N / 2) == faded.two_way_part.N
    assert (whole.paired is None) == np.array_equal(whole.N, part.N)


def test_a_pickled_record_leaves_its_estimates_behind():
    problem = gbb.Problem(gbb.Graph.path(2), np.eye(2))
    record = empty(problem)
    first = gbb.Ridge.of(problem, record, 1.0, symmetric=False)
    assert gbb.Ridge.of(problem, record, 1.0, symmetric=False) is first
    assert gbb.Ridge.of(problem, record, 2.0, symmetric=False) is not first
    assert pickle.loads(pickle.dumps(record)).estimates == {}


@pytest.mark.parametrize("feedback", ["agent", "global"])
def test_nothing_is_claimed_of_a_regime_that_was_never_in_play(feedback):
    """Exactly: a mean that is rounding would decide between arms that tie."""
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(4, 3)) * np.logspace(-2, 2, 4)[:, None]
    regimes = gbb.contexts.Regimes(2)
    problem = gbb.Problem(gbb.Graph.circle(5), arms, contexts=regimes, feedback=feedback)
    record = empty(problem)
    for _ in range(5):
        now, played = problem.at(0), rng.integers(0, 4, 5)
        record = record.merge(observe(now, played, rng.normal(size=now.observations)))
    ridge = gbb.Ridge(problem.at(1), record, 0.7)
    assert ridge.means[0].any()
    assert not ridge.means[1].any()
    unseen = np.linalg.norm(problem.edge_arms, axis=1).reshape(4, 4) / np.sqrt(0.7)
    np.testing.assert_allclose(ridge.widths[1], unseen, rtol=1e-15)
