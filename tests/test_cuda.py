"""The GPU's kernels without a GPU: their own text, compiled as C++, plays rounds on the processor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cuda_host
import gbb
import philox
from cuda_cases import check_estimate, everybody, instance
from gbb import sweep
from gbb.policies._compiled import compile_policy
from gbb.simulation.cuda import Job, joint, launch, runs, trace_jobs
from gbb.simulation.cuda.couples import CouplesKernel
from gbb.sweep import instances

pytestmark = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no C++ compiler")

P = gbb.policies


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch):
    monkeypatch.setattr(launch, "launcher", cuda_host.HostLauncher)


@pytest.mark.parametrize(
    ("name", "radius", "K", "d", "general"),
    [
        ("OFUL", "paper", 5, 5, False),  # couples tie two by two
        ("ImprovedOFUL", "symmetric", 5, 5, False),
        ("ImprovedOFUL", "paper", 8, 8, False),  # loads in global memory
        ("OFUL", "symmetric", 5, 5, True),
        ("ImprovedOFUL", "paper", 5, 3, True),  # more pairs than dimensions
        ("ImprovedOFUL", "symmetric", 8, 4, True),  # two warps a run
    ],
)
def test_the_kernels_play_the_couples_of_the_engine(name, radius, K, d, general):
    env, cut = instance(K, d, general=general)
    policy = getattr(P, name)(env.problem, cut=cut, radius=radius)
    given = {"rounds": 60 if K == 8 and general else 150, "runs": 3, "edge_noise": True}
    here = gbb.simulate(env, [policy], **given)
    there = gbb.simulate(env, [policy], method="cuda", **given)
    assert (here.couple.values == there.couple.values).all()
    np.testing.assert_allclose(there.regret, here.regret, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("general", [False, True])
def test_means_and_widths_are_those_of_a_fresh_solve(general):
    env, cut = instance(general=general)
    rounds = 700
    policy = P.ImprovedOFUL(env.problem, cut=cut, radius="symmetric")
    kernel = CouplesKernel.of(compile_policy(policy), rounds, shared_noise=False)
    own = np.random.SeedSequence(1).spawn(2)
    played = runs.play(
        cuda_host.HostLauncher(),
        replace(kernel, estimate=True),
        [Job(env, policy, own)],
        np.array([rounds]),
    )
    check_estimate(policy, rounds, played, rtol=1e-9)


def test_random_numbers_are_philox_and_normal():
    keys = np.array(
        [[0, 0, 0, 0], [0xA4093822, 0x299F31D0, 0x13198A2E, 0x03707344]], dtype=np.uint32
    )
    # Known answers of Random123, whose counter is (round, draw, two words of the key).
    assert philox.words(keys[:1], 0, 0, 1).tolist() == [
        [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ]
    pi = philox.words(keys[1:], 0x243F6A88, 0x85A308D3, 1)
    assert pi.tolist() == [[0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]]
    x = philox.normals(
        philox.keys_of(np.random.SeedSequence(5).spawn(1000)), 7, philox.NOISE, 100
    ).ravel()
    assert abs(x.mean()) < 4 / np.sqrt(x.size)
    assert abs(x.var() - 1.0) < 4 * np.sqrt(2 / x.size)
    assert abs((x**4).mean() - 3.0) < 4 * np.sqrt(96 / x.size)


def test_the_device_draws_what_numpy_does():
    """The noise of one round of one couple, found again in what it paid."""
    env, cut = instance()
    policy = P.ImprovedOFUL(env.problem, cut=cut)
    own = np.random.SeedSequence(2).spawn(3)
    kernel = CouplesKernel.of(compile_policy(policy), 1, shared_noise=False)
    played = runs.play(cuda_host.HostLauncher(), kernel, [Job(env, policy, own)], np.array([1]))
    x = philox.normals(philox.keys_of(own), 0, philox.NOISE, 4)
    roots, R = np.sqrt([cut.m12, cut.m21, cut.m1, cut.m2]), env.reward_tables[0]
    for run in range(3):
        a, b = divmod(int(played["couple"][0, run]), 5)
        expected = policy.cut.couple_values(R)[a, b] + (roots * x[run]).sum()
        assert played["paid"][:, run].sum() == pytest.approx(expected, rel=1e-12)


def test_what_is_earned_agrees_with_the_engine():
    env, cut = instance()
    given = {"rounds": 120, "runs": 150, "record": "log"}
    policies = everybody(env.problem, cut, 120)
    here = gbb.simulate(env, policies, **given)
    there = gbb.simulate(env, policies, method="cuda", **given)
    ends = [result.regret.isel(round=-1) for result in (here, there)]
    apart = ends[0].mean("run") - ends[1].mean("run")
    error = np.sqrt(sum(each.var("run", ddof=1) / 150 for each in ends))
    assert (abs(apart) < 3.5 * error).all(), (apart / error).values


def test_random_play_is_the_engines():
    """Explore-then-commit too: they learn nothing from round to round, so a device would gain little."""
    env, cut = instance()
    policies = everybody(env.problem, cut, 60)[-2:]
    given = {"rounds": 60, "runs": 3, "keep_allocations": True}
    here = gbb.simulate(env, policies, **given)
    assert here.equals(gbb.simulate(env, policies, method="cuda", **given))


def test_allocations_pay_what_is_recorded():
    env, cut = instance(graph=gbb.Graph.random(12, p=0.4, seed=3))
    result = gbb.simulate(
        env,
        everybody(env.problem, cut, 30),
        rounds=30,
        runs=2,
        method="cuda",
        keep_allocations=True,
    )
    arms, R = result.allocation.values, env.reward_tables[0]
    source, target = env.problem.graph.edges.T
    np.testing.assert_allclose(
        R[arms[..., source], arms[..., target]].sum(-1), result.expected_reward
    )


def test_without_noise_joint_policies_end_at_the_optimum():
    env, cut = instance(graph=gbb.Graph.random(10, p=0.5, seed=1))
    quiet = gbb.Environment(env.problem, env.M_star, noise="none")
    policy = P.EpsilonGreedy(env.problem, cut=cut, epsilon=0.3)
    result = gbb.simulate(quiet, [policy], rounds=400, runs=2, method="cuda")
    assert np.median(result.fraction.values[0, :, -100:]) > 0.99


@pytest.mark.parametrize("far", [False, True])
def test_a_run_depends_on_its_seed_alone(monkeypatch, far):
    """Not on other runs, other instances, the size of a launch, nor where the agents' numbers stand."""
    if far:
        monkeypatch.setattr(joint, "MAX_SHARED", 0)
    envs = [instance(seed=s) for s in range(2)]
    own = np.random.SeedSequence(4).spawn(3)
    recorded = np.arange(1, 41)
    jobs = [Job(env, p, own) for env, cut in envs for p in everybody(env.problem, cut, 40)]
    together = trace_jobs(jobs, recorded)
    monkeypatch.setattr(joint, "MAX_SHARED", 1 << 16)
    for job, found in zip(jobs, together, strict=True):
        alone = trace_jobs([job._replace(seeds=own[1:2])], recorded)[0][0]
        assert (alone.cumulative == found[1].cumulative).all()
        if alone.couple is not None:
            assert (alone.couple == found[1].couple).all()


