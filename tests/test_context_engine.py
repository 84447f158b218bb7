"""Contexts in the engine: the choices of the reference loop, and of problems without contexts."""

import os
import warnings
from itertools import product

import numpy as np
import pytest
from numba import config

import gbb
from engine_runs import run_engine
from gbb.contexts import EdgeFeatures, EdgeTypes, Regimes, Vector
from gbb.simulation import SlowPolicyWarning
from gbb.simulation.engine import index as engine_index
from gbb.simulation.engine import loop_for
from gbb.simulation.reference import run_reference
from gbb.simulation.trace import recorded_rounds

ROUNDS = 14
GRAPH = gbb.Graph.random(5, p=0.7, seed=2)
PARITY = GRAPH.edges.sum(axis=1) % 2
ARMS = {"one-hot": np.eye(3), "general": np.random.default_rng(7).normal(size=(4, 2))}
POLICIES = {
    "ThompsonSampling": {},
    "JointOFUL": {},
    "ImprovedOFUL": {},
    "OFUL": {},
    "EpsilonGreedy": {"epsilon": 0.2},
}

PROPOSALS = {"GuardedThompson": {"c": 2.0}, "InformationDirected": {"samples": 6}}


def repeated(patterns, rng, rounds):
    return [patterns[k] for k in rng.integers(0, len(patterns), rounds)]


def regimes(rng, rounds):
    return rng.integers(0, 3, rounds).tolist()


def numbers(rng, rounds):
    drawn = rng.uniform(-1, 1, (rounds, 2))
    drawn[::5, 1] = 0.0
    return drawn


def types(rng, rounds):
    m = GRAPH.m
    patterns = [(rng.integers(-1, 3, m), rng.uniform(-1, 1, m)) for _ in range(3)]
    return repeated(patterns, rng, rounds)


def types_alike(rng, rounds):
    return repeated([PARITY, 2 * PARITY, (GRAPH.edges**2).sum(axis=1) % 3], rng, rounds)


def features(rng, rounds):
    m = GRAPH.m
    patterns = [rng.uniform(-1, 1, (m, 2)) * (rng.random((m, 2)) < 0.7) for _ in range(3)]
    return repeated(patterns, rng, rounds)


KINDS = {
    "regimes": (Regimes(3), regimes, {}),
    "regimes of types": (Regimes(3), regimes, {"edge_types": PARITY}),
    "vector": (Vector(2), numbers, {}),
    "vector of weights": (Vector(2), numbers, {"edge_weights": 0.5 + PARITY}),
    "vector of types": (Vector(2), numbers, {"edge_types": PARITY}),
    "one number": (Vector(1), lambda rng, rounds: rng.choice([-0.5, 1.0], (rounds, 1)), {}),
    "types": (EdgeTypes(3), types, {}),
    "types alike": (EdgeTypes(3, symmetric=True), types_alike, {}),
    "features": (EdgeFeatures(2), features, {}),
}

PLACES = [("vector", "one-hot", "edge"), ("types", "general", "edge")]
"""A loop of proposals takes a minute to compile: one of each kind is by ``make test-crash``, the first
by ``make test``, and ``make plain`` plays all of them."""
PLACES = PLACES[: int(os.environ.get("GBB_LOOPS", "1"))]
if config.DISABLE_JIT:
    PLACES = list(product(KINDS, ARMS, ["edge", "link", "agent"]))


def make_problem(kind, arms, **more):
    contexts, law, settings = KINDS[kind]
    problem = gbb.Problem(GRAPH, ARMS[arms], sigma=0.5, S=2, contexts=contexts, **settings, **more)
    M = np.random.default_rng(3).normal(size=(problem.types, problem.d, problem.d))
    M /= np.linalg.norm(M, axis=(1, 2))[:, None, None]
    return problem, M, law


