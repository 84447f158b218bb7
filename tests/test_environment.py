import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb.environment import NOISES
from strategies import environments

DRAWS = 400_000


@given(env=environments(), seed=st.integers(0, 1000))
def test_expected_rewards_are_those_of_the_edges_one_by_one(env, seed):
    problem = env.problem
    allocation = np.random.default_rng(seed).integers(problem.K, size=problem.n)
    edges = problem.graph.edges
    by_edge = naive.expected_edge_rewards(problem.arms, env.M_star, edges, allocation)
    total = naive.expected_reward(problem.arms, env.M_star, edges, allocation)
    size = problem.m * max(1.0, float(np.abs(env.reward_table).max()))
    assert env.expected_edge_rewards(allocation) == pytest.approx(by_edge, abs=1e-14 * size)
    assert env.expected_reward(allocation) == pytest.approx(total, abs=1e-14 * size)


def test_the_two_directions_of_an_edge_pay_what_they_pay():
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2))
    env = gbb.Environment(problem, [[1.0, 2.0], [3.0, 4.0]])
    assert problem.graph.edges.tolist() == [[0, 1], [1, 0]]
    assert env.expected_edge_rewards([0, 1]).tolist() == [2.0, 3.0]
    assert env.expected_reward({"0": "1", "1": "1"}) == 8.0


@pytest.mark.parametrize("noise", [name for name in NOISES if name != "none"])
def test_noise_has_mean_zero_and_the_stated_variance(noise):
    draws = NOISES[noise](np.random.default_rng(0), DRAWS)
    assert abs(draws.mean()) < 4 / np.sqrt(DRAWS)
    # The largest kurtosis of the three is the Gaussian's: the variance estimate is within
    # 4 sqrt(2 / DRAWS) < 1 %, so a law that is 5 % off fails.
    assert draws.var() == pytest.approx(1.0, abs=4 * np.sqrt(2 / DRAWS))


@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_sub_gaussian(noise):
    draws = NOISES[noise](np.random.default_rng(1), DRAWS)
    for s in (-1.5, -0.5, 0.5, 1.5):
        values = np.exp(s * draws)
        slack = 4 * values.std() / np.sqrt(DRAWS)
        assert values.mean() <= np.exp(s**2 / 2) + slack


def test_the_uniform_law_is_sub_gaussian_exactly():
    # E exp(s U) = sinh(s sqrt 3) / (s sqrt 3) for U uniform on [-sqrt 3, sqrt 3].
    s = np.linspace(1e-3, 30, 5000) * np.sqrt(3)
    assert (np.log(np.sinh(s) / s) <= s**2 / 6).all()


