"""The Graves-Lai constant: closed forms, invariances, and a plain solver of the program as written."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import gbb
import naive
from gbb.theory import lower_bound
from strategies import environments

CLOSE = 1e-4


def environment(graph, arms, M, sigma=1.0, **options):
    S = float(np.linalg.norm(M)) * (1 + 1e-9) or 1e-9
    return gbb.Environment(gbb.Problem(graph, arms, sigma=sigma, S=S, **options), M)


def plain(env):
    """The program over all allocations in all d^2 dimensions, by a general solver, small ones only."""
    problem, X = env.problem, env.problem.arms
    best, rows = -np.inf, []
    for arms in itertools.product(range(problem.K), repeat=problem.n):
        z = np.array([naive.edge_arm(X[arms[i]], X[arms[j]]) for i, j in problem.graph.edges])
        pay = naive.expected_reward(X, env.M_star, problem.graph.edges, arms)
        rows.append((pay, z.sum(axis=0), z.T @ z))
        best = max(best, pay)
    free = sum(G for pay, _, G in rows if pay > best - 1e-9)
    others = [(best - pay, x, G) for pay, x, G in rows if pay <= best - 1e-9]
    star = next(x for pay, x, _ in rows if pay > best - 1e-9)
    short = np.array([delta for delta, _, _ in others])
    grams = np.array([G for _, _, G in others])
    gaps = np.array([x - star for _, x, _ in others]) / short[:, None]

    def turn(u):
        """``H^-1 g / g'H^-1 g`` for every gap g: of all x with g'x = 1 the one with the least x'Hx."""
        H = 1e7 * free + np.einsum("k,kij->ij", u / short, grams) + 1e-9 * np.eye(len(free))
        x = np.linalg.solve(H, gaps.T).T
        return x / (x * gaps).sum(axis=1)[:, None], H

    def slack(u):  # concave, and linear along rays: g'H^-1 g <= 1 as min x'Hx >= 1
        x, H = turn(u)
        return np.einsum("ai,ij,aj->a", x, H, x) - 1.0

    def slope(u):
        x, _ = turn(u)
        return np.einsum("ai,kij,aj->ak", x, grams, x) / short

    start = np.full(len(short), 4.0 / (1.0 + slack(np.ones(len(short)))).min())
    found = minimize(
        lambda u: u.sum(),
        start,
        jac=np.ones_like,
        bounds=[(0, None)] * len(short),
        constraints={"type": "ineq", "fun": slack, "jac": slope},
        method="SLSQP",
        options={"maxiter": 400, "ftol": 1e-10},
    )
    assert found.success
    return 2.0 * problem.sigma**2 * found.fun


@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("graph", [gbb.Graph.complete(2), gbb.Graph.matching(2)])
def test_one_link_is_a_bandit_of_independent_arms(graph, scale, sigma):
    """Lai and Robbins: ``2 (2 sigma^2) / Delta`` for each pair, whose sum has variance 2 sigma^2."""
    M = scale * np.array([[1.0, 2.0, -1.0], [0.3, 0.1, 0.7], [0.0, 2.0, 1.1]])
    pays = np.array([M[a, b] + M[b, a] for a in range(3) for b in range(a, 3)])
    short = np.delete(pays.max() - pays, pays.argmax())
    found = lower_bound(environment(graph, np.eye(3), M, sigma))
    expected = (4.0 * sigma**2 / short).sum()
    assert found.constant == pytest.approx(expected, rel=CLOSE)
    assert found.constant <= expected * (1 + 1e-9)
    assert expected <= found.upper * (1 + 1e-9)
    assert found.regret(1000) == found.constant * np.log(1000)
    assert found.regret(1) == 0.0


def test_a_reward_per_link_has_half_the_noise_in_its_sum():
    M = np.array([[1.0, 2.0], [0.3, 0.1]])
    constants = [
        lower_bound(environment(gbb.Graph.circle(3), np.eye(2), M, feedback=feedback)).constant
        for feedback in ("edge", "link")
    ]
    assert constants[1] == pytest.approx(constants[0] / 2, rel=CLOSE)


