"""Play jobs on a GPU: those of one kernel go into one launch, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore
from gbb.environment import Environment, System
from gbb.policies import AnyPolicy, ExploreThenCommit, UniformRandom
from gbb.policies._compiled import CompiledPolicy, compile_policy
from gbb.simulation.cuda import launch
from gbb.simulation.cuda.couples import CouplesKernel, number_distinct, share_noise
from gbb.simulation.cuda.joint import JointKernel
from gbb.simulation.engine.couples import plays_couples
from gbb.simulation.simulate import trace_runs
from gbb.simulation.trace import Trace, couples_of

CHUNK = 1 << 16
"""Rounds of a launch. A run does not depend on it: random numbers are counted by round, and it is a
multiple of ``RENEW`` in ``text/pairs.cu``, whose kernel recomputes its estimate when a launch begins."""

MEMORY_SHARE = 0.7
"""The share of the free memory that a batch of runs may take."""

ON_THREADS = (UniformRandom, ExploreThenCommit)
"""Policies that the engine's threads play: a run takes about a millisecond there."""

AnyKernel = CouplesKernel | JointKernel


class Job(NamedTuple):
    """An instance, a policy, and a seed for each of its runs."""

    env: System
    policy: AnyPolicy
    seeds: Sequence[np.random.SeedSequence]


def check_jobs(
    jobs: Sequence[Job], rounds: int, *, keep_allocations: bool = False, edge_noise: bool = False
) -> list[AnyKernel | None]:
    """Return the kernel that plays each job, None for the engine; refuse others. Needs no device."""
    return [_choose_kernel(job, rounds, keep_allocations, edge_noise) for job in jobs]


def require_device() -> None:
    """Raise an error that says what is missing if there is no GPU or no CuPy."""
    launch.launcher()


def trace_jobs(
    jobs: Sequence[Job],
    recorded: IntArray,
    *,
    keep_allocations: bool = False,
    edge_noise: bool = False,
    workers: int | None = None,
    on_rounds: Advance = ignore,
) -> list[list[Trace]]:
    """Play the runs of every job up to the last of the ``recorded`` rounds.

    With ``edge_noise`` the noise of every edge is drawn as in the reference loop and handed to the
    device, which then fuses no multiplications with additions: the same couples as in the engine.

    Policies :data:`ON_THREADS` are played by the engine, on ``workers`` threads.
    """
    own: dict[str, Any] = {"keep_allocations": keep_allocations, "edge_noise": edge_noise}
    kernels = check_jobs(jobs, int(recorded[-1]), **own)
    traces: list[list[Trace]] = [[] for _ in jobs]
    for kernel in dict.fromkeys(kernels):
        group = [job for job, its_kernel in zip(jobs, kernels, strict=True) if its_kernel == kernel]
        numbers = (j for j, its_kernel in enumerate(kernels) if its_kernel == kernel)
        if kernel is None:
            own |= {"workers": workers, "on_rounds": on_rounds}
            for j, (env, policy, seeds) in zip(numbers, group, strict=True):
                (traces[j],) = trace_runs(env, [policy], recorded, seeds, **own)
            continue
        for j, runs in zip(
            numbers, _play_jobs(kernel, group, recorded, keep_allocations), strict=True
        ):
            traces[j] = runs
            on_rounds(len(runs) * int(recorded[-1]))
    return traces


def trace_instances(
    instances: Sequence[tuple[System, Sequence[AnyPolicy], Sequence[np.random.SeedSequence]]],
    recorded: IntArray,
) -> list[list[list[Trace]]]:
    """Play the runs of all policies of every instance in as few launches as possible."""
    jobs = [Job(env, policy, own) for env, policies, own in instances for policy in policies]
    flat = iter(trace_jobs(jobs, recorded))
    return [[next(flat) for _ in policies] for _, policies, _ in instances]


def _choose_kernel(
    job: Job, rounds: int, keep_allocations: bool, edge_noise: bool
) -> AnyKernel | None:
    """Return the kernel that plays a job, or None for the engine."""
    env, policy = job.env, compile_policy(job.policy) or job.policy
    if not isinstance(env, Environment) or not env.problem.is_paper_problem or env.problem.unknown:
        rule = 'be a gbb.Environment of the paper\'s problem, sigma and S known, for method="cuda"'
        raise checks.input_error("env", rule, "another")
    if env.noise not in ("gaussian", "none"):
        rule = "be 'gaussian' or 'none' for method=\"cuda\""
        raise checks.input_error("noise", rule, repr(env.noise))
    if type(policy) in ON_THREADS:
        return None
    if not isinstance(policy, CompiledPolicy):
        rule = 'be an index policy, ExploreThenCommit or UniformRandom for method="cuda"'
        raise checks.input_error("policies", rule, policy.name)
    if plays_couples(policy):
        return CouplesKernel.of(policy, rounds, shared_noise=edge_noise)
    if edge_noise:
        raise checks.input_error("edge_noise", 'be for couples with method="cuda"', policy.name)
    return JointKernel.of(policy, keep_allocations=keep_allocations)