def test_rademacher_noise_is_a_sign():
    draws = NOISES["rademacher"](np.random.default_rng(0), 100)
    assert set(draws.tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("noise", NOISES)
def test_draws_are_expected_rewards_plus_sigma_times_noise(noise):
    problem = gbb.Problem(gbb.Graph.circle(5), np.eye(2), sigma=0.3)
    env = gbb.Environment(problem, [[1.0, 2.0], [3.0, 4.0]], noise=noise)
    allocation = [0, 1, 1, 0, 1]
    drawn = env.draw(1, allocation, np.random.default_rng(4))
    unit = NOISES[noise](np.random.default_rng(4), problem.m)
    assert np.array_equal(drawn, env.expected_edge_rewards(allocation) + 0.3 * unit)
    if noise == "none":
        assert np.array_equal(drawn, env.expected_edge_rewards(allocation))


def test_edges_of_weight_zero_are_silent():
    """Alone or with others of weight 0 in a sum; a sum that one edge adds to has noise."""
    weights = {(0, 1): 1.0, (2, 1): 2.0, (1, 2): 0.0, (1, 0): 0.0}
    graph = gbb.Graph.path(3)
    by_edge = [weights[i, j] for i, j in graph.edges.tolist()]
    for feedback, silent in (
        ("edge", [w == 0 for w in by_edge]),
        ("agent", [0, 1, 0]),
        ("global", [0]),
    ):
        problem = gbb.Problem(graph, np.eye(2), edge_weights=by_edge, feedback=feedback)
        env = gbb.Environment(problem, np.ones((2, 2)))
        drawn = env.draw(7, [0, 1, 0], np.random.default_rng(0))
        still = gbb.Environment(problem, np.ones((2, 2)), noise="none")
        expected = still.draw(7, [0, 1, 0], np.random.default_rng(0))
        assert np.array_equal(drawn == expected, np.array(silent, dtype=bool))
        assert expected.sum() == env.expected(7, [0, 1, 0]) == 3.0


def heavy(rng, size):
    return rng.standard_t(5, size)


@pytest.mark.parametrize("named", [False, True])
def test_a_law_of_ones_own_is_played_by_the_engine(named, monkeypatch):
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(3), sigma=0.3)
    if named:
        monkeypatch.setitem(NOISES, "heavy", heavy)
    env = gbb.Environment(problem, np.diag([0.2, 0.9, 0.4]), noise="heavy" if named else heavy)
    unit = heavy(np.random.default_rng(4), problem.m)
    drawn = env.draw(1, [0, 1, 1, 2], np.random.default_rng(4))
    assert np.array_equal(drawn, env.expected_edge_rewards([0, 1, 1, 2]) + 0.3 * unit)
    cut = gbb.cuts.greedy(problem.graph)
    policies = [
        gbb.policies.build(name, problem, cut=cut, exploration=9, horizon=40)
        for name in ("ImprovedOFUL", "JointOFUL", "ExploreThenCommit")
    ]
    settings = {"rounds": 40, "runs": 2, "keep_allocations": True}
    plain = gbb.simulate(env, policies, method="reference", **settings)
    fast = gbb.simulate(env, policies, edge_noise=True, **settings)
    assert np.array_equal(plain.allocation, fast.allocation)
    assert plain.attrs["noise"] == ("heavy" if named else "test_environment:heavy")
    summed = gbb.simulate(env, policies, **settings)
    assert np.isfinite(summed.regret).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"problem": 3}, r"`problem` to be a gbb\.Problem, but got int"),
        ({"M_star": np.eye(3)}, r"`M_star` to have shape \(2, 2\), d x d, but got \(3, 3\)"),
        ({"M_star": [[1, np.nan], [0, 1]]}, r"`M_star` to hold finite .* nan at position \(0, 1\)"),
        (
            {"noise": lambda rng, _: rng.random()},
            r"`noise` to return `size` numbers.* shape \(\)",
        ),
        ({"noise": lambda _, size: np.full(size, np.nan)}, "`noise` to hold finite numbers only"),
        (
            {"noise": "normal"},
            "`noise` to be one of 'bernoulli', 'gaussian', 'none', 'rademacher', 'uniform'",
        ),
    ],
)
def test_bad_settings_are_refused(options, message):
    problem = gbb.Problem(gbb.Graph.circle(3), np.eye(2))
    with pytest.raises(gbb.InputError, match=message):
        gbb.Environment(**{"problem": problem, "M_star": np.eye(2)} | options)


def test_what_it_holds_is_read_only():
    env = gbb.Environment(gbb.Problem(gbb.Graph.circle(3), np.eye(2)), np.eye(2))
    assert not env.M_star.flags.writeable
    assert not env.reward_table.flags.writeable
    assert repr(env).startswith("Environment(Problem(")


@pytest.mark.parametrize("noise", [*gbb.environment.NOISES, "bernoulli"])
def test_it_can_be_sent_to_another_process(noise):
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(3), contexts=gbb.contexts.Regimes(2), S=2.0)
    M = np.full((2, 3, 3), 0.25)
    env = gbb.Environment(problem, M, noise=noise, contexts=np.arange(10) % 2)
    arms = np.array([0, 1, 2, 0])
    env.expected(3, arms)  # with what it remembers
    other = pickle.loads(pickle.dumps(env))
    drawn, again = (each.draw(3, arms, np.random.default_rng(0)) for each in (env, other))
    assert np.array_equal(drawn, again)
