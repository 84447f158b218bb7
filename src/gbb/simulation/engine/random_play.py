"""Random and constant play in the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gbb._kernels.random_play import Network, Tally, play_random
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import distinct
from gbb.environment import Environment
from gbb.learning.record import Record
from gbb.policies import ExploreThenCommit, FixedAllocation, Learned, UniformRandom
from gbb.policies.explore_then_commit import Committed
from gbb.problem import Problem
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.trace import Trace

if TYPE_CHECKING:
    from gbb.simulation.engine.loops import Task


class Run(NamedTuple):
    """One run: its rounds, which of them to keep, their noise, and the policy's own randomness."""

    rounds: int
    recorded: IntArray
    blocks: Blocks
    rng: np.random.Generator
    keep_allocations: bool = False


def run_uniform(env: Environment, policy: UniformRandom, task: Task) -> list[Trace]:  # noqa: ARG001
    """Play runs of uniform arms among those allowed."""
    if env.problem.contexts is None:
        return [_play(env, np.ones(env.problem.K), run)[0] for run in _runs(env, task)]
    steps = np.cumsum(env.problem.allowed, axis=1)

    def draw(run: Run, rounds: int) -> IntArray:
        drawn = run.rng.random((rounds, env.problem.n)) * steps[:, -1]
        arms: IntArray = np.argmax(steps > drawn[..., None], axis=2)
        return arms

    return [_play_contexts(env, run, draw) for run in _runs(env, task)]


def run_fixed_allocation(env: Environment, policy: FixedAllocation, task: Task) -> list[Trace]:
    """Play runs of one allocation."""
    arms = policy.allocation
    if env.problem.contexts is not None:
        return [
            _play_contexts(env, run, lambda _, rounds: np.tile(arms, (rounds, 1)))
            for run in _runs(env, task)
        ]
    reward = env.expected_reward(arms)
    return [_play_constant(reward, (-1, -1), arms, run) for run in _runs(env, task)]


def run_explore_then_commit(env: Environment, policy: ExploreThenCommit, task: Task) -> list[Trace]:
    """Play runs of random arms, the policy's own commit step, then the same couple for ever."""
    explored = min(policy.exploration, task.rounds)
    early = task.recorded[task.recorded <= explored]
    late = task.recorded[task.recorded > explored] - explored
    traces = []
    for run in _runs(env, task):
        first = run._replace(rounds=explored, recorded=np.union1d(early, [explored]))
        trace, record = explore(env, policy.design.weights, first)
        total = float(trace.cumulative[-1])
        reward, cumulative, couple, arms, _ = trace
        kept = None if arms is None else arms[: early.size]
        trace = Trace(reward[: early.size], cumulative[: early.size], couple[: early.size], kept)
        if explored < task.rounds:
            choice = policy.select(Committed(Learned(explored, record), None), run.rng)
            paid = env.expected_reward(choice.allocation)
            rest = run._replace(rounds=task.rounds - explored, recorded=late)
            then = _play_constant(paid, choice.couple or (-1, -1), choice.allocation, rest)
            trace = trace.followed_by(then, total)
        traces.append(trace)
    return traces


def explore(env: Environment, weights: FloatArray, run: Run) -> tuple[Trace, Record]:
    """Play rounds in which every agent draws its arm from ``weights``; return their record too.

    Of the noise the record needs the sum over the edges played with each edge-arm. Its law depends on
    their number alone, so it is drawn once, after the last round, unless every edge's noise is drawn.
    """
    trace, tally = _play(env, weights, run)
    problem, R, (N, noise) = env.problem, env.reward_tables, tally
    if not run.blocks.edge_noise:  # which the rounds have added up
        noise = _sum_noise(run.blocks, problem, N)
    reward = R + R.transpose(0, 2, 1) if problem.symmetric_only else R
    return trace, Record(problem.ways * N, N * reward + env.sigma * noise)


def _runs(env: Environment, task: Task) -> Iterator[Run]:
    for seed in task.seeds:
        noise_rng, policy_rng = map(np.random.default_rng, seed.spawn(2))  # as the reference loop
        blocks = Blocks(env, noise_rng, edge_noise=task.edge_noise, on_rounds=task.on_rounds)
        yield Run(task.rounds, task.recorded, blocks, policy_rng, task.keep_allocations)


