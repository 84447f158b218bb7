"""Play jobs on a GPU: those of one kernel go into one launch, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment, System
from gbb.policies import AnyPolicy, ExploreThenCommit, UniformRandom
from gbb.simulation._lowering import LoweredPolicy, lower
from gbb.simulation._simulate import trace_runs
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.cuda import launch
from gbb.simulation.cuda.couples import CouplesKernel, number_distinct, share_noise
from gbb.simulation.cuda.joint import JointKernel
from gbb.simulation.engine.couples import plays_couples

CHUNK = 1 << 16
"""Rounds of a launch. A run does not depend on it, as its random numbers are counted by round."""

MEMORY_SHARE = 0.7
"""The share of the free memory that a batch of runs may take."""

PLAYED = "an index policy, ExploreThenCommit or UniformRandom"

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
    on_rounds: Callable[[int], None] | None = None,
) -> list[list[Trace]]:
    """Play the runs of every job up to the last of the ``recorded`` rounds.

    With ``edge_noise`` the noise of every edge is drawn as in the reference loop and handed to the
    device, which then fuses no multiplications with additions: the same couples as in the engine.

    UniformRandom and ExploreThenCommit are played by the engine on ``workers`` threads, where a run
    takes about a millisecond.
    """
    own: dict[str, Any] = {"keep_allocations": keep_allocations, "edge_noise": edge_noise}
    kernels = check_jobs(jobs, int(recorded[-1]), **own)
    traces: list[list[Trace]] = [[] for _ in jobs]
    played: Iterator[list[Trace]]
    for kernel in dict.fromkeys(kernels):
        numbers = [j for j, each in enumerate(kernels) if each == kernel]
        group = [jobs[j] for j in numbers]
        if kernel is None:
            options = {**own, "workers": workers, "on_rounds": on_rounds}
            played = (trace_runs(e, [p], recorded, seeds, **options)[0] for e, p, seeds in group)
        else:
            played = _play_jobs(kernel, group, recorded, keep_allocations, on_rounds)
        for j, runs in zip(numbers, played, strict=True):
            traces[j] = runs
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
    env, policy = job.env, lower(job.policy) or job.policy
    if not isinstance(env, Environment) or not env.problem.is_paper_problem or env.problem.unknown:
        rule = 'be a gbb.Environment of the paper\'s problem, sigma and S known, for method="cuda"'
        raise checks.input_error("env", rule, "another")
    if env.noise not in ("gaussian", "none"):
        rule = "be 'gaussian' or 'none' for method=\"cuda\""
        raise checks.input_error("noise", rule, repr(env.noise))
    if type(policy) in (UniformRandom, ExploreThenCommit):
        return None
    if not isinstance(policy, LoweredPolicy):
        raise checks.input_error("policies", f'be {PLAYED} for method="cuda"', policy.name)
    if plays_couples(policy):
        return CouplesKernel.of(policy, rounds, shared_noise=edge_noise)
    if edge_noise:
        raise checks.input_error("edge_noise", 'be for couples with method="cuda"', policy.name)
    return JointKernel.of(policy, keep_allocations=keep_allocations)


def _play_jobs(
    kernel: AnyKernel,
    jobs: Sequence[Job],
    recorded: IntArray,
    keep_allocations: bool,
    on_rounds: Callable[[int], None] | None,
) -> Iterator[list[Trace]]:
    """Play the jobs of one kernel and yield the traces of each."""
    rounds, noise = int(recorded[-1]), []
    listed: list[tuple[Any, Any, Any]] = [(e, lower(p), make_keys(seeds)) for e, p, seeds in jobs]
    if isinstance(kernel, CouplesKernel) and kernel.shared_noise:
        each = [
            share_noise(listed[j][0], listed[j][1], job.seeds, rounds) for j, job in enumerate(jobs)
        ]
        noise = [np.concatenate(parts) for parts in zip(*each, strict=True)]
    played = play(launch.launcher(), kernel, listed, recorded, noise)
    stop = 0
    for env, policy, keys in listed:
        start, stop, traces = stop, stop + len(keys), []
        values = policy.cut.couple_values(env.reward_tables[0]).ravel()
        for run in range(start, stop):
            number = played["couple"][:, run].astype(np.int64)
            couple = couples_of(number, env.problem.K, policy.cut.k)
            arms = couple[:, policy.cut.sides] if keep_allocations else None
            if "allocation" in played:  # with room for the agents of the launch's largest graph
                arms = played["allocation"][:, : env.problem.n, run].astype(np.int64)
            reward = played["reward"][:, run].copy() if "reward" in played else values[number]
            total = played["cumulative"][:, run].copy()
            traces.append(Trace(reward, total, couple, arms, None))
        if on_rounds is not None:
            on_rounds(len(traces) * rounds)
        yield traces


def make_keys(seeds: Sequence[np.random.SeedSequence]) -> NDArray[np.uint32]:
    """Return the 128 bits of every seed that a run's random numbers follow from."""
    # Of the seed itself: in the engine a run's children draw, here counters do (text/common.cu).
    return np.array([seed.generate_state(4) for seed in seeds], dtype=np.uint32).reshape(-1, 4)


