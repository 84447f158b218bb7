"""A number per link, the sum of its two directions: learnt in symmetric parts, and nowhere else."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
from gbb.learning import Confidence, Ridge, empty, observe
from gbb.learning.radius import confidence_radius
from gbb.learning.record import regressors
from gbb.policies import ExploreThenCommit
from gbb.policies.explore_then_commit import Committed
from gbb.simulation.engine import Task, run_batch
from gbb.simulation.engine import index as engine_index
from gbb.simulation.engine.loops import Run
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.random_play import explore
from strategies import arm_sets, graphs

GRAPH = gbb.Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3)], undirected=True)
LINKS = [(0, 1), (0, 2), (1, 2), (2, 3)]


@st.composite
def link_environments(draw: st.DrawFn) -> gbb.Environment:
    """Links of several types and weights, zero and negative ones too, both directions alike."""
    graph, arms = draw(graphs(max_n=5)), draw(arm_sets(max_K=3, max_d=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = rng.choice([0.0, 1.0, 1.0, 2.0, -0.5], graph.m)
    weights[0] = 1.0
    problem = gbb.Problem(
        graph,
        arms,
        sigma=0.3,
        S=3.0,
        edge_types=np.minimum(*graph.edges.T) % draw(st.integers(1, 3)),
        edge_weights=np.where(graph.sources < graph.indices, weights, weights[graph.reverse]),
        feedback="link",
    )
    shape = (problem.types, problem.d, problem.d)
    return gbb.Environment(problem, rng.uniform(-1, 1, shape))


def naive_links(problem, arms):
    """``q = w (z_ab + z_ba)`` of every link, the smaller agent first."""
    rows = []
    for e, (i, j) in enumerate(problem.graph.edges.tolist()):
        if i < j:
            outer = np.outer(problem.arms[arms[i]], problem.arms[arms[j]])
            row = np.zeros((problem.types, problem.d**2))
            row[problem.edge_types[e]] = problem.edge_weights[e] * (outer + outer.T).ravel()
            rows.append(row.ravel())
    return np.array(rows)


def test_links_are_numbered_by_their_edges_from_the_smaller_agent():
    problem = gbb.Problem(GRAPH, np.eye(2), feedback="link")
    assert problem.observations == 4
    assert problem.feedback != "edge"
    assert problem.symmetric_only
    assert problem.symmetric
    for e, (i, j) in enumerate(GRAPH.edges.tolist()):
        assert LINKS[problem.report.index[e]] == (min(i, j), max(i, j))
    env = gbb.Environment(problem, [[1.0, 2.0], [-4.0, 3.0]], noise="none")
    paid = env.draw(1, [0, 1, 1, 0], np.random.default_rng(0))
    assert paid.tolist() == [-2.0, -2.0, 6.0, -2.0]
    assert env.expected_reward([0, 1, 1, 0]) == paid.sum()


def test_rewards_of_the_other_kind_are_told_apart():
    problem = gbb.Problem(GRAPH, np.eye(2), feedback="link")
    with pytest.raises(gbb.InputError, match=r"shape \(4,\), one per link, but got \(8,\)"):
        problem.rewards(np.zeros(8))
    with pytest.raises(gbb.InputError, match=r"shape \(4,\), one per link"):
        problem.rewards(np.zeros(3))
    edges = gbb.Problem(GRAPH, np.eye(2))
    with pytest.raises(gbb.InputError, match=r"undirected edges\? feedback='link'"):
        edges.rewards(np.zeros(4))
    with pytest.raises(gbb.InputError, match=r"keep sum .w. L and sum"):
        gbb.Problem(GRAPH, np.eye(2), S=1e100, feedback="link")


@given(link_environments(), st.integers(0, 2**32), st.floats(0.1, 10.0))
def test_the_estimate_is_dense_ridge_regression_on_whole_links(env, seed, lam):
    rng, problem = np.random.default_rng(seed), env.problem
    record, rows, responses = empty(problem), [], []
    for _ in range(6):
        arms = rng.integers(problem.K, size=problem.n)
        q, y = naive_links(problem, arms), env.draw(1, arms, rng)
        np.testing.assert_allclose(regressors(problem, arms), q, atol=1e-12)
        some = rng.random(len(y)) < 0.7
        record = record.merge(observe(problem, arms, np.where(some, y, np.nan)))
        rows.append(q[some])
        responses.append(y[some])
    Q, y = np.vstack(rows), np.concatenate(responses)
    A, b = lam * np.eye(problem.parameters) + Q.T @ Q, Q.T @ y
    theta = np.linalg.solve(A, b)
    ridge = Ridge(problem, record, lam)
    assert ridge.symmetric
    np.testing.assert_allclose(ridge.A, A, atol=1e-9)
    np.testing.assert_allclose(ridge.b, b, atol=1e-9)
    d, size = problem.d, problem.types
    M = theta.reshape(size, d, d)
    np.testing.assert_allclose(ridge.M_hats, M, atol=1e-8)
    np.testing.assert_allclose(ridge.theta_hat, theta, atol=1e-8)
    assert ridge.log_det == pytest.approx(np.linalg.slogdet(A)[1] - len(A) * np.log(lam), abs=1e-8)
    arms = rng.integers(problem.K, size=problem.n)
    total = naive_links(problem, arms).sum(axis=0)
    mean, width = ridge.total(arms)
    assert mean == pytest.approx(total @ theta, abs=1e-8)
    assert width == pytest.approx(np.sqrt(total @ np.linalg.solve(A, total)), abs=1e-8)
    assert record.weight(problem) <= 6 * problem.gram_growth_per_round * (1 + 1e-12)


@pytest.mark.parametrize("arms", ["one-hot", "general"])
def test_all_radii_and_policies_learn_halves(arms):
    """In all dimensions the tables would claim to know what no reward has shown."""
    X = np.eye(3) if arms == "one-hot" else np.random.default_rng(0).normal(size=(4, 2))
    problem = gbb.Problem(GRAPH, X, feedback="link")
    cut, rng = gbb.cuts.greedy(GRAPH), np.random.default_rng(1)
    plays = rng.integers(problem.K, size=(30, 4))
    record = empty(problem)
    for play in plays:
        record = record.merge(observe(problem, play, rng.normal(size=4)))
    q = np.vstack([naive_links(problem, play) for play in plays])
    A = np.eye(problem.parameters) + q.T @ q
    seen = Confidence(problem, record)
    expected = np.sqrt(np.linalg.slogdet(A)[1] - 2 * np.log(0.01)) + 1.0
    assert seen.symmetric
    assert confidence_radius(seen.ridge, 0.01) == pytest.approx(expected)
    z = problem.edge_arms.reshape(problem.K, problem.K, -1)
    halves = (z + z.transpose(1, 0, 2)) / 2
    widths = np.sqrt(np.einsum("abi,ij,abj->ab", halves, np.linalg.inv(A), halves))
    for name, settings in {
        "JointOFUL": {"radius": "complete"},
        "ImprovedOFUL": {"radius": "paper"},
        "OFUL": {"radius": "complete"},
        "KCutOFUL": {"radius": "symmetric"},
    }.items():
        policy = getattr(gbb.policies, name)(problem, cut=cut, **settings)
        state = policy.absorb(policy.init(), None, record.discount(1.0), rounds=30)
        ridge = policy.learner.posterior(problem, state).ridge
        assert ridge.symmetric
        np.testing.assert_allclose(ridge.widths[0], widths)
        policy.select(state, rng)


@pytest.mark.parametrize("noise", ["gaussian", "rademacher"])
def test_noise_drawn_in_sums_has_the_law_of_single_links(noise):
    """Of the loop that draws arms at random; every link's noise is one, not one for each direction."""
    problem = gbb.Problem(GRAPH, np.eye(2), sigma=2.0, feedback="link")
    R = np.array([[1.0, 2.0], [-4.0, 3.0]])
    env, scaled = gbb.Environment(problem, R / 10, noise=noise), []
    for seed in range(600):
        rng = np.random.default_rng(seed)
        run = Run(3, np.array([3]), Blocks(env, np.random.default_rng([seed, 1])), rng)
        N, Y = explore(env, np.ones(2), run)[1].tables
        assert N.sum() == 3 * problem.gram_growth_per_round
        halves = Y + Y.transpose(0, 2, 1) - N * (R + R.T) / 10
        scaled += [
            halves[0, a, b] / np.sqrt(4 * N[0, a, b]) for a, b in ((0, 0), (1, 1)) if N[0, a, b]
        ]
        both = N[0, 0, 1] + N[0, 1, 0]
        scaled += [halves[0, 0, 1] / np.sqrt(both)] if both else []
    assert np.mean(scaled) == pytest.approx(0.0, abs=0.2)
    assert np.std(scaled) == pytest.approx(2.0, rel=0.07)