def _play(env: Environment, weights: FloatArray, run: Run) -> tuple[Trace, Tally]:
    """Play rounds of random arms; agents that may not play all arms draw uniformly among theirs."""
    problem, recorded, keep = env.problem, run.recorded, run.keep_allocations
    graph, R = problem.graph, np.array(env.reward_tables)
    network = Network(graph.indptr, graph.indices, problem.edge_types, problem.edge_weights)
    tally = Tally(np.zeros(R.shape, dtype=np.int64), np.zeros(R.shape))
    # A draw among c allowed arms is the floor(u c)-th of them: the first whose count exceeds u c.
    chances = weights[None] if problem.allowed.all() else problem.allowed
    steps = np.cumsum(chances, axis=1, dtype=np.float64)
    reward, cumulative = np.empty(recorded.size), np.empty(recorded.size)
    allocation = np.empty((recorded.size if keep else 0, problem.n), dtype=np.int64)
    done, total = 0, 0.0
    for size in run.blocks.sizes(run.rounds, width=problem.n if keep else 1):
        noise = np.empty((0, 0))
        if run.blocks.edge_noise:
            noise = np.ascontiguousarray(run.blocks.report(size)[:, problem.report.index])
        arms = np.empty((size if keep else 1, problem.n), dtype=np.int64)
        earned = np.empty(size)
        play_random(network, R, steps, noise, tally, earned, arms, run.rng)
        first, last = np.searchsorted(recorded, [done + 1, done + size + 1])
        here = recorded[first:last] - done - 1
        reward[first:last] = earned[here]
        cumulative[first:last] = (total + np.cumsum(earned))[here]
        if keep:
            allocation[first:last] = arms[here]
        total += float(earned.sum())
        done += size
    return _trace(reward, cumulative, allocation if keep else None), tally


def _sum_noise(blocks: Blocks, problem: Problem, N: IntArray) -> FloatArray:
    """Draw the sum of the noise over the edges played with each edge-arm, which are ``N``."""
    if not problem.symmetric_only:
        return blocks.sums(N.ravel(), 1).reshape(N.shape)
    # A link that reports one number has one noise for its two edges, which play (a, b) and (b, a).
    links = np.triu(N)
    arms = np.arange(problem.K)
    links[:, arms, arms] //= 2
    sums = blocks.sums(links.ravel(), 1).reshape(N.shape)
    both: FloatArray = sums + sums.transpose(0, 2, 1)
    return both


def _play_constant(reward: float, couple: tuple[int, int], arms: IntArray, run: Run) -> Trace:
    """Play the same choice in every round; nothing is learnt, so no noise is drawn."""
    run.blocks.report_done(run.rounds)
    size = run.recorded.size
    return Trace(
        reward=np.full(size, reward),
        cumulative=reward * run.recorded.astype(np.float64),
        couple=np.tile(np.array(couple, dtype=np.int64), (size, 1)),
        allocation=np.tile(arms, (size, 1)) if run.keep_allocations else None,
    )


def _play_contexts(env: Environment, run: Run, draw: Callable[[Run, int], IntArray]) -> Trace:
    """Play rounds with contexts of which nothing is learnt; ``draw`` gives their allocations."""
    assert env.rows is not None
    problem, recorded, R = env.problem, run.recorded, env.reward_tables
    reward, played, done = np.empty(run.rounds), [], 0
    for size in run.blocks.sizes(run.rounds, width=problem.m):
        arms, earned = draw(run, size), reward[done : done + size]
        contexts, which = distinct(env.rows[done : done + size])
        for number, row in enumerate(contexts):
            here, now = np.flatnonzero(which == number), problem.at_row(row)
            first, second = arms[here][:, now.sources], arms[here][:, now.targets]
            earned[here] = R[now.edge_types, first, second] @ now.edge_weights
        if run.keep_allocations:
            played.append(arms[recorded[(recorded > done) & (recorded <= done + size)] - 1 - done])
        done += size
    allocation = np.concatenate(played) if run.keep_allocations else None
    return _trace(reward[recorded - 1], np.cumsum(reward)[recorded - 1], allocation)


def _trace(reward: FloatArray, cumulative: FloatArray, allocation: IntArray | None) -> Trace:
    return Trace(reward, cumulative, np.full((reward.size, 2), -1, dtype=np.int64), allocation)
