import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import gbb
import naive
from gbb.learning import empty
from indices import objective_of
from strategies import arm_sets

GRAPH = gbb.Graph.from_edges(
    [["west", "mid"], ["mid", "east"]], names=["west", "mid", "east"], undirected=True
)
ARMS = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]])
PROBLEM = gbb.Problem(GRAPH, ARMS, sigma=0.5, S=2.0, arm_names=["low", "mid", "high"])


def test_sizes_and_defaults():
    assert (PROBLEM.n, PROBLEM.m, PROBLEM.K, PROBLEM.d) == (3, 4, 3, 2)
    assert PROBLEM.L == 9.0
    assert repr(PROBLEM) == "Problem(n=3, m=4, K=3, d=2, sigma=0.5, S=2, L=9)"


def test_arms_are_a_read_only_copy():
    arms = ARMS.copy()
    problem = gbb.Problem(GRAPH, arms)
    arms[:] = 0
    assert np.array_equal(problem.arms, ARMS)
    assert not problem.arms.flags.writeable


@given(arms=arm_sets())
def test_edge_arms_are_column_stacked_outer_products(arms):
    problem = gbb.Problem(gbb.Graph.complete(2), arms)
    K, z = problem.K, problem.edge_arms
    assert z.shape == (K**2, problem.d**2)
    assert not z.flags.writeable
    for a in range(K):
        for b in range(K):
            assert np.array_equal(z[a * K + b], naive.edge_arm(arms[a], arms[b]))
    assert np.linalg.norm(z, axis=1).max() <= problem.L * (1 + 1e-12)


def test_edge_arms_give_the_bilinear_reward():
    M = np.array([[1.0, 2.0], [3.0, 4.0]])
    rewards = (PROBLEM.edge_arms @ naive.vec(M)).reshape(3, 3)
    assert rewards == pytest.approx(ARMS @ M @ ARMS.T)


def test_allocations_by_index_and_by_name():
    by_name = PROBLEM.allocation({"east": "high", "west": "low", "mid": "mid"})
    assert by_name.tolist() == [0, 1, 2]
    by_index = PROBLEM.allocation([0, 1, 2])
    assert np.array_equal(by_name, by_index)
    assert not by_name.flags.writeable
    assert not by_index.flags.writeable


