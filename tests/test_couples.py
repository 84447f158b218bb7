"""Batches of runs of couples: the bits of single runs, the reference's couples, no drift."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import gbb
from gbb.contexts import Regimes
from gbb.policies._compiled import compile_policy
from gbb.simulation.engine import Task, loop_for, run_batch
from gbb.simulation.engine.couples import play_runs, plays_couples, traces_of
from gbb.simulation.reference import run_reference
from gbb.simulation.trace import recorded_rounds
from test_engine import ARMS, GRAPHS, check_estimates, make_env, unit_arms

FORMS = {"one-hot": ARMS["one-hot"], "general": ARMS["general"]}
REGIMES = [1, 3]
"""How many there are; one is the problem without contexts."""


def in_regimes(env, count, rounds=100_001):
    """An environment like ``env`` whose matrix is another in each of so many regimes."""
    problem, d = env.problem, env.problem.d
    M = np.stack([gbb.instances.absolute_normal(d, seed=5 + g) for g in range(count)])
    S = float(np.linalg.norm(M, axis=(1, 2)).max())
    problem = gbb.Problem(problem.graph, problem.arms, S=S, contexts=Regimes(count))
    drawn = np.random.default_rng(8).integers(0, count, rounds)
    return gbb.Environment(problem, M, noise=env.noise, contexts=drawn)


def build(arms, algorithm, graph="random", noise="gaussian", regimes=1, **settings):
    env = make_env(GRAPHS[graph] if isinstance(graph, str) else graph, arms, noise)
    if regimes > 1:
        env = in_regimes(env, regimes)
    cut = gbb.cuts.greedy(env.problem.graph)
    policy = gbb.policies.build(algorithm, env.problem, cut=cut, **settings)
    assert plays_couples(compile_policy(policy))
    return env, policy


def play(env, policy, task, lanes):
    """What the runs leave behind, in a batch of eight lanes or of one."""
    form = play_runs(env, compile_policy(policy), task, task.seeds, lanes)
    return traces_of(form, env, compile_policy(policy), task)


def task_of(seeds, rounds, record=1, **settings):
    return Task(rounds, recorded_rounds(rounds, record), seeds, **settings)


def assert_same_runs(one, two):
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first.couple, second.couple)
        np.testing.assert_array_equal(first.cumulative, second.cumulative)


@pytest.mark.parametrize("regimes", REGIMES)
@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("algorithm", ["OFUL", "ImprovedOFUL"])
@pytest.mark.parametrize("arms", FORMS)
@pytest.mark.parametrize("graph", ["complete", "star", "even"])
def test_a_run_has_the_same_bits_in_a_batch_and_on_its_own(graph, arms, algorithm, radius, regimes):
    even = gbb.Graph.complete(6)  # both sides of the cut alike: mirror images of couples tie
    graph = even if graph == "even" else graph
    env, policy = build(FORMS[arms], algorithm, graph, regimes=regimes, radius=radius)
    seeds = np.random.SeedSequence(2).spawn(5)
    batch = task_of(seeds, 5000)
    alone = [
        trace
        for seed in np.random.SeedSequence(2).spawn(5)
        for trace in play(env, policy, batch._replace(seeds=[seed]), 1)
    ]
    assert_same_runs(play(env, policy, batch, 8), alone)


def test_a_run_has_the_same_bits_when_all_was_factorised_anew():
    """Which is after 2^14 rounds."""
    env, policy = build(FORMS["general"], "ImprovedOFUL", regimes=3, radius="symmetric")
    seeds = np.random.SeedSequence(2).spawn(4)
    batch = task_of(seeds, 17_000, record=10)
    beside = play(env, policy, batch, 8)
    alone = play(env, policy, batch._replace(seeds=np.random.SeedSequence(2).spawn(4)[:1]), 1)
    assert_same_runs(alone, beside[:1])


@pytest.mark.parametrize("K", [2, 3, 7, 15])  # pairs that fill their lanes, and others
@pytest.mark.parametrize("kind", FORMS)
def test_a_run_has_the_same_bits_with_any_number_of_arms(kind, K):
    env, policy = build(np.eye(K) if kind == "one-hot" else unit_arms(K, K, 1), "ImprovedOFUL")
    seeds = np.random.SeedSequence(2).spawn(4)
    batch = task_of(seeds, 1000)
    beside = play(env, policy, batch, 8)
    for seed, trace in zip(np.random.SeedSequence(2).spawn(4), beside, strict=True):
        assert_same_runs(play(env, policy, batch._replace(seeds=[seed]), 1), [trace])


@pytest.mark.parametrize("regimes", REGIMES)
@pytest.mark.parametrize("noise", ["gaussian", "rademacher"])
@pytest.mark.parametrize("arms", FORMS)
def test_results_do_not_depend_on_how_many_runs_or_threads_there_are(arms, noise, regimes):
    env, policy = build(FORMS[arms], "ImprovedOFUL", noise=noise, regimes=regimes)
    settings = {"rounds": 300, "seed": 3, "record": 7}
    many = gbb.simulate(env, policy, runs=21, workers=2, **settings)
    for runs, workers in ((21, 1), (12, 3), (8, 1), (4, 2), (3, 1), (1, 1)):
        few = gbb.simulate(env, policy, runs=runs, workers=workers, **settings)
        xr.testing.assert_identical(few, many.isel(run=slice(runs)))


@pytest.mark.parametrize(
    ("noise", "regimes"),
    [("gaussian", 1), ("uniform", 1), ("rademacher", 1), ("none", 1), ("gaussian", 3)],
)
@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("algorithm", ["OFUL", "ImprovedOFUL"])
@pytest.mark.parametrize("arms", FORMS)
def test_every_lane_plays_as_the_reference_on_the_same_noise(
    arms, algorithm, radius, noise, regimes
):
    env, policy = build(FORMS[arms], algorithm, "complete", noise, regimes, radius=radius)
    children = np.random.SeedSequence(4).spawn(4)
    kept = recorded_rounds(200, 1)
    fast = run_batch(env, policy, Task(200, kept, children, edge_noise=True))
    for seed, trace in zip(np.random.SeedSequence(4).spawn(4), fast, strict=True):
        plain = run_reference(env, policy, 200, kept, seed)
        np.testing.assert_array_equal(trace.couple, plain.couple)
        np.testing.assert_allclose(trace.reward, plain.reward, rtol=1e-10)
        np.testing.assert_allclose(trace.cumulative, plain.cumulative, rtol=1e-10)


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_couples_that_are_worth_nothing_tie_in_every_lane(tilt):
    """An arm that stays idle pays 0; where all others pay less, its couples are the best and tie."""
    arms = np.array([[1.0, 0.0], [tilt, 1.0], [0.0, 0.0]])  # one-hot, or general
    problem = gbb.Problem(gbb.Graph.complete(4), arms, sigma=0.1, S=2.0)
    env = gbb.Environment(problem, -np.ones((2, 2)))
    policy = gbb.policies.OFUL(problem, cut=gbb.cuts.greedy(problem.graph), radius="symmetric")
    given = {"rounds": 200, "seed": 1}
    reference = gbb.simulate(env, policy, runs=8, method="reference", **given)
    for runs in (8, 3):
        found = gbb.simulate(env, policy, runs=runs, edge_noise=True, **given)
        assert np.array_equal(found.couple, reference.couple[:, :runs])


@pytest.mark.parametrize("arms", FORMS)
def test_a_lane_plays_as_the_reference_for_ten_thousand_rounds(arms):
    env, policy = build(FORMS[arms], "ImprovedOFUL", "odd circle")
    kept = recorded_rounds(10_000, 1)
    seeds = np.random.SeedSequence(0).spawn(4)
    trace = run_batch(env, policy, Task(10_000, kept, seeds, edge_noise=True))[0]
    (first,) = np.random.SeedSequence(0).spawn(1)
    plain = run_reference(env, policy, 10_000, kept, first)
    np.testing.assert_array_equal(trace.couple, plain.couple)


@pytest.mark.parametrize("regimes", REGIMES)
def test_runs_in_batches_and_edge_by_edge_have_the_same_distribution(regimes):
    env, policy = build(FORMS["one-hot"], "OFUL", "complete", regimes=regimes, delta=0.5)
    settings = {"rounds": 300, "runs": 1200, "record": [300]}
    fast = gbb.simulate(env, policy, seed=1, **settings).regret.values.ravel()
    slow = gbb.simulate(env, policy, seed=2, edge_noise=True, **settings).regret.values.ravel()
    assert stats.ks_2samp(fast, slow).pvalue > 1e-3
    assert fast.std() > 0


@pytest.mark.parametrize("regimes", REGIMES)
@pytest.mark.parametrize("lanes", [8, 1])
def test_estimates_do_not_drift(lanes, regimes):
    env, policy = build(FORMS["general"], "ImprovedOFUL", regimes=regimes)
    for rounds in (16_383, 100_000):
        seeds = np.random.SeedSequence(9).spawn(1)
        form = play_runs(
            env, compile_policy(policy), task_of(seeds, rounds, [rounds]), seeds, lanes
        )
        check_estimates(form, policy.lam)


@pytest.mark.parametrize(("lanes", "regimes"), [(8, 1), (1, 1), (8, 3)])
def test_rounds_of_many_edges_are_followed_by_a_new_factorisation(lanes, regimes):
    """On a star of 200,000 leaves one round shrinks a variance beyond the limit."""
    graph = gbb.Graph.star(200_001)
    env, policy = build(unit_arms(3, 3, 0), "ImprovedOFUL", graph, regimes=regimes)
    for rounds in range(1, 12):
        seeds = np.random.SeedSequence(9).spawn(1)
        form = play_runs(
            env, compile_policy(policy), task_of(seeds, rounds, [rounds]), seeds, lanes
        )
        check_estimates(form, policy.lam)


@pytest.mark.parametrize("runs", [4, 1])
def test_what_is_factorised_anew_counts_once_in_the_radius(runs):
    """With so little regularisation a few edges shrink a variance beyond the limit, in each regime."""
    settings = {"regimes": 3, "radius": "symmetric", "lam": 1e-6}
    env, policy = build(FORMS["general"], "ImprovedOFUL", "complete", **settings)
    kept, seeds = recorded_rounds(150, 1), np.random.SeedSequence(6).spawn(runs)
    trace = run_batch(env, policy, Task(150, kept, seeds, edge_noise=True))[0]
    (first,) = np.random.SeedSequence(6).spawn(1)
    plain = run_reference(env, policy, 150, kept, first)
    np.testing.assert_array_equal(trace.couple, plain.couple)


def test_which_policies_this_loop_plays():
    for arms in ARMS.values():
        env = make_env(GRAPHS["random"], arms)
        cut = gbb.cuts.greedy(env.problem.graph)
        policy = gbb.policies.OFUL(env.problem, cut=cut)
        assert plays_couples(compile_policy(policy))
        assert loop_for(policy).batch == 8
        unequal = gbb.policies.OFUL(env.problem, cut=cut, radius="complete")
        assert not plays_couples(compile_policy(unequal))
