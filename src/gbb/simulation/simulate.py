"""``simulate``: policies x runs x rounds, one spawned seed per run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, outside, seeds
from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore, progress_bar
from gbb._support.seeds import Seed
from gbb.cuts import Cut
from gbb.environment import Environment, System
from gbb.optimum import Optimum
from gbb.policies import AnyPolicy, PolicyLike, make_policies
from gbb.simulation import engine, reference, result
from gbb.simulation.baseline import make_baseline
from gbb.simulation.trace import FEWER, Trace, recorded_rounds
from gbb.simulation.workers import Job, count_threads, run_jobs

if TYPE_CHECKING:
    import xarray as xr

METHODS = ("engine", "reference", "cuda")

ContextLaw = Callable[[np.random.Generator, int], Iterable[Any]]
"""``law(rng, rounds)`` draws a context for every round."""

CONTEXTS = 2**32 - 1
"""The child of a seed that contexts are drawn from: none that is a run's."""

BYTES = 56
"""About what a recorded round of one run takes: rewards, totals, regrets and the couple."""

RUN_BYTES = 1500
"""About what a run takes beside its rounds."""

CONTEXT_BYTES = 16
"""About what the context of a round takes, at least."""


class SlowPolicyWarning(UserWarning):
    """A policy without a compiled loop is played by the reference loop."""


def simulate(
    env: System,
    policies: PolicyLike,
    *,
    rounds: int,
    runs: int = 1,
    seed: Seed = 0,
    record: int | str | ArrayLike = 1,
    keep_allocations: bool = False,
    optimum: Optimum | None = None,
    cut: Cut | None = None,
    contexts: Iterable[Any] | ContextLaw | None = None,
    progress: bool = False,
    method: str = "engine",
    workers: int | None = None,
    edge_noise: bool = False,
) -> xr.Dataset:
    """Play every policy in an environment and collect what it earned.

    The environment is a :class:`gbb.Environment`, a :class:`gbb.AdversarialEnvironment` or any other
    :class:`gbb.environment.System`.

    Run r of every policy has the same seeds, whatever other policies are listed: the same stream of
    noise, and the same noise on every edge with ``edge_noise`` or in the reference loop.

    Parameters
    ----------
    env
        The instance.
    policies
        The policies to play, all of ``env.problem``, with distinct names; one, a list, or a function
        that makes them for a problem. Also names or classes of policies, which then play over the
        best cut and know ``rounds``.
    rounds
        The horizon T.
    runs
        How many independent runs of each policy.
    seed
        A child is spawned from it for each run.
    record
        Keep every round (1), every k-th and the last (k), about 200 log-spaced ones ("log"), or the
        listed ones (counted from 1). A result that would not fit into memory is refused.
    keep_allocations
        Keep the allocations as well as the couples.
    optimum
        The best allocation, when it is known already; solved for otherwise. One that was not proven is
        raised, with a warning, to what a policy earned beyond it.
    cut
        Where the couples that an adversary's regret is measured against are played; the policies' own
        cut when left out, or the best one where they have none or several.
    contexts
        The context of each round, where ``env.problem`` has a kind of contexts: one for each
        round, or a function ``law(rng, rounds)`` that draws them, from a child of ``seed`` of its own.
        All policies and runs have the same; the environment's own when left out.
    progress
        Show a progress bar with the time left.
    method
        ``engine`` (compiled; policies it has no loop for fall back, with a warning), ``reference``
        (plain Python, edge by edge) or ``cuda`` (all runs side by side on a GPU, with the extra
        ``cuda``; random numbers of its own, that follow from each run's seed alone; UniformRandom and
        ExploreThenCommit are played by the engine).
    workers
        Threads to spread the runs over; all available cores when left out. Choices and rewards do not
        depend on it. Regret does where the optimum could not be proven: the solver has a time
        limit, and may find another in the next call. Pass ``optimum`` to measure by the same.
    edge_noise
        Let the engine draw the noise of every edge, as the reference does, instead of its sums over
        the edges of a kind: the same choices as the reference, at a cost of O(m) a round.

    Returns
    -------
    xarray.Dataset
        Over (policy, run, round), always ``expected_reward`` and ``couple``. In a
        :class:`gbb.Environment` also ``fraction`` (NaN unless the optimum is positive), ``regret`` and
        ``alpha_regret``; the coordinate
        ``alpha`` says which alpha each policy's alpha-regret uses: that of its theorem, or 1 for
        policies that have none. ``proven_fraction``, over (policy, run), is what a run earned over the
        best upper bound known, so that its allocations pay at least this share of the optimum however
        large the graph. Against a :class:`gbb.AdversarialEnvironment`, ``regret`` is what the
        best fixed couple over ``cut`` up to that round earned beyond the policy, ``dynamic_regret``
        what the best couple of every single round did.
    """
    _check_system(env)
    rounds = checks.integer("rounds", rounds, low=1)
    keep_allocations = checks.truth("keep_allocations", keep_allocations)
    edge_noise = checks.truth("edge_noise", edge_noise)
    progress = checks.truth("progress", progress)
    chosen = make_policies(policies, env.problem, rounds)
    _check_policies(env, chosen)
    runs = checks.integer("runs", runs, low=1)
    agents = env.problem.n if keep_allocations else 0
    recorded = _check_recorded(rounds, record, len(chosen) * runs, agents)
    env = _with_contexts(env, contexts, rounds, seed)
    if checks.choice("method", method, METHODS) == "cuda":
        from gbb.simulation import cuda  # noqa: PLC0415

        jobs = [cuda.Job(env, policy, []) for policy in chosen]
        cuda.check_jobs(jobs, rounds, keep_allocations=keep_allocations, edge_noise=edge_noise)
        cuda.require_device()
    baseline = make_baseline(env, chosen, recorded, optimum=optimum, cut=cut)
    bar = progress_bar(len(chosen) * runs * rounds) if progress else nullcontext(ignore)
    with bar as advance:
        traces = trace_runs(
            env,
            chosen,
            recorded,
            seeds.spawn(seed, runs),
            keep_allocations=keep_allocations,
            method=method,
            edge_noise=edge_noise,
            workers=workers,
            on_rounds=advance,
        )
    return result.assemble(env, chosen, traces, recorded, baseline)