def test_arms_without_names_go_by_number_in_text_too():
    problem = gbb.Problem(gbb.Graph.complete(2), ARMS)
    assert problem.allocation({"0": "2", "1": 1}).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("allocation", "message"),
    [
        ([0, 1], r"`allocation` to have shape \(3,\), one arm index per agent, but got \(2,\)"),
        ([0, 1, 3], "`allocation` to hold numbers from 0 to 2, but got 3 at position 2"),
        ([0.0, 1.0, 2.0], "`allocation` to hold whole numbers"),
        ({"west": "low"}, "give every agent an arm, but got none for agent 'mid'"),
        ({"west": "hihg"}, r"`arm` to be one of .* but got 'hihg'. Did you mean 'high'\?"),
        ({"wets": "low"}, "`allocation` to name an agent, but got 'wets'"),
        ({"west": 3}, "`arm` to be a whole number >= 0 and <= 2, but got 3"),
    ],
)
def test_bad_allocations_are_refused(allocation, message):
    with pytest.raises(gbb.InputError, match=message):
        PROBLEM.allocation(allocation)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (
            np.zeros(5),
            r"`rewards` to have shape \(4,\), one per directed edge, but got \(5,\): .* Pass 4",
        ),
        (np.zeros(2), r"but got \(2,\): .*\. Did you pass undirected edges\?"),
        (np.zeros((4, 1)), r"but got \(4, 1\)"),
        ([0, 1, np.inf, 2], "hold finite numbers only, but got inf at position 2"),
        ([0, [1, 2], 3, 4], "`rewards` to be an array of numbers, but got list"),
    ],
)
def test_bad_rewards_are_refused(rewards, message):
    with pytest.raises(gbb.InputError, match=message):
        PROBLEM.rewards(rewards)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graph": "complete"}, r"`graph` to be a gbb\.Graph, but got <class 'str'>"),
        (
            {"graph": nx.path_graph(3)},
            r"Graph'>\. Make one by gbb\.Graph\.from_networkx",
        ),
        ({"graph": gbb.Graph.star(1)}, "`graph` to have at least one edge, but got none"),
        ({"arms": [1.0, 2.0]}, r"`arms` to have 2 dimensions, one arm per row \(K x d\)"),
        ({"arms": 3}, r"but got shape \(\)\. np\.eye\(3\) is three arms"),
        ({"arms": np.empty((0, 2))}, r"norms that are not all zero, .* but got 0\.0"),
        ({"arms": np.zeros((2, 2))}, r"norms that are not all zero, .* but got 0\.0"),
        ({"arms": [[1e200]]}, r"their squares at most 1e\+100, but got inf"),
        ({"arms": [[1.0], [np.nan]]}, r"`arms` to hold finite numbers .* nan at position \(1, 0\)"),
        ({"arms": [[-np.inf]]}, r"`arms` to hold finite numbers only, but got -inf"),
        ({"sigma": -0.1}, r"`sigma` to be a finite number >= 0 and <= 1e\+100, but got -0\.1"),
        ({"S": 0}, r"`S` to be a finite number >= 1e-100 and <= 1e\+100, but got 0\.0"),
        ({"L": 8.9}, r"`L` to be a finite number >= 9 .* but got 8\.9\. L bounds \|\|x_a"),
        ({"L": np.inf}, "`L` to be a finite number >= 9 and <= 1e.100, but got inf"),
        ({"arm_names": ["a", "b"]}, "`arm_names` to hold 3 names, but got 2"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(gbb.InputError, match=message):
        gbb.Problem(**{"graph": GRAPH, "arms": ARMS} | options)


NETWORK = gbb.Network.of([[(0, 1, 0, 0, 1.0, 1.0, 5)], [(0, 0, 0, 0, 1.0, 1.0, 2)]])


@pytest.mark.parametrize(
    "known",
    [
        {"sigma": None, "S": None, "feedback": "link"},
        {"edge_types": [0, 1, 1, 0], "edge_weights": [1.0, 2.0, 0.0, 1.0]},
        {"features": [[1.0, 0.5], [0.0, 2.0], [1.0, 0.0], [0.0, 0.0]], "feedback": "agent"},
        {"contexts": gbb.contexts.Regimes(3), "edge_types": "source"},
        {"allowed": [[True, False, True]] * 3, "arm_names": ["a", "b", "c"]},
    ],
)
def test_settings_make_the_same_problem(known):
    problem = gbb.Problem(GRAPH, ARMS, **known)
    twin = gbb.Problem(**problem.settings())
    assert repr(twin) == repr(problem)
    assert twin.settings().keys() == problem.settings().keys()
    for name, value in problem.settings().items():
        assert np.array_equal(twin.settings()[name], value), name
    assert problem.replace(arms=2.0 * ARMS).L == 4.0 * problem.L
    other = problem.replace(L=20.0, S=3.0)
    assert (other.L, other.S, other.unknown) == (20.0, 3.0, problem.unknown[:1])
    assert repr(other.replace(L=problem.L, S=known.get("S", 1.0))) == repr(problem)


def test_a_misspelt_setting_has_the_nearest():
    with pytest.raises(
        gbb.InputError, match=r"no setting 'edge_type'; .* Did you mean 'edge_types'"
    ):
        PROBLEM.replace(edge_type=[0, 1, 1, 0])


def test_settings_of_a_round_and_of_a_merged_network():
    problem = gbb.Problem(GRAPH, ARMS, contexts=gbb.contexts.Vector(2))
    assert problem.at([1.0, 0.5]).settings() == problem.settings()
    merged = NETWORK.problem(np.eye(2)).replace(S=2.0)
    assert (merged.S, merged.link_count) == (2.0, NETWORK.m)
    assert np.array_equal(merged.parts, NETWORK.parts)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"parts": None}, "`edge_counts` and `parts` come together"),
        ({"parts": 1 - NETWORK.parts}, "`edge_counts, parts` to be those of a gbb.Network"),
        ({"edge_counts": NETWORK.edge_counts[0]}, "have 2 dimensions, shards x directed edges"),
        ({"edge_counts": NETWORK.edge_counts[:, :2]}, "be those of a gbb.Network with 4 edges"),
        ({"sigma": None}, "`parts` to be given with sigma.*sigma=None"),
        ({"feedback": "link"}, "`parts` to be given .*feedback 'edge'.*feedback=link"),
    ],
)
def test_bad_merged_networks_are_refused(changed, rule):
    with pytest.raises(gbb.InputError, match=rule):
        NETWORK.problem(np.eye(2)).replace(**changed)


