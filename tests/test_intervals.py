"""Intervals: the smaller of two bounds on the error, narrower than before and as often right as said."""

import itertools

import numpy as np
import pytest

import gbb
from gbb.learning import Record, confidence, radius

FARM = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
YAW = [[1.0, 0.0], [0.8, 0.6], [0.8, -0.6]]


def farm(**known):
    """The worked example of docs/controller.md."""
    graph = gbb.Graph.from_edges(FARM, undirected=True)
    problem = gbb.Problem(graph, YAW, **{"sigma": 0.2, "S": 2.0, **known})
    return gbb.Environment(problem, [[1.0, 0.4], [-0.3, 0.9]])


def every_sum(problem):
    """The sum of edge-arms of every allocation."""
    z = problem.edge_arms.reshape(problem.K, problem.K, -1)
    source, target = problem.graph.edges.T
    arms = np.array(list(itertools.product(range(problem.K), repeat=problem.n)))
    return z[arms[:, source], arms[:, target]].sum(axis=1)


@pytest.mark.parametrize("rounds", [3, 200])
def test_intervals_are_narrower_than_before_and_hold(rounds):
    """600 adaptive runs: narrower for every allocation, and wrong in delta of them at most."""
    env, delta = farm(), 0.1
    problem, sums = env.problem, every_sum(env.problem)
    truth = sums @ env.M_star.T.ravel()
    policy = gbb.policies.ImprovedOFUL(problem, cut=gbb.cuts.greedy(problem.graph))
    children = np.random.SeedSequence(0).spawn(600)
    missed, shares = 0, []
    for child in children:
        *_, last = gbb.simulation.play(env, policy, rounds, child)
        ridge = gbb.Ridge(problem, last.state.record)
        width, inverse_norm = ridge.norms(sums)
        off = confidence.errors(ridge, delta).along(width, inverse_norm)
        before = radius.confidence_radius(ridge, delta) * width
        assert (off < before).all()
        shares.append(float((off / before).mean()))
        missed += bool((np.abs(sums @ ridge.theta_hat - truth) > off).any())
    assert np.mean(shares) < {3: 0.79, 200: 0.65}[rounds]
    assert missed <= 600 * delta


def test_both_bounds_are_those_of_the_mixtures_they_are_proven_by():
    """With one parameter the two means over theta are integrals, and their logarithms as stated."""
    rng, sigma, lam, truth = np.random.default_rng(1), 0.7, 0.3, 1.4
    q = rng.normal(size=6)
    noise = sigma * rng.normal(size=6)
    u, G = q @ noise, q @ q
    A, b = G + lam, q @ (q * truth + noise)
    grid = np.linspace(-60.0, 60.0, 2_000_001)
    wanted = (
        (truth, (u**2 / A / sigma**2 - np.log(A / lam)) / 2),
        (0.0, (((b / A - truth) ** 2 * A - lam * truth**2) / sigma**2 - np.log(A / lam)) / 2),
    )
    for centre, logarithm in wanted:
        ratio = (u * (grid - truth) - G * (grid - truth) ** 2 / 2) / sigma**2
        law = np.exp(-lam * (grid - centre) ** 2 / 2 / sigma**2)
        mean = (np.exp(ratio) * law).sum() / law.sum()
        assert np.log(mean) == pytest.approx(logarithm, abs=1e-9)


@pytest.mark.parametrize("symmetric", [False, True])
def test_spread_is_what_dense_inverses_say(symmetric):
    problem, rng = farm().problem, np.random.default_rng(2)
    half = rng.integers(5, size=(3, 3))
    ridge = gbb.Ridge(
        problem, Record(half + half.T, rng.normal(size=(3, 3))), 0.4, symmetric=symmetric
    )
    vectors = rng.normal(size=(4, 4))
    if symmetric:
        M = vectors.reshape(4, 2, 2)
        vectors = ((M + M.transpose(0, 2, 1)) / 2).reshape(4, 4)
    solved = vectors @ np.linalg.inv(ridge.A)
    width, inverse_norm = ridge.norms(vectors)
    assert width == pytest.approx(np.sqrt((solved * vectors).sum(axis=1)))
    assert inverse_norm == pytest.approx(np.linalg.norm(solved, axis=1))
    z = problem.edge_arms
    if not symmetric:
        own = np.linalg.norm(z @ np.linalg.inv(ridge.A), axis=1)
        assert ridge.inverse_norms[0].ravel() == pytest.approx(own)
    arms = np.array([0, 1, 2, 1])
    total = every_sum(problem)[np.ravel_multi_index(arms, (3,) * 4)]
    assert ridge.inverse_norm(arms) == pytest.approx(ridge.norms(total[None])[1][0])


def test_with_regimes_the_second_bound_counts_all_matrices():
    """What is said of a regime's own matrix holds for the set of all of them together."""
    regimes = gbb.contexts.Regimes(["calm", "windy"])
    whole = gbb.Problem(farm().problem.graph, YAW, sigma=0.0, S=2.0, contexts=regimes)
    ridge = gbb.Ridge(whole.at("calm"), gbb.learning.empty(whole), 0.25)
    found = confidence.errors(ridge, 0.1)
    assert found.bias == pytest.approx(0.25 * 2.0)
    assert found.radius == pytest.approx(np.sqrt(0.25 * 2) * 2.0)