def test_the_index_loop_draws_sums_with_the_law_of_single_links():
    problem = gbb.Problem(GRAPH, np.array([[1.0, 0.0], [0.6, 0.8]]), sigma=2.0, feedback="link")
    env = gbb.Environment(problem, [[0.1, 0.2], [-0.4, 0.3]])
    policy = gbb.policies.EpsilonGreedy(problem, cut=gbb.cuts.greedy(GRAPH), epsilon=1.0)
    R = env.reward_table + env.reward_table.T
    found = {}
    for edge_noise in (False, True):
        scaled = []
        for seed in range(600):
            N, Y = _record_of(env, policy, seed, edge_noise)
            both = N + N.T
            off = (Y + Y.T - both * R / 2)[np.triu_indices(2)] / np.where([1, 0, 1], 2.0, 1.0)
            count = np.array([N[0, 0], both[0, 1], N[1, 1]])
            scaled += (off[count > 0] / np.sqrt(count[count > 0])).tolist()
        found[edge_noise] = np.std(scaled)
        assert np.mean(scaled) == pytest.approx(0.0, abs=0.2)
    assert found[True] == pytest.approx(2.0, rel=0.07)
    assert found[False] == pytest.approx(2.0, rel=0.07)


def _record_of(env, policy, seed, edge_noise):
    games, play = [], engine_index.play_index
    with patch.object(engine_index, "play_index", lambda *args: games.append(args) or play(*args)):
        task = Task(3, np.array([3]), [np.random.SeedSequence(seed)], edge_noise=edge_noise)
        run_batch(env, policy, task)
    edges = engine_index.Game(*games[-1][:-2]).edges
    return edges.N[0], edges.Y[0]