def test_a_link_twice_costs_twice_the_play_and_tells_twice_as_much():
    """Two links that must play alike: Delta doubles, and so does what a round tells."""
    M = np.array([[1.0, 0.2], [0.3, 0.1]])
    one = lower_bound(environment(gbb.Graph.complete(2), np.eye(2), M)).constant
    # On a star of two leaves the leaves are free, and a leaf alone can look: the same price as one.
    star = lower_bound(environment(gbb.Graph.path(3), np.eye(2), M)).constant
    assert star <= one * (1 + CLOSE)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_program_as_written_by_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    arms = np.eye(2) if seed % 2 else rng.normal(size=(3, 2))
    graph = gbb.Graph.complete(3) if seed < 2 else gbb.Graph.path(3)
    env = environment(graph, arms, np.abs(rng.normal(size=(2, 2))), sigma=0.7)
    found = lower_bound(env)
    assert found.constant == pytest.approx(plain(env), rel=1e-3)


@given(
    env=environments(max_n=4, max_K=3, max_d=2),
    scale=st.sampled_from([1e-6, 1e-2, 1e8]),
    sigma=st.sampled_from([1e-3, 7.0]),
    turn=st.floats(0.0, 6.0),
)
@settings(max_examples=25, deadline=None)
def test_scales_and_coordinates_change_nothing_else(env, scale, sigma, turn):
    graph, arms, M = env.problem.graph, env.problem.arms, env.M_star
    one = lower_bound(environment(graph, arms, M))
    assert 0.0 <= one.constant <= one.upper
    assert one.upper <= one.constant * (1 + CLOSE) + 1e-300
    other = lower_bound(environment(graph, arms, scale * M, scale * sigma))
    assert other.constant == pytest.approx(scale * sigma**2 * one.constant, rel=2 * CLOSE)
    longer = lower_bound(environment(graph, 10 * arms, M / 100))
    assert longer.constant == pytest.approx(one.constant, rel=2 * CLOSE)
    if arms.shape[1] == 2:
        Q = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        turned = lower_bound(environment(graph, arms @ Q, Q.T @ M @ Q))
        assert turned.constant == pytest.approx(one.constant, rel=2 * CLOSE, abs=1e-6)


@pytest.mark.parametrize("tie", [1e-1, 1e-3, 1e-5, 1e-7])
def test_near_ties_are_no_special_case(tie):
    M = np.diag([1.0, 1.0 - tie, 0.4])
    found = lower_bound(environment(gbb.Graph.complete(3), np.eye(3), M))
    assert found.upper <= found.constant * (1 + CLOSE)
    # All on the second arm tells it best: 6 edges that pay tie less, of noise sigma^2 each.
    assert found.constant >= 2.0 / tie * (1 - CLOSE) / 6 * 2


def test_what_the_best_allocation_shows_costs_nothing():
    """With one parameter every round tells all; with equal arms there is nothing to learn."""
    graph = gbb.Graph.circle(4)
    for arms, M in (
        ([[1.0], [0.5]], [[2.0]]),
        ([[1.0, 2.0]], np.eye(2)),
        (np.eye(2), np.ones((2, 2))),
    ):
        assert lower_bound(environment(graph, np.array(arms), np.array(M))) == (0.0, 0.0)


def test_the_noise_is_the_environments_and_gaussian():
    M, graph = np.array([[1.0, 2.0], [0.3, 0.1]]), gbb.Graph.complete(2)
    untold = gbb.Problem(graph, np.eye(2), sigma=None, S=None)
    told = lower_bound(environment(graph, np.eye(2), M, sigma=0.5))
    assert lower_bound(gbb.Environment(untold, M, sigma=0.5)) == told
    loud = gbb.Environment(untold, M, sigma=0.5, noise="rademacher")
    with pytest.raises(gbb.InputError, match="`env` to have Gaussian noise, but got 'rademacher'"):
        lower_bound(loud)


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(gbb.InputError, match=r"that can be listed, 100,000 at most, but got 3\^40"):
        lower_bound(environment(gbb.Graph.path(40), np.eye(3), np.eye(3)))
    graph = gbb.Graph.circle(4)
    env = environment(graph, np.eye(2), np.eye(2), edge_weights=np.full(graph.m, 2.0))
    with pytest.raises(gbb.InputError, match="`env` to be of the paper's problem"):
        lower_bound(env)
    with pytest.raises(gbb.InputError, match=r"`env` to be a gbb\.Environment, but got Problem"):
        lower_bound(env.problem)


def test_the_noise_is_the_instances_own_where_the_learner_is_told_nothing():
    graph, M = gbb.Graph.path(3), np.array([[1.0, 0.2], [0.4, 0.7]])
    wanted = lower_bound(environment(graph, np.eye(2), M, 0.3))
    problem = gbb.Problem(graph, np.eye(2), sigma=None, S=None)
    assert lower_bound(gbb.Environment(problem, M, sigma=0.3)) == wanted
