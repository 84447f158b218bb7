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
from gbb._support.seeds import Seed
from gbb.cuts import Cut
from gbb.environment import Environment, System
from gbb.optimum import Optimum
from gbb.policies import AnyPolicy, PolicyLike, make_policies
from gbb.problem import Problem
from gbb.simulation import engine, reference, result
from gbb.simulation._jobs import Job, count_threads, run_jobs
from gbb.simulation._progress import progress_bar
from gbb.simulation._trace import LOG_POINTS, Trace, recorded_rounds
from gbb.simulation._yardstick import choose_yardstick

if TYPE_CHECKING:
    import xarray as xr

METHODS = ("engine", "reference", "cuda")

ContextLaw = Callable[[np.random.Generator, int], Iterable[Any]]
"""``law(rng, rounds)`` draws a context for every round."""

CONTEXTS = 2**32 - 1
"""Which child of a seed contexts are drawn from: none that is a run's."""

BYTES = 56
"""About what a recorded round of one run takes: rewards, totals, regrets and the couple."""

RUN_BYTES = 1500
"""About what a run takes beside its rounds and the arrays of its record."""

CONTEXT_BYTES = 16
"""About what the context of a round takes, at least."""

MOST_BYTES = 8 * 2**30
"""Results that would take more memory than this are refused."""


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
        listed ones (counted from 1). A result that would take more than 8 GiB is refused.
    keep_allocations
        Keep the allocations as well as the couples.
    optimum
        The best allocation, when it is known already; solved for otherwise. One that was not proven is
        raised, with a warning, to what a policy earned beyond it.
    cut
        Where the couples that an adversary's regret is measured against are played; the policies' own
        cut when left out, or the best one where they have none or several.
    contexts
        What is known before each round, where ``env.problem`` has a kind of contexts: one for each
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
        Threads to spread the runs over; all available cores when left out. What is played and earned
        does not depend on it. Regret does where the optimum could not be proven: the solver has a time
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
    _check_memory(env.problem, len(chosen) * runs, rounds, record, agents)
    env = _with_contexts(env, contexts, rounds, seed)
    recorded = recorded_rounds(rounds, record)
    if checks.choice("method", method, METHODS) == "cuda":
        from gbb.simulation import cuda  # noqa: PLC0415

        jobs = [cuda.Job(env, policy, []) for policy in chosen]
        cuda.check_jobs(jobs, rounds, keep_allocations=keep_allocations, edge_noise=edge_noise)
        cuda.require_device()
    yardstick = choose_yardstick(env, chosen, recorded, optimum=optimum, cut=cut)
    bar = progress_bar(len(chosen) * runs * rounds) if progress else nullcontext(None)
    with bar as step:
        traces = trace_runs(
            env,
            chosen,
            recorded,
            seeds.spawn(seed, runs),
            keep_allocations=keep_allocations,
            method=method,
            edge_noise=edge_noise,
            workers=workers,
            on_rounds=step,
        )
    return result.assemble(env, chosen, traces, recorded, yardstick)


