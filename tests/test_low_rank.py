"""The estimator that knows the rank, and the policy that commits by it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import gbb
from gbb.learning import empty, observe
from gbb.policies import ExploreThenCommit
from strategies import environments


def low_rank(problem, **settings):
    return ExploreThenCommit(problem, estimator="low_rank", **settings)


def sphere(K, d, rng):
    arms = rng.normal(size=(K, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


def matrix(d, r, rng, norm=1.0):
    M = rng.normal(size=(d, r)) @ rng.normal(size=(r, d))
    return norm * M / np.linalg.norm(M)


def played(env, rounds, seed):
    rng, problem = np.random.default_rng(seed), env.problem
    record = empty(problem)
    for _ in range(rounds):
        arms = rng.integers(problem.K, size=problem.n)
        paid = env.draw(1, arms, rng)
        record = record.merge(observe(problem, arms, paid))
    return record


def instance(seed, *, d=8, r=1, K=24, n=5, sigma=0.1, noise="gaussian"):
    rng = np.random.default_rng(seed)
    problem = gbb.Problem(gbb.Graph.complete(n), sphere(K, d, rng), sigma=sigma, S=1.0)
    return gbb.Environment(problem, matrix(d, r, rng), noise=noise)


def symmetric_error(env, M):
    gone = M - env.M_star
    truth = env.M_star + env.M_star.T
    return np.linalg.norm(gone + gone.T) / np.linalg.norm(truth)


@settings(max_examples=60, deadline=None)
@given(environments(), st.integers(0, 5), st.floats(0.1, 5.0), st.integers(0, 99))
def test_with_full_rank_it_is_the_ridge_estimate(env, rounds, lam, seed):
    record = played(env, rounds, seed)
    found = gbb.LowRank(env.problem, record, env.problem.d, lam)
    wanted = gbb.Ridge(env.problem, record, lam)
    scale = 1 + np.abs(wanted.M_hat).max()
    np.testing.assert_allclose(found.M_hat, wanted.M_hat, atol=1e-8 * scale)
    np.testing.assert_allclose(found.M_hat, wanted.M_hat, atol=1e-8 * scale)


@settings(max_examples=60, deadline=None)
@given(environments(max_d=3), st.integers(1, 3), st.integers(0, 5), st.integers(0, 99))
def test_has_the_rank_and_is_no_worse_than_the_truncated_ridge(env, rank, rounds, seed):
    rank = min(rank, env.problem.d)
    record = played(env, rounds, seed)
    found = gbb.LowRank(env.problem, record, rank)
    values = np.linalg.svd(found.M_hat, compute_uv=False)
    assert (values[rank:] <= 1e-9 * (1 + values[0])).all()
    u, s, v = np.linalg.svd(gbb.Ridge(env.problem, record).M_hat)
    truncated = (u[:, :rank] * s[:rank]) @ v[:rank]
    best = found.objective(found.M_hat)
    assert best <= found.objective(truncated) + 1e-8 * (1 + abs(best))
    assert best <= 1e-9  # that of the zero matrix is 0


@pytest.mark.parametrize("rank", [1, 2])
def test_nothing_near_it_is_better(rank):
    """The gradient at the end is orthogonal to all that keeps the row or the column space."""
    for seed in range(5):
        env = instance(seed, r=2)
        record = played(env, 20, seed)
        found = gbb.LowRank(env.problem, record, rank, 0.1)
        X, (U, V) = env.problem.arms, found.factors
        residual = record.N * (X @ found.M_hat @ X.T) - record.Y
        gradient = X.T @ residual @ X + found.lam * found.M_hat
        scale = np.linalg.norm(X.T @ record.Y @ X)
        assert np.linalg.norm(U.T @ gradient) < 1e-4 * scale
        assert np.linalg.norm(gradient @ V) < 1e-4 * scale * np.linalg.norm(V)


def test_finds_the_minimum_that_many_random_starts_find():
    rng = np.random.default_rng(0)
    for seed in range(4):
        env = instance(seed, d=4, r=1, K=8)
        record = played(env, 15, seed)
        found = gbb.LowRank(env.problem, record, 1, 0.05)

        def objective(x, found=found):
            return found.objective(np.outer(x[:4], x[4:]))

        tries = [minimize(objective, rng.normal(size=8)).fun for _ in range(10)]
        assert found.objective(found.M_hat) == pytest.approx(min(tries), rel=1e-6)


def test_recovers_a_matrix_from_fewer_edge_arms_than_it_has_entries():
    env = instance(3, d=8, r=1, K=12, n=4, noise="none")
    record = played(env, 4, 0)
    assert np.count_nonzero(record.N) < 64
    error = symmetric_error(env, gbb.LowRank(env.problem, record, 1, 1e-9).M_hat)
    assert error < 1e-4
    assert symmetric_error(env, gbb.Ridge(env.problem, record, 1e-9).M_hat) > 0.1


def test_beats_ridge_where_the_rank_is_low_and_rounds_are_few():
    errors = []
    for seed in range(8):
        env = instance(seed, d=12, r=1, K=36)
        record = played(env, 60, seed)
        row = [
            min(symmetric_error(env, M_hat(env.problem, record, lam)) for lam in (0.02, 0.2, 2.0))
            for M_hat in (
                lambda *args: gbb.Ridge(args[0], args[1], args[2]).M_hat,
                lambda *args: gbb.LowRank(args[0], args[1], 1, args[2]).M_hat,
            )
        ]
        errors.append(row)
    ridge, low = np.mean(errors, axis=0)
    assert low < 0.6 * ridge


def test_the_directed_fit_beats_the_symmetric_one_of_twice_the_rank():
    directed, folded = [], []
    for seed in range(8):
        env = instance(seed, d=12, r=1, K=36)
        record = played(env, 120, seed)
        sums = gbb.Record((record.N + record.N.T) / 2, (record.Y + record.Y.T) / 2)
        directed.append(symmetric_error(env, gbb.LowRank(env.problem, record, 1, 0.1).M_hat))
        folded.append(symmetric_error(env, gbb.LowRank(env.problem, sums, 2, 0.1).M_hat))
    assert np.mean(directed) < np.mean(folded)


def test_too_low_a_rank_is_an_error_that_stays():
    env = instance(1, d=4, r=4, K=12, sigma=0.01)
    record = played(env, 2000, 0)
    assert symmetric_error(env, gbb.Ridge(env.problem, record).M_hat) < 0.02
    assert symmetric_error(env, gbb.LowRank(env.problem, record, 1).M_hat) > 0.1


@pytest.mark.parametrize(("rank", "value"), [(0, "0"), (3, "3"), (1.5, "1.5")])
def test_bad_ranks_are_refused(rank, value):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    rule = f"`rank` to be a whole number >= 1 and <= 2, but got {value}"
    with pytest.raises(gbb.InputError, match=rule):
        gbb.LowRank(problem, empty(problem), rank)
    with pytest.raises(gbb.InputError, match=rule):
        low_rank(problem, cut=gbb.cuts.greedy(problem.graph), rank=rank, horizon=3)


def test_a_bad_regulariser_is_refused():
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    with pytest.raises(gbb.InputError, match="`lam` to be a finite number > 0"):
        gbb.LowRank(problem, empty(problem), 1, 0.0)


@pytest.mark.parametrize("size", [1e-8, 1e8, 1e40])
def test_arms_of_any_size(size):
    problem = gbb.Problem(gbb.Graph.complete(3), size * np.array([[1.0, 0.2], [0.1, 1.0]]))
    env = gbb.Environment(problem, np.outer([1.0, 0.5], [0.3, 0.2]) / size**2)
    assert np.isfinite(gbb.LowRank(problem, played(env, 10, 0), 1).M_hat).all()


class TestCommitting:
    def couple(self, env, policy, rounds):
        rng, noise = np.random.default_rng(0), np.random.default_rng(1)
        state = policy.init()
        for t in range(rounds + 3):
            choice = policy.select(state, rng)
            assert (choice.couple is None) == (t < rounds)
            state = policy.update(state, choice, env.draw(1, choice.allocation, noise))
        assert state.explored == rounds
        return state.couple, state.record

    def test_commits_to_the_best_couple_of_its_estimate_over_the_cut(self):
        for seed in range(5):
            env = instance(seed, n=5, K=9, d=4)
            cut = gbb.cuts.greedy(env.problem.graph)
            policy = low_rank(env.problem, cut=cut, exploration=12)
            couple, record = self.couple(env, policy, 12)
            X = env.problem.arms
            M = gbb.LowRank(env.problem, record, 1).M_hat
            values = cut.couple_values(X @ M @ X.T)
            assert values[couple] == pytest.approx(values.max())

    def test_earns_more_than_full_rank_after_few_rounds(self):
        earned = []
        for seed in range(12):
            env = instance(seed, d=12, r=1, K=36)
            cut = gbb.cuts.greedy(env.problem.graph)
            best = cut.couple_values(env.reward_table)
            row = []
            for rank in (1, 12):
                policy = low_rank(env.problem, cut=cut, rank=rank, exploration=15, lam=0.2)
                row.append(best[self.couple(env, policy, 15)[0]] / best.max())
            earned.append(row)
        low, full = np.mean(earned, axis=0)
        assert low > full + 0.1
