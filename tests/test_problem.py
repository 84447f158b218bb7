import numpy as np
import pytest
from hypothesis import given

import gbb
import naive
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
        ({"wets": "low"}, "`agent` to name an agent, but got 'wets'"),
        ({"west": 3}, "`arm` to be a whole number >= 0 and <= 2, but got 3"),
    ],
)
def test_bad_allocations_are_refused(allocation, message):
    with pytest.raises(gbb.InputError, match=message):
        PROBLEM.allocation(allocation)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (np.zeros(5), r"`rewards` to have shape \(4,\), one per directed edge, but got \(5,\)\.$"),
        (np.zeros(2), r"but got \(2,\)\. Did you pass undirected edges\?"),
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
        ({"graph": "complete"}, r"`graph` to be a gbb\.Graph, but got str"),
        ({"graph": gbb.Graph.star(1)}, "`graph` to have at least one edge, but got none"),
        ({"arms": [1.0, 2.0]}, r"`arms` to have 2 dimensions, one arm per row \(K x d\)"),
        ({"arms": np.empty((0, 2))}, r"hold at least one arm of one dimension, but got \(0, 2\)"),
        ({"arms": np.zeros((2, 2))}, r"norms that are not all zero, .* but got 0\.0"),
        ({"arms": [[1e200]]}, r"their squares at most 1e\+100, but got inf"),
        ({"arms": [[1.0], [np.nan]]}, r"`arms` to hold finite numbers .* nan at position \(1, 0\)"),
        ({"arms": [[-np.inf]]}, r"`arms` to hold finite numbers only, but got -inf"),
        ({"sigma": -0.1}, r"`sigma` to be a finite number >= 0, but got -0\.1"),
        ({"S": 0}, r"`S` to be a finite number > 0, but got 0\.0"),
        ({"L": 8.9}, r"`L` to be at least max \|\|x\|\|\^2 = 9, but got 8\.9\. L bounds the norm"),
        ({"L": np.inf}, "`L` to be a finite number > 0, but got inf"),
        ({"arm_names": ["a", "b"]}, "`arm_names` to hold 3 names, but got 2"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(gbb.InputError, match=message):
        gbb.Problem(**{"graph": GRAPH, "arms": ARMS} | options)


def test_a_larger_L_is_kept():
    assert gbb.Problem(GRAPH, ARMS, L=12).L == 12.0