def unit_arms(K, d):
    arms = np.random.default_rng(7).normal(size=(K, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


def check_replay(env, policy, rounds=ROUNDS):
    """Play a policy by both loops on the same noise, and compare every choice."""
    recorded = recorded_rounds(rounds, 1)
    assert loop_for(policy) is not None
    seed, same = np.random.SeedSequence(5), np.random.SeedSequence(5)
    ours = run_engine(env, policy, rounds, recorded, seed, keep_allocations=True, edge_noise=True)
    theirs = run_reference(env, policy, rounds, recorded, same, keep_allocations=True)
    np.testing.assert_array_equal(ours.allocation, theirs.allocation, err_msg=policy.name)
    np.testing.assert_array_equal(ours.couple, theirs.couple, err_msg=policy.name)
    np.testing.assert_allclose(ours.cumulative, theirs.cumulative, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("feedback", ["edge", "link", "agent"])
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("kind", KINDS)
def test_rounds_choose_as_the_reference_loop_does(kind, arms, feedback):
    problem, M, law = make_problem(kind, arms, feedback=feedback)
    env = gbb.Environment(problem, M, contexts=law(np.random.default_rng(1), ROUNDS))
    for policy, settings in POLICIES.items():
        cut = gbb.cuts.greedy(GRAPH)
        check_replay(env, gbb.policies.build(policy, problem, cut=cut, **settings))


@pytest.mark.parametrize(("kind", "arms", "feedback"), PLACES)
def test_proposals_are_those_of_the_reference_loop(kind, arms, feedback):
    problem, M, law = make_problem(kind, arms, feedback=feedback)
    env = gbb.Environment(problem, M, contexts=law(np.random.default_rng(1), ROUNDS))
    for policy, settings in PROPOSALS.items():
        cut = gbb.cuts.greedy(GRAPH)
        check_replay(env, gbb.policies.build(policy, problem, cut=cut, **settings), rounds=6)


@pytest.mark.parametrize("feedback", ["edge", "agent"])
def test_features_that_stay_are_played_as_the_reference_loop_does(feedback):
    given = features(np.random.default_rng(1), 1)[0]
    problem = gbb.Problem(GRAPH, ARMS["general"], S=2, features=given, feedback=feedback)
    M = np.random.default_rng(3).normal(size=(2, problem.d, problem.d)) / problem.d
    for policy in ("ThompsonSampling", "JointOFUL"):
        built = gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(GRAPH))
        check_replay(gbb.Environment(problem, M), built)


@pytest.mark.parametrize("kind", ["regimes", "vector", "types"])
def test_contexts_go_with_arms_that_are_not_allowed_and_other_noise(kind):
    rng = np.random.default_rng(0)
    allowed = rng.random((GRAPH.n, 4)) < 0.6
    allowed[:, 1] = True
    problem, M, law = make_problem(kind, "general", allowed=allowed)
    contexts = law(np.random.default_rng(1), ROUNDS)
    env = gbb.Environment(problem, M, noise="rademacher", contexts=contexts)
    for policy in ("ThompsonSampling", "JointOFUL"):
        check_replay(env, gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(GRAPH)))
    for policy in (gbb.policies.UniformRandom(problem), gbb.policies.FixedAllocation(problem)):
        check_replay(env, policy)


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_constant_context_plays_as_none(policy, arms):
    problem, M, _ = make_problem("regimes", arms)
    plain = gbb.Problem(GRAPH, ARMS[arms], sigma=0.5, S=2)
    settings = {"cut": gbb.cuts.greedy(GRAPH)}
    if "OFUL" in policy:  # the paper's radius counts the parameters of all regimes
        settings["radius"] = "symmetric"
    rounds = 40
    with_contexts = gbb.simulate(
        gbb.Environment(problem, M, contexts=[2] * rounds),
        gbb.policies.build(policy, problem, **settings),
        rounds=rounds,
        keep_allocations=True,
        edge_noise=True,
    )
    without = gbb.simulate(
        gbb.Environment(plain, M[2]),
        gbb.policies.build(policy, plain, **settings),
        rounds=rounds,
        keep_allocations=True,
        edge_noise=True,
    )
    np.testing.assert_array_equal(with_contexts.allocation, without.allocation)
    np.testing.assert_array_equal(with_contexts.couple, without.couple)


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_types_of_every_round_play_as_types_of_edges(policy, arms):
    contexts, cut, rounds = EdgeTypes(2, symmetric=True), gbb.cuts.greedy(GRAPH), 25
    problem = gbb.Problem(GRAPH, ARMS[arms], sigma=0.5, S=2, contexts=contexts)
    plain = gbb.Problem(GRAPH, ARMS[arms], sigma=0.5, S=2, edge_types=PARITY)
    M = np.random.default_rng(3).normal(size=(2, plain.d, plain.d)) / plain.d
    envs = gbb.Environment(problem, M, contexts=[PARITY] * rounds), gbb.Environment(plain, M)
    one, other = (
        gbb.simulate(
            env,
            gbb.policies.build(policy, env.problem, cut=cut),
            rounds=rounds,
            keep_allocations=True,
            edge_noise=True,
        )
        for env in envs
    )
    np.testing.assert_array_equal(one.allocation, other.allocation)


def test_contexts_that_never_come_again_are_laid_out_one_after_another(monkeypatch):
    """Few layouts fit at once here: they are made anew, and what was learnt stays."""
    monkeypatch.setattr(engine_index, "NUMBERS", 2000)
    m, rng = GRAPH.m, np.random.default_rng(4)
    drawn = [(rng.integers(0, 3, m), rng.uniform(-1, 1, m)) for _ in range(ROUNDS)]
    for arms in ARMS:
        problem, M, _ = make_problem("types", arms)
        env = gbb.Environment(problem, M, contexts=drawn)
        for policy in ("ThompsonSampling", "JointOFUL"):
            check_replay(env, gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(GRAPH)))