def _play_jobs(
    kernel: AnyKernel, jobs: Sequence[Job], recorded: IntArray, keep_allocations: bool
) -> Iterator[list[Trace]]:
    """Play the jobs of one kernel and yield the traces of each."""
    played = play(launch.launcher(), kernel, jobs, recorded)
    stop = 0
    for job in jobs:
        env: Any = job.env
        policy: Any = compile_policy(job.policy)
        start, stop, traces = stop, stop + len(job.seeds), []
        values = policy.cut.couple_values(env.reward_tables[0]).ravel()
        for run in range(start, stop):
            number = played["couple"][:, run].astype(np.int64)
            couple = couples_of(number, env.problem.K, policy.cut.k)
            arms = couple[:, policy.cut.sides] if keep_allocations else None
            if "allocation" in played:  # with room for the agents of the launch's largest graph
                arms = played["allocation"][:, : env.problem.n, run].astype(np.int64)
            reward = played["reward"][:, run].copy() if "reward" in played else values[number]
            total = played["cumulative"][:, run].copy()
            traces.append(Trace(reward, total, couple, arms))
        yield traces


def play(
    device: launch.CupyLauncher, kernel: AnyKernel, jobs: Sequence[Job], recorded: IntArray
) -> dict[str, NDArray[Any]]:
    """Play all runs of jobs of one kernel side by side, in the order of ``jobs``.

    Returns by name the outputs (recorded rounds x ... x runs) and the last state (... x runs).
    """
    last = int(recorded[-1])
    instances: list[tuple[Any, Any]] = [(job.env, compile_policy(job.policy)) for job in jobs]
    first, schedules = number_distinct([_radius_key(policy) for _, policy in instances])
    what = kernel.launch(instances, schedules)
    compiled = device.compile(what.text.source, what.text.name, what.text.options)
    which = np.repeat(np.arange(len(jobs), dtype=np.int32), [len(job.seeds) for job in jobs])
    # Keys are of the seed itself: in the engine its children draw, here counters do (common.cu).
    keys = np.array([seed.generate_state(4) for job in jobs for seed in job.seeds], dtype=np.uint32)
    by_run, runs, chunk = [which, keys], len(keys), CHUNK
    if isinstance(kernel, CouplesKernel) and kernel.shared_noise:
        each = [
            share_noise(*own, job.seeds, last) for own, job in zip(instances, jobs, strict=True)
        ]
        by_run += [np.concatenate(parts) for parts in zip(*each, strict=True)]
        chunk = last  # noise is counted from the first round of a launch
    played = _allocate(np.zeros, what.outputs, runs, len(recorded))
    played |= _allocate(np.zeros, what.state, runs)
    size = sum(array.nbytes // runs for array in by_run)
    size += what.scratch.itemsize + what.state.itemsize + len(recorded) * what.outputs.itemsize
    at_once = max(1, int(MEMORY_SHARE * device.memory) // size)
    constants = [device.put(each) if np.ndim(each) else each for each in what.constants]
    table = device.put(what.instances)
    for batch in (slice(start, min(start + at_once, runs)) for start in range(0, runs, at_once)):
        count = batch.stop - batch.start
        which_here, keys_here, *noise = (device.put(array[batch]) for array in by_run)
        scratch = _allocate(device.zeros, what.scratch, count)
        state = _allocate(device.zeros, what.state, count)
        for start in range(0, last, chunk):
            rounds = np.arange(start, min(start + chunk, last), dtype=np.float64)
            kept = slice(*np.searchsorted(recorded, [start + 1, start + len(rounds) + 1]))
            marks = recorded[kept]
            outputs = _allocate(device.zeros, what.outputs, count, max(len(marks), 1))
            arguments = [
                *(table, which_here, keys_here, np.int64(count)),
                *(np.int64(start), np.int32(len(rounds))),
                device.put(np.stack([instances[j][1].radii(rounds) for j in first])),
                *(np.int32(len(marks)), device.put(np.append(marks, 0).astype(np.int64))),
                *(*constants, *scratch.values(), *state.values(), *outputs.values(), *noise),
            ]
            compiled(-(-count // what.text.runs), what.text.threads, what.text.shared, arguments)
            if len(marks):  # a copy waits for the device, which else goes on to the next launch
                for name, rows in outputs.items():
                    played[name][kept, ..., batch] = device.get(rows)
        for name, rows in state.items():
            played[name][..., batch] = device.get(rows)
    return played


def _allocate(
    zeros: Callable[..., Any], fields: np.dtype[np.void], runs: int, *rounds: int
) -> dict[str, Any]:
    """Make an array of zeros (rounds x ... x runs) of every field; the runs of a warp are adjacent."""
    kinds = {name: fields[name] for name in fields.names or ()}
    return {name: zeros((*rounds, *kind.shape, runs), kind.base) for name, kind in kinds.items()}


def _radius_key(policy: CompiledPolicy) -> Any:
    """Return all that the radii of a policy depend on."""
    if policy.adaptive or policy.radius is None:  # the kernel's own, or none
        return None
    p = policy.problem
    about = (p.sigma, p.parameters, p.gram_growth_per_round, p.L, p.norm, p.d, p.S)
    own = id(policy) if callable(policy.radius) else policy.radius
    return (own, policy.lam, policy.delta, *about)
