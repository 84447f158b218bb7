"""On a machine with a GPU: make test-cuda. The kernels against the engine, and against a fresh solve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gbb
from cuda_cases import check_estimate, everybody, instance
from gbb._support.checks import InputError
from gbb.policies._compiled import compile_policy
from gbb.simulation.cuda import Job, launch, runs, trace_jobs
from gbb.simulation.cuda.couples import CouplesKernel
from gbb.simulation.simulate import trace_runs
from gbb.simulation.trace import recorded_rounds

P = gbb.policies


@pytest.fixture(autouse=True, scope="module")
def device():
    try:
        return launch.launcher()
    except InputError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("K", [5, 10])
@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("name", ["OFUL", "ImprovedOFUL"])
def test_the_same_couples_as_the_engine_for_the_same_noise(name, radius, general, K):
    env, cut = instance(K, K, general=general)
    policy = getattr(P, name)(env.problem, cut=cut, radius=radius)
    recorded, own = recorded_rounds(10_000, 1), np.random.SeedSequence(1).spawn(4)
    here = trace_runs(env, [policy], recorded, own, edge_noise=True)[0]
    there = trace_runs(env, [policy], recorded, own, edge_noise=True, method="cuda")[0]
    for one, two in zip(here, there, strict=True):
        assert (one.couple == two.couple).all()


def test_what_is_earned_agrees_with_the_engine():
    """Over the instances together, in every recorded round."""
    recorded, number, count = recorded_rounds(1000, "log"), 500, 8
    cases = [instance(seed=s) for s in range(count)]
    for k in range(len(everybody(cases[0][0].problem, cases[0][1], 1000))):
        apart = spread = 0.0
        for s, (env, cut) in enumerate(cases):
            policy = everybody(env.problem, cut, 1000)[k]
            own = np.random.SeedSequence(s).spawn(number)
            here = np.stack([t.cumulative for t in trace_runs(env, [policy], recorded, own)[0]])
            there = np.stack(
                [t.cumulative for t in trace_jobs([Job(env, policy, own)], recorded)[0]]
            )
            apart = apart + here.mean(axis=0) - there.mean(axis=0)
            spread = spread + (here.var(axis=0, ddof=1) + there.var(axis=0, ddof=1)) / number
        z = apart / np.sqrt(np.where(spread > 0.0, spread, 1e-300))  # all alike: no difference
        assert np.abs(z).max() < 4.0, policy.name
        assert abs(z[-1]) < 3.0, policy.name


@pytest.mark.parametrize(("K", "d", "general"), [(5, 5, False), (5, 5, True), (7, 4, True)])
def test_a_million_rounds_do_not_drift(device, K, d, general):
    env, cut = instance(K, d, general=general)
    policy = P.ImprovedOFUL(env.problem, cut=cut, radius="symmetric")
    rounds = 1_000_000
    kernel = CouplesKernel.of(compile_policy(policy), rounds, shared_noise=False)
    own = np.random.SeedSequence(3).spawn(8)
    played = runs.play(
        device,
        replace(kernel, estimate=True),
        [Job(env, policy, own)],
        np.array([rounds]),
    )
    check_estimate(policy, rounds, played, rtol=1e-8)


def test_a_run_depends_on_its_seed_alone():
    cases = [instance(seed=s, general=s == 1) for s in range(2)]
    own, recorded = np.random.SeedSequence(4).spawn(100), np.arange(1, 301)
    jobs = [Job(env, p, own) for env, cut in cases for p in everybody(env.problem, cut, 300)[:2]]
    jobs += [Job(cases[0][0], p, own) for p in everybody(cases[0][0].problem, cases[0][1], 300)[2:]]
    for job, found in zip(jobs, trace_jobs(jobs, recorded), strict=True):
        alone = trace_jobs([job._replace(seeds=own[57:58])], recorded)[0][0]
        assert (alone.cumulative == found[57].cumulative).all(), job.policy.name