@pytest.mark.parametrize("name", ["ThompsonSampling", "JointOFUL"])
def test_a_number_per_link_earns_what_both_directions_do(name):
    """The paper's Figure 2, at the same sigma: one number with that noise in place of two."""
    earned = {}
    for feedback in ("edge", "link"):
        problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0, feedback=feedback)
        cut, shares = gbb.cuts.greedy(problem.graph), []
        for seed in range(6):
            M = gbb.instances.absolute_normal(5, seed=seed, frobenius=4.0)
            policy = getattr(gbb.policies, name)(problem, cut=cut)
            result = gbb.simulate(gbb.Environment(problem, M), policy, rounds=2000, runs=3, seed=1)
            shares.append(float(result.fraction.mean()))
        earned[feedback] = np.mean(shares)
    assert earned["link"] >= 0.98 * earned["edge"], earned


def test_exponential_weights_estimates_what_both_directions_say():
    chosen = {}
    for feedback in ("edge", "link"):
        problem = gbb.Problem(GRAPH, np.eye(3), S=4.0, feedback=feedback)
        M = gbb.instances.absolute_normal(3, seed=0, frobenius=4.0)
        env = gbb.Environment(problem, M, noise="none")
        policy = gbb.policies.ExponentialWeights(problem, cut=gbb.cuts.greedy(GRAPH))
        result = gbb.simulate(
            env, policy, rounds=60, seed=3, method="reference", keep_allocations=True
        )
        chosen[feedback] = result.allocation.to_numpy()
    np.testing.assert_array_equal(chosen["edge"], chosen["link"])


def test_exploring_first_commits_to_the_best_couple():
    problem = gbb.Problem(GRAPH, np.eye(2), sigma=0.1, S=5.0, feedback="link")
    env = gbb.Environment(problem, [[1.0, 2.0], [-0.5, 0.3]])
    policy = ExploreThenCommit(problem, cut=gbb.cuts.greedy(GRAPH), exploration=30)
    result = gbb.simulate(env, policy, rounds=40, seed=0)
    values = policy.cut.couple_values(env.reward_table, (1.0, 1.0, 0.0, 0.0))
    couple = tuple(result.couple.to_numpy()[0, 0, -1])
    assert values[couple] == values.max()
    assert isinstance(policy.init(), Committed)


def test_a_best_allocation_is_certified_from_links():
    problem = gbb.Problem(gbb.Graph.path(4), np.eye(2), sigma=0.2, S=2.0, feedback="link")
    env = gbb.Environment(problem, [[1.0, 0.2], [0.9, 0.1]])
    found = gbb.identify(env, epsilon=0.3, delta=0.05, seed=1)
    best = gbb.optimum.solve(problem, env.M_star).value
    assert found.certified
    assert env.expected_reward(found.allocation) >= best - 0.3
    assert found.low <= env.expected_reward(found.allocation) <= found.high
    own = gbb.identify(problem, play=lambda arms: env.draw(1, arms, np.random.default_rng(0)))
    assert own.certified


def test_the_alphas_are_those_of_the_paper_and_the_bound_is_not():
    edges, links = (gbb.Problem(GRAPH, np.eye(2), feedback=each) for each in ("edge", "link"))
    cut, M = gbb.cuts.greedy(GRAPH), [[0.1, 0.6], [0.5, 0.2]]
    reports = [gbb.theory.report(gbb.Environment(each, M), cut=cut) for each in (edges, links)]
    assert reports[0].alpha_2 == reports[1].alpha_2
    policy = gbb.policies.ImprovedOFUL(links, cut=cut)
    result = gbb.simulate(gbb.Environment(links, M), policy, rounds=3)
    assert result.alpha.values.tolist() == [reports[0].alpha_2]
    with pytest.raises(
        gbb.InputError, match="`problem` to report rewards per edge, but got 'link'"
    ):
        reports[1].regret_bound(10)


def test_a_low_rank_needs_both_directions():
    problem = gbb.Problem(GRAPH, np.eye(2), feedback="link")
    with pytest.raises(gbb.InputError, match="be 'ridge' unless rewards are per edge, and sigma"):
        ExploreThenCommit(problem, horizon=9, estimator="low_rank")
    with pytest.raises(gbb.InputError, match="rewards per edge"):
        gbb.LowRank(problem, empty(problem), 1)