def test_a_larger_L_is_kept():
    assert gbb.Problem(GRAPH, ARMS, L=12).L == 12.0


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"arms": np.eye(2) * 1e40, "edge_weights": np.full(6, 1e50)}, "`edge_weights` to keep"),
        ({"L": 1e90, "S": 1e20}, "`L` to keep"),
        (
            {"S": 1e100, "feedback": "agent"},
            "`L` to keep sum .w. L and sum",
        ),
        (
            {"S": 1e100, "feedback": "global"},
            "`L` to keep sum .w. L and sum",
        ),
        ({"L": 1e300}, "`L` to be a finite number >= 1 and <= 1e\\+100"),
        ({"sigma": 1e300}, "`sigma` to be a finite number >= 0 and <= 1e\\+100"),
        ({"S": 1e300}, "`S` to be a finite number >= 1e-100 and <= 1e\\+100"),
        ({"S": 1e-300}, "`S` to be a finite number >= 1e-100 and <= 1e\\+100"),
        ({"arms": np.eye(2) * 1e-90}, "the largest square at least 1e-100"),
        ({"edge_weights": np.full(6, 1e-90)}, "the largest at least 1e-50"),
        ({"arms": np.eye(2, dtype=bool)}, "`arms` to be an array of numbers"),
        ({"arms": np.ma.masked_equal([[1.0, 99.0], [0.0, 1.0]], 99.0)}, "`arms` to hold no masked"),
        ({"edge_weights": np.ma.masked_equal([1.0, 1, 1, 1, 1, 99], 99.0)}, "to hold no masked"),
        (
            {"edge_types": np.ma.masked_equal([0, 1, 0, 1, 0, 9], 9)},
            "`edge_types` to hold no masked",
        ),
        ({"allowed": np.ma.masked_array(np.ones((3, 2), bool), [[1, 0]] + [[0, 0]] * 2)}, "masked"),
    ],
)
def test_sizes_that_overflow_together_and_hidden_entries_are_refused(changed, rule):
    given = {"arms": np.eye(2), **changed}
    with pytest.raises(gbb.InputError, match=rule):
        gbb.Problem(gbb.Graph.complete(3), **given)


