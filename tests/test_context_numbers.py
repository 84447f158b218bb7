"""Vectors of numbers, and couples in regimes: loops of their own, which choose as the reference does."""

import numpy as np
import pytest

import gbb
from gbb.contexts import Regimes, Vector
from gbb.simulation.engine import loop_for
from test_context_engine import GRAPH, PARITY, POLICIES, ROUNDS, check_replay, unit_arms


@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("arms", [np.diag([1.0, 3.0, 0.2]), unit_arms(4, 3), unit_arms(9, 2)])
def test_couples_in_regimes_choose_as_the_reference_loop_does(arms, radius):
    """The regime that is never played, and the blocks that the rounds come in, make no difference."""
    problem = gbb.Problem(GRAPH, arms, sigma=0.5, S=2, contexts=Regimes(4))
    M = np.random.default_rng(3).normal(size=(4, problem.d, problem.d)) / 3.0
    regimes_played = np.random.default_rng(1).integers(0, 3, 90)
    env = gbb.Environment(problem, M, contexts=regimes_played)
    for policy in ("OFUL", "ImprovedOFUL"):
        built = gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(GRAPH), radius=radius)
        assert loop_for(built).batch == 8
        check_replay(env, built, rounds=90)


ORTHOGONAL = {
    "one-hot": np.eye(3)[[2, 0, 1]] * np.array([[1.0], [-2.0], [0.5]]),
    "rotated": np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0][:3],
}


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("C", [1, 2, 3, 4])
def test_numbers_on_one_hot_arms_choose_as_the_reference_loop_does(C, scale):
    """Each regressor has parameters of its own, whatever the size and the order of the arms."""
    check_numbers(C, scale, "one-hot")


@pytest.mark.parametrize("weights", [0.5 + PARITY, 0.1 + np.arange(GRAPH.m) / GRAPH.m])
@pytest.mark.parametrize("arms", ORTHOGONAL)
def test_numbers_on_weighted_links_choose_as_the_reference_loop_does(arms, weights):
    check_numbers(3, 1.0, arms, edge_weights=weights)


def test_numbers_on_orthogonal_arms_choose_as_the_reference_loop_does():
    check_numbers(3, 1.0, "rotated")


@pytest.mark.parametrize("feedback", ["edge", "agent"])
@pytest.mark.parametrize("K", [1, 2])
def test_numbers_on_few_arms_choose_as_the_reference_loop_does(K, feedback):
    """Fewer edge-arms than numbers that are added at a time."""
    given = {"sigma": 0.5, "S": 2.0, "contexts": Vector(2), "feedback": feedback}
    problem, rng = gbb.Problem(GRAPH, unit_arms(K, 3), **given), np.random.default_rng(0)
    numbers = rng.uniform(-1, 1, (ROUNDS, 2))
    env = gbb.Environment(problem, rng.normal(size=(2, 3, 3)) / 3.0, contexts=numbers)
    for policy in ("ThompsonSampling", "JointOFUL"):
        check_replay(env, gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(GRAPH)))


@pytest.mark.parametrize("arms", [np.eye(3), unit_arms(4, 3)])
def test_rounds_whose_numbers_are_all_zero_choose_as_the_reference_loop_does(arms):
    """Nothing is paid in them, and nothing learnt."""
    problem, rng = (
        gbb.Problem(GRAPH, arms, sigma=0.5, S=2, contexts=Vector(3)),
        np.random.default_rng(0),
    )
    numbers = rng.uniform(-1, 1, (ROUNDS, 3))
    numbers[[0, 3, 7]] = 0.0
    env = gbb.Environment(problem, rng.normal(size=(3, 3, 3)) / 3.0, contexts=numbers)
    for policy, settings in POLICIES.items():
        given = {"cut": gbb.cuts.greedy(GRAPH), **settings}
        check_replay(env, gbb.policies.build(policy, problem, **given))


def check_numbers(C, scale, arms, **more):
    arms, kind = scale * ORTHOGONAL[arms], Vector(C)
    S = 2.0 / scale**2
    problem = gbb.Problem(GRAPH, arms, sigma=0.5, S=S, contexts=kind, **more)
    d, rng = problem.d, np.random.default_rng(3)
    M = rng.normal(size=(C, d, d)) * S / (2.0 * d)
    env = gbb.Environment(problem, M, contexts=rng.uniform(-1, 1, (ROUNDS, C)))
    for policy, settings in POLICIES.items():
        if policy == "EpsilonGreedy" and scale != 1.0:
            continue  # what was never seen ties at 0, but for rounding in the reference loop's moments
        given = {"cut": gbb.cuts.greedy(GRAPH), **settings}
        if policy != "ThompsonSampling":  # it has a regulariser in proportion by itself
            given["lam"] = scale**4
        check_replay(env, gbb.policies.build(policy, problem, **given))