def play(
    device: launch.CupyLauncher,
    kernel: AnyKernel,
    jobs: Sequence[tuple[Environment, LoweredPolicy, NDArray[np.uint32]]],
    recorded: IntArray,
    shared_noise: Sequence[FloatArray] = (),
) -> dict[str, NDArray[Any]]:
    """Play all runs of all jobs, an instance, a policy and keys, side by side and in this order.

    Returns by name the outputs (recorded rounds x ... x runs) and the last state (... x runs).
    """
    policies = [policy for _, policy, _ in jobs]
    first, schedules = number_distinct([_radius_key(policy) for policy in policies])
    what = kernel.launch([(env, policy) for env, policy, _ in jobs], schedules)
    compiled = device.compile(what.text.source, what.text.name, what.text.options)
    which = np.repeat(np.arange(len(jobs), dtype=np.int32), [len(keys) for *_, keys in jobs])
    by_run = [which, np.concatenate([keys for *_, keys in jobs]), *shared_noise]
    runs, last = len(which), int(recorded[-1])
    outputs = {
        name: ((len(recorded), *shape), kind) for name, (shape, kind) in what.outputs.items()
    }
    played = {
        name: np.zeros((*shape, runs), kind)
        for name, (shape, kind) in {**outputs, **what.state}.items()
    }
    scratch = sum(math.prod(shape) * np.dtype(kind).itemsize for shape, kind in what.scratch)
    size = scratch + sum(array.nbytes for array in (*by_run, *played.values())) // runs
    at_once = max(1, int(MEMORY_SHARE * device.memory) // size)
    constants = [device.put(each) if np.ndim(each) else each for each in what.constants]
    instances = device.put(what.instances)

    def allocate(fields: Iterable[launch.Field], count: int, *rows: int) -> list[Any]:
        return [device.zeros((*rows, *shape, count), kind) for shape, kind in fields]

    for batch in (slice(start, min(start + at_once, runs)) for start in range(0, runs, at_once)):
        count = batch.stop - batch.start
        which_here, keys, *noise = (device.put(array[batch]) for array in by_run)
        carried = [*allocate(what.scratch, count), *allocate(what.state.values(), count)]
        # Shared noise is counted from the first round of a launch, so all rounds are in one.
        chunk = last if shared_noise else CHUNK
        for start in range(0, last, chunk):
            rounds = np.arange(start, min(start + chunk, last), dtype=np.float64)
            kept = slice(*np.searchsorted(recorded, [start + 1, start + len(rounds) + 1]))
            marks = recorded[kept]
            buffers = allocate(what.outputs.values(), count, max(len(marks), 1))
            arguments = [
                *(instances, which_here, keys, np.int64(count)),
                *(np.int64(start), np.int32(len(rounds))),
                device.put(np.stack([policies[j].radii(rounds) for j in first])),
                *(np.int32(len(marks)), device.put(np.append(marks, 0).astype(np.int64))),
                *(*constants, *carried, *buffers, *noise),
            ]
            compiled(-(-count // what.text.runs), what.text.threads, what.text.shared, arguments)
            if len(marks):  # a copy waits for the device, which else goes on to the next launch
                for name, buffer in zip(what.outputs, buffers, strict=True):
                    played[name][kept, ..., batch] = device.get(buffer)
        for name, rows in zip(what.state, carried[len(what.scratch) :], strict=True):
            played[name][..., batch] = device.get(rows)
    return played


def _radius_key(policy: LoweredPolicy) -> Any:
    """Return all that the radii of a policy depend on."""
    if policy.adaptive or policy.radius is None:  # the kernel's own, or none
        return None
    p = policy.problem
    about = (p.sigma, p.parameters, p.gram_growth_per_round, p.L, p.norm, p.d, p.S)
    own = id(policy) if callable(policy.radius) else policy.radius
    return (own, policy.lam, policy.delta, *about)