@pytest.mark.parametrize("feedback", ["edge", "agent", "global"])
@pytest.mark.parametrize("arms", [np.eye(2), np.array([[1.0, 0.0], [0.6, 0.8]])])
@pytest.mark.parametrize(
    "sizes",
    [
        (1e25, 1e50, 1.0, 1.0, 1e100),
        (1e49, 1.0, 1e100, 1e-100, -1e100),
        (1.0, 1e50, 1e100, 1e50, 1e79),
        (1e-49, 1e-50, 0.0, 1e100, 1e100),
        (1e-49, 1e50, 0.0, 1e-100, 1e-100),
    ],
)
def test_everything_stays_finite_within_the_limits(arms, sizes, feedback):
    scale, weight, sigma, S, reward = sizes
    graph = gbb.Graph.complete(3)
    weights = np.full(graph.m, weight)
    if feedback != "edge" and weight > 1.0:  # sums have the same limit
        weights /= graph.m
    given = {"edge_weights": weights, "feedback": feedback, "sigma": sigma, "S": S}
    problem = gbb.Problem(graph, arms * scale, **given)
    cut = gbb.cuts.greedy(graph)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        for name in ("ImprovedOFUL", "JointOFUL", "ThompsonSampling", "EpsilonGreedy"):
            policy = gbb.policies.build(name, problem, cut=cut)
            state, rng = policy.init(), np.random.default_rng(0)
            for _ in range(3):
                choice = policy.select(state, rng)
                assert np.isfinite(choice.value) or np.isnan(choice.value)
                state = policy.update(state, choice, np.full(problem.observations, reward))
            ridge = gbb.Ridge(problem, state.record)
            total = ridge.total(choice.allocation)
            assert np.isfinite([*total, ridge.log_det, ridge.rounding]).all()
            assert np.isfinite(ridge.M_hats).all()


@pytest.mark.parametrize("lam", [1e101, 1e170, 1e300])
def test_a_regulariser_beyond_the_largest_size_is_refused_wherever_it_is_given(lam):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    cut, env = gbb.cuts.greedy(problem.graph), gbb.Environment(problem, np.eye(2) / 2)
    record = empty(problem)
    for give in (
        lambda: gbb.Ridge(problem, record, lam),
        lambda: gbb.LowRank(problem, record, 1, lam),
        lambda: gbb.learning.Confidence(problem, record, lam),
        lambda: gbb.identify(env, lam=lam),
        lambda: gbb.theory.regret_bound(problem, 10, lam=lam),
        *(
            lambda name=name, more=more: gbb.policies.build(name, problem, cut=cut, lam=lam, **more)
            for name, more in (
                ("JointOFUL", {}),
                ("ThompsonSampling", {}),
                ("PhasedExploration", {}),
                ("ExploreThenCommit", {"exploration": 3}),
            )
        ),
    ):
        with pytest.raises(gbb.InputError, match="`lam` to be a finite number > 0 and <= 1e\\+100"):
            give()


def test_the_largest_regulariser_and_the_largest_matrix_stay_finite():
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2), S=1e100)
    policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(problem.graph), lam=1e100)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        state, rng = policy.init(), np.random.default_rng(0)
        choice = policy.select(state, rng)
        state = policy.update(state, choice, np.full(6, 1e100))
        objective = objective_of(policy, state)
        seen = gbb.learning.Confidence(problem, state.record, policy.lam)
        couples = policy.search.tuples(problem).combine
        assert np.isfinite([objective.radius, *seen.excess(couples, 0, seen.ellipsoid(1e-3))]).all()
        assert np.isfinite(objective.ridge.M_hats).all()


def test_missing_rewards_are_nan_where_they_may_be():
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2))
    assert np.isnan(problem.rewards([np.nan, 1.0], missing=True)).tolist() == [True, False]
    for rewards, missing in (([np.nan, 1.0], False), ([np.inf, 1.0], True), ([1e101, 0.0], True)):
        with pytest.raises(gbb.InputError, match="`rewards` to hold"):
            problem.rewards(rewards, missing=missing)


def test_masked_and_boolean_rewards_are_refused():
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    with pytest.raises(gbb.InputError, match="`rewards` to hold no masked entries, but got 1 of"):
        problem.rewards(np.ma.masked_equal([1.0, 1.0, 99.0, 1.0, 1.0, 1.0], 99.0))
    for truth in (np.ones(6, dtype=bool), [True] * 6):
        with pytest.raises(gbb.InputError, match="`rewards` to be an array of numbers, but got"):
            problem.rewards(truth)
    with pytest.raises(gbb.InputError, match="`allocation` to hold no masked entries"):
        problem.allocation(np.ma.masked_equal([0, 1, 7], 7))
    kept = problem.rewards(np.ma.masked_array(np.arange(6.0), mask=False))
    assert kept.tolist() == [0, 1, 2, 3, 4, 5]
