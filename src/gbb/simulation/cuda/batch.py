"""Jobs in as few launches as can be: those that the same kernel plays go together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import IntArray
from gbb.environment import Environment, System
from gbb.policies import AnyPolicy, ExploreThenCommit, UniformRandom
from gbb.policies._compiled import CompiledPolicy, compile_policy
from gbb.simulation._trace import Trace
from gbb.simulation.cuda import couples, joint, launch, random_play
from gbb.simulation.cuda.stretches import Keys, keys_of
from gbb.simulation.engine.couples import plays_couples

PLAYED = "an index policy, ExploreThenCommit or UniformRandom"


class Job(NamedTuple):
    """An instance, a policy, and a seed for each of its runs."""

    env: System
    policy: AnyPolicy
    seeds: Sequence[np.random.SeedSequence]


def check_jobs(
    jobs: Sequence[Job], rounds: int, *, keep_allocations: bool = False, edge_noise: bool = False
) -> list[Any]:
    """The shapes of the kernels that play the jobs; an error where one has none. Needs no device."""
    return [_shape_of(job, rounds, edge_noise, keep_allocations) for job in jobs]


def require_device() -> None:
    """Say at once what is missing where there is no GPU, or no binding to it."""
    launch.launcher()


def trace_jobs(
    jobs: Sequence[Job],
    recorded: IntArray,
    *,
    keep_allocations: bool = False,
    edge_noise: bool = False,
    on_rounds: Callable[[int], None] | None = None,
) -> list[list[Trace]]:
    """The runs of every job, up to the last of the ``recorded`` rounds.

    With ``edge_noise`` the noise of every edge is drawn as in the reference loop and handed to the
    device, which then fuses no multiplications with additions: the same couples as in the engine.
    """
    how = {"keep_allocations": keep_allocations, "edge_noise": edge_noise}
    groups: dict[Any, list[int]] = {}
    for j, shape in enumerate(check_jobs(jobs, int(recorded[-1]), **how)):
        groups.setdefault(shape, []).append(j)
    device = launch.launcher()
    traces: list[list[Trace]] = [[] for _ in jobs]
    for shape, places in groups.items():
        found = _play(device, shape, [jobs[j] for j in places], recorded, keep_allocations)
        for j, runs in zip(places, found, strict=True):
            traces[j] = runs
            if on_rounds is not None:
                on_rounds(len(runs) * int(recorded[-1]))
    return traces


def trace_instances(
    instances: Sequence[tuple[System, Sequence[AnyPolicy], Sequence[np.random.SeedSequence]]],
    recorded: IntArray,
) -> list[list[list[Trace]]]:
    """The runs of all policies of every instance, by as few launches as can be."""
    jobs = [Job(env, policy, own) for env, policies, own in instances for policy in policies]
    flat = iter(trace_jobs(jobs, recorded))
    return [[next(flat) for _ in policies] for _, policies, _ in instances]


def _shape_of(job: Job, rounds: int, edge_noise: bool, keep_allocations: bool) -> Any:
    """What decides the kernel that plays a job; an error where there is none."""
    env, policy = job.env, compile_policy(job.policy) or job.policy
    if not isinstance(env, Environment) or not env.problem.is_paper_problem or env.problem.unknown:
        rule = 'be a gbb.Environment of the paper\'s problem, sigma and S known, for method="cuda"'
        raise checks.input_error("env", rule, "another")
    if env.noise not in ("gaussian", "none"):
        rule = "be 'gaussian' or 'none' for method=\"cuda\""
        raise checks.input_error("noise", rule, repr(env.noise))
    if isinstance(policy, ExploreThenCommit):  # not one that commits by another estimate
        known = type(policy) is ExploreThenCommit and policy.estimator == "ridge"
    else:
        known = type(policy) in (CompiledPolicy, UniformRandom)
    if not known:
        raise checks.input_error("policies", f'be {PLAYED} for method="cuda"', policy.name)
    if isinstance(policy, CompiledPolicy) and plays_couples(policy):
        couples.check_digits(policy, rounds)
        return couples.shape_of(policy, edge_noise)
    if edge_noise:
        raise checks.input_error("edge_noise", 'be for couples with method="cuda"', policy.name)
    if isinstance(policy, CompiledPolicy):
        return joint.shape_of(policy, keep_allocations)
    return random_play.shape_of(policy, rounds, keep_allocations)


def _play(
    device: launch.Launcher,
    shape: Any,
    jobs: Sequence[Job],
    recorded: IntArray,
    keep_allocations: bool,
) -> list[list[Trace]]:
    """The runs of jobs of one shape."""
    listed: list[tuple[Any, Any, Keys]] = [
        (j.env, compile_policy(j.policy) or j.policy, keys_of(j.seeds)) for j in jobs
    ]
    stops = np.cumsum([len(own) for *_, own in listed])
    ranges = [
        range(stop - len(own), stop) for (*_, own), stop in zip(listed, stops.tolist(), strict=True)
    ]
    if isinstance(shape, couples.Shape):
        given = _given(jobs, int(recorded[-1])) if shape.given else None
        played = couples.play_couples(device, shape, listed, recorded, given)
        return [
            [couples.trace_of(env, policy, played, run, keep_allocations) for run in runs]
            for (env, policy, _), runs in zip(listed, ranges, strict=True)
        ]
    if isinstance(shape, joint.Shape):
        found = joint.play_joint(device, shape, listed, recorded)
        return [
            [joint.trace_of(env, policy, found, run) for run in runs]
            for (env, policy, _), runs in zip(listed, ranges, strict=True)
        ]
    early = np.append(recorded[recorded < shape.rounds], shape.rounds)
    drawn = random_play.play_random(device, shape, listed, early)
    return [
        random_play.traces_of(job, drawn, runs, recorded, shape)
        for job, runs in zip(listed, ranges, strict=True)
    ]


def _given(jobs: Sequence[Any], rounds: int) -> couples.Given:
    drawn = [
        couples.given_noise(job.env, policy, job.seeds, rounds)
        for job in jobs
        if (policy := compile_policy(job.policy)) is not None
    ]
    return couples.Given(*(np.concatenate(each) for each in zip(*drawn, strict=True)))