@pytest.mark.parametrize("kind", ["regimes", "vector"])
def test_noise_summed_by_edge_arms_has_the_law_of_that_of_edges(monkeypatch, kind):
    """What is learnt of a constant allocation varies as with noise on every edge."""
    games, real = [], engine_index.play_index
    monkeypatch.setattr(engine_index, "play_index", lambda *args: games.append(args) or real(*args))
    problem, M, law = make_problem(kind, "general")
    env = gbb.Environment(problem, M, contexts=law(np.random.default_rng(1), 6))
    policy = gbb.policies.EpsilonGreedy(problem, cut=gbb.cuts.greedy(GRAPH), starts=0, epsilon=0.0)
    ends = {True: [], False: []}
    for edge_noise, found in ends.items():
        for seed in range(100):
            seeds = np.random.SeedSequence(seed)
            run_engine(env, policy, 6, np.array([1]), seeds, edge_noise=edge_noise)
            U = engine_index.Game(*games[-1][:-2]).dense.U
            size = U.shape[1]
            found.append(np.ravel([np.triu(each[:, :size]).T @ each[:, size] for each in U]))
    mean, spread = (
        [f(np.array(found), axis=0) for found in ends.values()] for f in (np.mean, np.std)
    )
    tolerance = 5.0 * spread[0] / 10.0 + 1e-12
    assert (np.abs(mean[0] - mean[1]) <= 2.0 * tolerance).all()
    np.testing.assert_allclose(spread[0], spread[1], rtol=0.5, atol=1e-9)


def test_a_bonus_of_ones_own_sees_the_problem_of_its_round():
    problem, M, law = make_problem("vector", "general")
    env = gbb.Environment(problem, M, contexts=law(np.random.default_rng(1), ROUNDS))

    def bonus(now, rounds, lam, delta):  # noqa: ARG001
        return np.full_like(rounds, np.abs(now.edge_weights).max())

    policy = gbb.policies.ImprovedOFUL(problem, cut=gbb.cuts.greedy(GRAPH), radius=bonus)
    check_replay(env, policy)


def test_contexts_are_played_without_a_warning():
    problem, M, law = make_problem("regimes", "one-hot")
    policies = [
        gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(GRAPH)),
        gbb.policies.UniformRandom(problem),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPolicyWarning)
        found = gbb.simulate(gbb.Environment(problem, M), policies, rounds=9, contexts=law)
    assert (found.regret[:, :, -1] >= -1e-9).all()


def test_sums_over_types_that_mix_keep_all_matrices_in_play():
    """In a sum over edges of two types what one pays is in doubt with the other."""
    everything = np.arange(3)
    for kind, feedback, in_play in (
        ("types", "edge", PARITY),
        ("types", "agent", everything),
        ("regimes", "agent", [1]),
    ):
        problem, _, _ = make_problem(kind, "general", feedback=feedback)
        now = problem.at(PARITY if kind == "types" else 1)
        np.testing.assert_array_equal(now.matrices_in_play, np.unique(in_play))
        assert now.norm == pytest.approx(np.sqrt(len(np.unique(in_play))) * problem.S)