@pytest.mark.parametrize("general", [False, True])
def test_long_runs_are_played_in_chunks(monkeypatch, general):
    env, cut = instance(general=general)
    policies = [P.ImprovedOFUL(env.problem, cut=cut, radius="symmetric")]
    if not general:
        policies = everybody(env.problem, cut, 100)
    given = {"rounds": 100, "runs": 2, "method": "cuda", "record": [1, 63, 64, 65, 100]}
    whole = gbb.simulate(env, policies, **given)
    monkeypatch.setattr(cuda_host.HostLauncher, "memory", 1)  # and a run at a time
    monkeypatch.setattr(runs, "CHUNK", 64)
    assert whole.equals(gbb.simulate(env, policies, **given))


def test_policies_with_radii_of_their_own_keep_them():
    env, cut = instance()

    def bonus(c):
        return lambda problem, rounds, lam, delta: c * np.sqrt(np.log(rounds + 2.0))  # noqa: ARG005

    two = [P.ImprovedOFUL(env.problem, cut=cut, radius=bonus(c), name=f"{c}") for c in (0.01, 20.0)]
    given = {"rounds": 60, "runs": 2, "method": "cuda"}
    together = gbb.simulate(env, two, **given)
    for k, each in enumerate(two):
        alone = gbb.simulate(env, each, **given)
        assert np.array_equal(together.regret[k], alone.regret[0])


def test_compare_plays_all_instances_at_once():
    envs = [instance(seed=s)[0] for s in range(3)]
    result = gbb.compare(envs, ["OFUL", "ThompsonSampling"], rounds=30, runs=2, method="cuda")
    alone = gbb.simulate(
        envs[1],
        [P.OFUL(envs[1].problem, cut=gbb.cuts.greedy(envs[1].problem.graph))],
        rounds=30,
        runs=2,
        seed=np.random.SeedSequence(0).spawn(3)[1],
        record="log",
        method="cuda",
    )
    there = result.lost.isel(run=slice(2, 4), policy=0)
    np.testing.assert_allclose(there, alone.regret.isel(policy=0))


def test_a_sweep_plays_the_instances_of_a_task_at_once(tmp_path):
    given = {"graph": "complete", "n": [4, 5], "d": 3, "matrices": 3, "runs": 2, "rounds": 20}
    declared = gbb.Sweep(**given, policies=["OFUL", "UniformRandom"], method="cuda")
    assert sweep.run(declared, tmp_path, make_executor=sweep.executors.here).complete
    sweep.collect(tmp_path)
    dataset = sweep.open_sweep(tmp_path).load()
    cell = declared.cells[1]
    env = instances.make_environment(declared, cell, 2)
    own = instances.seed_of(declared, instances.RUNS, 2).spawn(2)
    policy = instances.make_policies(declared, env.problem, ["OFUL"])[0]
    alone = trace_jobs([Job(env, policy, own)], declared.recorded)[0]
    found = dataset.expected_reward.isel(n=1, matrix=2).sel(policy="OFUL")
    assert (found.values == np.stack([each.reward for each in alone])).all()