def simulate_together(
    instances: Sequence[tuple[System, Sequence[AnyPolicy], Seed]],
    *,
    rounds: int,
    runs: int,
    record: int | str | ArrayLike,
) -> Iterator[xr.Dataset]:
    """As :func:`simulate` with ``method="cuda"`` of every instance, all of them played at once."""
    from gbb.simulation import cuda  # noqa: PLC0415

    rounds, runs = (
        checks.integer(name, value, low=1) for name, value in (("rounds", rounds), ("runs", runs))
    )
    for env, policies, _ in instances:
        _check_system(env)
        _check_policies(env, policies)
    largest = max((env.problem for env, *_ in instances), key=_record_bytes)
    count = sum(len(policies) for _, policies, _ in instances)
    _check_memory(largest, count * runs, rounds, record)
    recorded = recorded_rounds(rounds, record)
    spawned = [(env, policies, seeds.spawn(seed, runs)) for env, policies, seed in instances]
    traces = cuda.trace_instances(spawned, recorded)
    for (env, policies, _), found in zip(instances, traces, strict=True):
        yardstick = choose_yardstick(env, policies, recorded, optimum=None, cut=None)
        yield result.assemble(env, policies, found, recorded, yardstick)


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
    on_rounds: Callable[[int], None] | None = None,
) -> list[list[Trace]]:
    """A run of every policy with each seed, up to the last of the ``recorded`` rounds; not measured."""
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
    jobs: list[Job] = []
    share = -(-len(policies) * len(children) // count_threads(workers))  # of each thread
    for policy in policies:
        run, most = _choose_loop(env, policy, method, edge_noise)
        size = max(1, min(most, share))
        rounds = int(recorded[-1])
        loop = partial(run, policy, rounds, recorded, keep_allocations=keep_allocations)
        starts = range(0, len(children), size)
        jobs += [Job(children[start : start + size], loop) for start in starts]
    flat = run_jobs(jobs, workers=workers, on_rounds=on_rounds)
    return [flat[start : start + len(children)] for start in range(0, len(flat), len(children))]


def _with_contexts(
    env: System, contexts: Iterable[Any] | ContextLaw | None, rounds: int, seed: Seed
) -> System:
    """``env`` with a context for every round, if its problem has any."""
    if not isinstance(env, Environment):
        if contexts is not None:
            raise checks.conflict("`contexts` can only be combined with a gbb.Environment.")
        return env
    if contexts is not None:
        if callable(contexts):
            own = seeds.sequence(seed)
            key = (*own.spawn_key, CONTEXTS)
            rng = np.random.default_rng(np.random.SeedSequence(own.entropy, spawn_key=key))
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


def _choose_loop(
    env: System, policy: AnyPolicy, method: str, edge_noise: bool
) -> tuple[Callable[..., list[Trace]], int]:
    """The loop over the rounds of ``env`` that plays ``policy``, and how many runs it takes at most."""
    if method == "engine" and isinstance(env, Environment) and env.additive:
        loop = engine.loop_for(policy)
        if loop is not None:
            return partial(engine.run_batch, env, edge_noise=edge_noise), loop.batch
        text = "has no compiled loop; it is played by the reference loop, edge by edge, which is slower."
        outside.warn(f"{type(policy).__name__} {text}", SlowPolicyWarning)
    return partial(reference.run_all, env), 1


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


def _check_memory(
    problem: Problem, traces: int, rounds: int, record: int | str | ArrayLike, agents: int = 0
) -> None:
    """Refuse a result that would not fit in memory, before anything is made for it."""
    if isinstance(record, str) or np.ndim(record):
        kept = min(rounds, LOG_POINTS) if isinstance(record, str) else int(np.size(record))
    else:
        kept = -(-rounds // checks.integer("record", record, low=1))
    if problem.contexts is not None and CONTEXT_BYTES * rounds > MOST_BYTES:
        rule = f"be few enough for {MOST_BYTES / 2**30:g} GiB of contexts"
        raise checks.input_error("rounds", rule, f"{rounds:,}")
    each, once = kept * (BYTES + 8 * agents), RUN_BYTES + _record_bytes(problem)
    size = traces * (each + once)
    if size > MOST_BYTES and once > each:
        rule = f"be few enough for {MOST_BYTES / 2**30:g} GiB"
        found = f"{traces:,} in all, about {size / 2**30:,.0f} GiB"
        raise checks.input_error(
            "runs", rule, found, "Pass fewer runs, or play them in several calls."
        )
    if size > MOST_BYTES:
        rule = f"keep few enough rounds for {MOST_BYTES / 2**30:g} GiB"
        found = f"{kept:,} rounds of {traces:,} runs, about {size / 2**30:,.0f} GiB"
        cure = 'Pass record="log" or a larger step, or fewer runs.'
        raise checks.input_error("record", rule, found, cure)


def _record_bytes(problem: Problem) -> int:
    """What the arrays of a run's record take: two tables, or a matrix and a vector of moments."""
    p = problem.parameters
    return 16 * problem.types * problem.K**2 if problem.tabular else 8 * p * (p + 1)
