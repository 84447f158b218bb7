"""Yes/no rewards: an edge pays 1 or 0, with its expected reward as the probability."""

import numpy as np
import pytest

import gbb
from gbb.environment import YES_NO_SIGMA, BoundWarning
from gbb.learning.record import bernoulli_weights
from gbb.policies import BernoulliThompson, JointOFUL, ThompsonSampling

GRAPH = gbb.Graph.complete(4)
M = np.array([[0.1, 0.9], [0.6, 0.0]])


def environment(M=M, sigma=0.5, **options):
    return gbb.Environment(
        gbb.Problem(GRAPH, np.eye(2), sigma=sigma, S=1.2, **options), M, noise="bernoulli"
    )


def test_an_edge_pays_1_as_often_as_it_pays_in_expectation():
    env, rng = environment(), np.random.default_rng(0)
    paid = np.array([env.draw(1, [0, 1, 1, 0], rng) for _ in range(4000)])
    assert set(np.unique(paid)) == {0.0, 1.0}
    expected = env.expected_edge_rewards([0, 1, 1, 0])
    assert paid.mean(axis=0) == pytest.approx(expected, abs=0.04)
    assert not paid[:, expected == 0.0].any()
    apart = np.corrcoef(paid[:, expected > 0.0].T) - np.eye(int((expected > 0.0).sum()))
    assert np.abs(apart).max() < 0.08


@pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 0.5, 0.97, 1.0])
def test_a_half_is_the_variance_proxy_of_every_probability(p):
    s = np.linspace(-60, 60, 1201)
    grown = np.logaddexp(np.log(max(p, 1e-300)) + s, np.log1p(-p) if p < 1 else -1e300) - p * s
    assert (grown <= s**2 * YES_NO_SIGMA**2 / 2 + 1e-9).all()


@pytest.mark.filterwarnings("error")
def test_policies_learn_from_them_and_regret_stays_under_the_bound():
    env = environment()
    cut = gbb.cuts.greedy(GRAPH)
    policies = [JointOFUL(env.problem, cut=cut), ThompsonSampling(env.problem, cut=cut)]
    found = gbb.simulate(env, policies, rounds=300, runs=2, seed=1)
    again = gbb.simulate(env, policies, rounds=300, runs=2, seed=1, method="reference")
    assert (found.regret.values == again.regret.values).all()
    assert found.attrs["noise"] == "bernoulli"
    assert (found.fraction.isel(round=slice(-30, None)).mean("round") > 0.95).all()
    report = gbb.theory.report(env, cut=cut)
    bounds = [report.regret_bound_sharp(t, radius="symmetric") for t in range(1, 301)]
    assert (found.alpha_regret.sel(policy="JointOFUL").values <= bounds).all()


def test_the_best_setting_is_identified_from_them():
    found = gbb.identify(environment(), epsilon=1.0, seed=2, max_rounds=2000)
    best = gbb.optimum.solve(environment().problem, M)
    assert found.certified
    assert best.value - environment().expected_reward(found.allocation) <= 1.0


def test_what_is_no_probability_is_refused():
    with pytest.raises(gbb.InputError, match=r"expected rewards in \[0, 1\] .* but got 0 to 1\.2"):
        environment(np.array([[0.0, 1.2], [0.0, 0.0]]))
    with pytest.raises(gbb.InputError, match=r"`M_star` .* but got -0\.1 to 0"):
        environment(-0.1 * np.eye(2))
    with pytest.raises(gbb.InputError, match="report rewards per edge where these are yes or no"):
        environment(feedback="link")
    heavy = environment(0.5 * np.ones((2, 2)), edge_weights=np.full(GRAPH.m, 3.0))
    with pytest.raises(gbb.InputError, match=r"but got 0 to 1\.5"):
        heavy.draw(1, [0, 0, 0, 0], np.random.default_rng(0))
    with pytest.warns(BoundWarning, match=r"1/2-sub-Gaussian, more than `sigma` = 0\.1"):
        environment(sigma=0.1)
    with pytest.raises(gbb.InputError, match="Did you mean 'bernoulli'"):
        gbb.Environment(environment().problem, M, noise="bernouli")


def test_a_pair_of_arms_counts_by_the_variance_of_its_rewards():
    N = np.array([[0, 8], [12, 200]])
    Y = np.array([[0.0, 4.0], [6.0, 2.0]])
    found = bernoulli_weights(gbb.Record(N, Y))
    rare = 4.5 / 401  # (2 + 2 + 1/2) / (200 + 200 + 1), both directions together
    weight = np.array([[1.0, 1.0], [1.0, 0.25 / (rare * (1 - rare))]])
    np.testing.assert_allclose(found.N, N * weight)
    np.testing.assert_allclose(found.Y, Y * weight)
    sure = bernoulli_weights(gbb.Record(np.full((1, 1), 50), np.full((1, 1), 50.0)))
    assert np.isfinite(sure.N).all()
    assert sure.N > 50
    outside = bernoulli_weights(gbb.Record(np.full((1, 1), 4), np.full((1, 1), -3.0)))
    assert np.isfinite(outside.Y).all()


@pytest.mark.parametrize("known", [{"sigma": None, "S": None}, {"sigma": 0.5, "S": None}])
def test_rewards_are_weighed_once_where_nobody_knows_the_scales(known):
    """And a half is the scale of all yes/no rewards, whatever these seem to vary by."""
    problem = gbb.Problem(GRAPH, np.eye(2), **known)
    env = gbb.Environment(problem, M, noise="bernoulli")
    assert env.sigma == YES_NO_SIGMA
    policy = BernoulliThompson(problem, cut=gbb.cuts.greedy(GRAPH))
    seen = gbb.Record(np.full((2, 2), 90), np.array([[2.0, 85.0], [50.0, 1.0]]), 360.0, 138.0)
    state = policy.absorb(policy.init(), None, seen, rounds=30)
    found = policy.learner.posterior(problem, state)
    assert (found.v, found.problem.sigma) == (YES_NO_SIGMA, YES_NO_SIGMA)
    np.testing.assert_allclose(found.ridge.record.N, bernoulli_weights(seen).N)


def test_weighing_loses_much_less_where_a_yes_is_rare():
    """Of 16 matrices with probabilities up to 0.1 it lost 38 where Thompson sampling lost 129."""
    lost = []
    for seed in range(4):
        M = 0.1 * np.random.default_rng(seed).random((3, 3))
        problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3), sigma=0.5, S=0.3)
        env = gbb.Environment(problem, M, noise="bernoulli")
        cut = gbb.cuts.greedy(problem.graph)
        policies = [ThompsonSampling(problem, cut=cut), BernoulliThompson(problem, cut=cut)]
        found = gbb.simulate(env, policies, rounds=700, seed=seed, record=700)
        lost.append(found.regret.values[:, 0, -1])
    plain, weighs = np.mean(lost, axis=0)
    assert weighs < 0.6 * plain