def simulate_together(
    instances: Sequence[tuple[System, Sequence[AnyPolicy], Seed]],
    *,
    rounds: int,
    runs: int,
    record: int | str | ArrayLike,
) -> Iterator[xr.Dataset]:
    """Simulate every instance with ``method="cuda"``, all of them in one launch."""
    from gbb.simulation import cuda  # noqa: PLC0415

    rounds = checks.integer("rounds", rounds, low=1)
    runs = checks.integer("runs", runs, low=1)
    for env, policies, _ in instances:
        _check_system(env)
        _check_policies(env, policies)
    count = runs * sum(len(policies) for _, policies, _ in instances)
    recorded = _check_recorded(rounds, record, count)
    spawned = [(env, policies, seeds.spawn(seed, runs)) for env, policies, seed in instances]
    traces = cuda.trace_instances(spawned, recorded)
    for (env, policies, _), of_instance in zip(instances, traces, strict=True):
        baseline = make_baseline(env, policies, recorded, optimum=None, cut=None)
        yield result.assemble(env, policies, of_instance, recorded, baseline)


def trace_runs(
    env: System,
    policies: Sequence[AnyPolicy],
    recorded: IntArray,
    children: Sequence[np.random.SeedSequence],
    *,
    keep_allocations: bool = False,
    method: str = "engine",
    edge_noise: bool = False,
    workers: int | None = None,
    on_rounds: Advance = ignore,
) -> list[list[Trace]]:
    """Play a run of every policy with each seed, up to the last of the ``recorded`` rounds."""
    if method == "cuda":
        from gbb.simulation import cuda  # noqa: PLC0415

        return cuda.trace_jobs(
            [cuda.Job(env, policy, children) for policy in policies],
            recorded,
            keep_allocations=keep_allocations,
            edge_noise=edge_noise,
            workers=workers,
            on_rounds=on_rounds,
        )
    # Runs of each thread, rounded up: 5 on 2 threads are 3 and 2. A full batch on one thread would leave
    # the other idle; a run has the same numbers in a batch of any size.
    share = -(-len(policies) * len(children) // count_threads(workers))
    compiled = method == "engine" and isinstance(env, Environment) and env.additive
    jobs: list[Job] = []
    for policy in policies:
        loop = engine.loop_for(policy) if compiled else None
        if compiled and loop is None:
            text = "has no compiled loop; it is played by the reference loop, edge by edge,"
            outside.warn(f"{type(policy).__name__} {text} which is slower.", SlowPolicyWarning)
        run = engine.run_batch if loop is not None else reference.run_batch
        size = 1 if loop is None else max(1, min(loop.batch, share))
        for start in range(0, len(children), size):
            batch = children[start : start + size]
            task = engine.Task(int(recorded[-1]), recorded, batch, keep_allocations, edge_noise)
            jobs.append(partial(_play, run, env, policy, task))
    flat = run_jobs(jobs, workers=workers, on_rounds=on_rounds)
    return [flat[start : start + len(children)] for start in range(0, len(flat), len(children))]


def _play(
    run: Callable[..., list[Trace]],
    env: System,
    policy: AnyPolicy,
    task: engine.Task,
    on_rounds: Advance,
) -> list[Trace]:
    """Play the runs of a task, with copies of its seeds: a loop spawns from them, which changes them."""
    copies = [seeds.sequence(seed) for seed in task.seeds]
    return run(env, policy, task._replace(seeds=copies, on_rounds=on_rounds))


def _with_contexts(
    env: System, contexts: Iterable[Any] | ContextLaw | None, rounds: int, seed: Seed
) -> System:
    """Return ``env`` with a context for every round, if its problem has any."""
    if not isinstance(env, Environment):
        if contexts is not None:
            raise checks.conflict("`contexts` can only be combined with a gbb.Environment.")
        return env
    if env.problem.contexts is not None:
        checks.require_memory("rounds", float(CONTEXT_BYTES * rounds))
    if contexts is not None:
        if callable(contexts):
            root = seeds.sequence(seed)
            key = (*root.spawn_key, CONTEXTS)
            rng = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key))
            contexts = contexts(rng, rounds)
        if isinstance(contexts, Iterator):  # which may have no end
            contexts = list(itertools.islice(contexts, rounds))
        env = env.during(contexts)
    if env.problem.contexts is not None and (env.rows is None or len(env.rows) < rounds):
        got = "none" if env.rows is None else f"{len(env.rows)}"
        cure = "Pass a list of them, or a function (rng, rounds) that draws one."
        rule = f"have one for each of the {rounds} rounds"
        raise checks.input_error("contexts", rule, got, cure)
    return env


