"""LowPopArt: its bound in the operator norm holds at its rate, and is not idle."""

import os

import numpy as np
import pytest

import gbb
from gbb.learning import LowPopArt, LowRank, empty
from gbb.policies import ExploreThenCommit

RUNS = int(os.environ.get("GBB_COVERAGE_RUNS", "150"))


def explored(env, rounds, rng):
    """A record of random arms, the noise of each kind of edge-arm drawn at once."""
    problem, edges = env.problem, env.problem.graph.edges
    arms = rng.integers(problem.K, size=(rounds, problem.n))
    code = (arms[:, edges[:, 0]] * problem.K + arms[:, edges[:, 1]]).ravel()
    paid = env.reward_table.ravel()[code] + problem.sigma * env.law(rng, code.size)
    size, shape = problem.K**2, (problem.K, problem.K)
    N = np.bincount(code, minlength=size).reshape(shape)
    return gbb.Record(N, np.bincount(code, weights=paid, minlength=size).reshape(shape))


def instance(rng, *, d=4, r=1, K=9, sigma=0.3, noise="gaussian", scale=1.0):
    arms = rng.normal(size=(K, d))
    M = rng.normal(size=(d, r)) @ rng.normal(size=(r, d))
    M *= scale / np.linalg.norm(M)
    problem = gbb.Problem(gbb.Graph.circle(5), arms, sigma=sigma * scale, S=scale * (1 + 1e-9))
    return gbb.Environment(problem, M, noise=noise)


def norm(M):
    return np.linalg.norm(M, 2)


@pytest.mark.parametrize("noise", ["gaussian", "rademacher", "uniform"])
def test_the_bound_covers_at_its_rate_and_is_not_idle(noise):
    rng, missed, shares = np.random.default_rng(5), 0, []
    delta = 0.5
    for _ in range(RUNS):
        env = instance(rng, noise=noise)
        record = explored(env, 40, rng)
        found = LowPopArt(env.problem, record, None, 0.1, delta)
        off = norm(found.ridge - env.M_star)
        missed += off > found.tau
        shares.append(off / found.tau)
        assert off > found.tau or norm(found.M_hat - env.M_star) <= found.operator_norm_bound
    # A miss has probability 1/2 at most; the bound for the worst direction is within a factor of 3.
    assert missed <= delta * RUNS + 3 * np.sqrt(RUNS / 4)
    assert np.mean(shares) > 1 / 3


def test_noise_that_is_larger_than_stated_breaks_the_bound():
    rng, missed = np.random.default_rng(6), 0
    for _ in range(30):
        env = instance(rng)
        stated = gbb.Problem(env.problem.graph, env.problem.arms, sigma=0.03, S=1.1)
        found = LowPopArt(stated, explored(env, 40, rng), None, 0.1, 0.5)
        missed += norm(found.ridge - env.M_star) > found.tau
    assert missed >= 25


def test_the_bias_of_the_regulariser_is_covered_without_noise():
    rng = np.random.default_rng(7)
    for lam in (1e-3, 1.0, 1e3):
        env = instance(rng, sigma=0.0, r=2)
        found = LowPopArt(env.problem, explored(env, 30, rng), None, lam)
        assert norm(found.ridge - env.M_star) <= found.tau
        # Where next to nothing was seen of some direction, nothing is claimed of it.
        seen = LowPopArt(env.problem, explored(env, 0, rng), None, lam)
        assert seen.tau == pytest.approx(env.problem.S)
        assert not seen.M_hat.any()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_the_rank_comes_out_and_the_errors_shrink_with_the_rounds(scale):
    rng = np.random.default_rng(8)
    env = instance(rng, r=2, scale=scale)
    bounds = []
    for rounds in (50, 800, 12_800):
        record = explored(env, rounds, rng)
        found = LowPopArt(env.problem, record)
        told = LowPopArt(env.problem, record, 2)
        rank = np.linalg.matrix_rank(found.M_hat)
        assert rank <= 2
        assert norm(found.ridge - env.M_star) <= found.tau
        for each in (found, told):
            off = each.M_hat - env.M_star
            assert norm(off) <= each.operator_norm_bound <= 2 * each.tau * (1 + 1e-9)
            assert np.linalg.norm(off) <= 2 * each.tau * np.sqrt(2 * 2)
        bounds.append(found.tau / scale)
    assert rank == 2
    # 16 times the rewards, a quarter of the error, up to the bias of lam = 1.
    assert bounds[1] / bounds[0] == pytest.approx(0.25, abs=0.06)
    assert bounds[2] / bounds[1] == pytest.approx(0.25, abs=0.02)


def test_the_spread_is_its_formula():
    rng = np.random.default_rng(9)
    env = instance(rng, d=3, K=5)
    problem, record = env.problem, explored(env, 20, rng)
    A = 0.7 * np.eye(9) + record.gram(problem)
    rows = columns = np.zeros((3, 3))
    for a, b in np.ndindex(5, 5):
        z = np.outer(problem.arms[a], problem.arms[b]).ravel(order="F")
        W = np.linalg.solve(A, z).reshape(3, 3, order="F")
        rows, columns = rows + record.N[a, b] * W @ W.T, columns + record.N[a, b] * W.T @ W
    found = LowPopArt(problem, record, None, 0.7)
    assert found.variance == pytest.approx(max(norm(rows), norm(columns)))
    np.testing.assert_allclose(found.ridge, gbb.Ridge(problem, record, 0.7).M_hat, atol=1e-9)


def test_the_estimate_over_matrices_of_low_rank_has_the_certificate_too():
    rng = np.random.default_rng(10)
    for _ in range(10):
        env = instance(rng)
        record = explored(env, 60, rng)
        found = LowRank(env.problem, record, 1, 0.1)
        assert norm(found.M_hat - env.M_star) <= found.operator_norm_bound(0.05)
        assert found.operator_norm_bound(0.5) < found.operator_norm_bound(0.05)


def test_the_policy_commits_by_either_estimate():
    rng = np.random.default_rng(11)
    env = instance(rng, d=5, K=12, sigma=0.1)
    cut = gbb.cuts.greedy(env.problem.graph)
    policies = [
        ExploreThenCommit(env.problem, cut=cut, rank=1, exploration=60, estimator=name, name=name)
        for name in ("low_rank", "low_pop_art")
    ]
    for policy in policies:
        record = explored(env, 60, rng)
        M = {"low_rank": LowRank, "low_pop_art": LowPopArt}[policy.estimator]
        X = env.problem.arms
        wanted = cut.couple_values(X @ M(env.problem, record, 1, 1.0).M_hat @ X.T)
        np.testing.assert_allclose(policy.couple_values(record), wanted)
    with pytest.raises(
        gbb.InputError, match="`estimator` to be one of 'low_pop_art', 'low_rank', 'ridge'"
    ):
        ExploreThenCommit(env.problem, cut=cut, exploration=9, estimator="svd")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 9}, "`rank` to be a whole number >= 1 and <= 4"),
        ({"lam": 0.0}, "`lam` to be a finite number > 0"),
        ({"delta": 2.0}, "`delta` to be a finite number > 0 and <= 1"),
    ],
)
def test_bad_settings_of_the_certificate_are_refused(options, message):
    env = instance(np.random.default_rng(0))
    with pytest.raises(gbb.InputError, match=message):
        LowPopArt(env.problem, empty(env.problem), **options)