def _check_system(env: System) -> None:
    if not isinstance(env, System):
        raise checks.input_error("env", "be a gbb.Environment or a System", type(env).__name__)


def _check_policies(env: System, policies: Sequence[AnyPolicy]) -> None:
    if not policies:
        raise checks.input_error("policies", "hold at least one policy", "none")
    for policy in policies:
        if not hasattr(policy, "problem"):
            who = type(policy).__name__
            cure = f"Call super().__init__(problem, name=name) in {who}.__init__."
            raise checks.input_error("policies", "have a problem", f"{who} without", cure)
        if policy.problem is not env.problem:
            cure = "Build the policy and the environment on the same Problem object."
            raise checks.input_error(
                "policies", "play env.problem", f"another in {policy.name}", cure
            )
    labels = [policy.name for policy in policies]
    if len(set(labels)) < len(labels):
        cure = "Give each policy its own name=..."
        raise checks.input_error("policies", "have distinct names", labels, cure)


def _check_recorded(
    rounds: int, record: int | str | ArrayLike, runs: int, agents: int = 0
) -> IntArray:
    """Return the rounds to keep; refuse a result that would not fit into memory."""
    recorded = recorded_rounds(rounds, record)
    size = runs * (recorded.size * float(BYTES + 8 * agents) + RUN_BYTES)
    checks.require_memory("record", size, cure=FEWER)
    return recorded
