"""Random and constant play in the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gbb._kernels.random_play import Network, Tally, play_random
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import distinct
from gbb.environment import Environment
from gbb.learning.record import Record
from gbb.policies import Choice, ExploreThenCommit, FixedAllocation, UniformRandom
from gbb.policies.explore_then_commit import Committed
from gbb.problem import Problem
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.trace import Trace

if TYPE_CHECKING:
    from gbb.simulation.engine.loops import Run


def run_uniform(env: Environment, policy: UniformRandom, run: Run) -> Trace:  # noqa: ARG001
    """Play a run of uniform arms among those allowed."""
    if env.problem.contexts is None:
        return _play(env, np.ones(env.problem.K), run)[0]
    steps = np.cumsum(env.problem.allowed, axis=1)

    def draw(rounds: int) -> IntArray:
        drawn = run.rng.random((rounds, env.problem.n)) * steps[:, -1]
        arms: IntArray = np.argmax(steps > drawn[..., None], axis=2)
        return arms

    return _play_contexts(env, run, draw)


def run_fixed_allocation(env: Environment, policy: FixedAllocation, run: Run) -> Trace:
    """Play a run of one allocation."""
    if env.problem.contexts is not None:
        return _play_contexts(env, run, lambda rounds: np.tile(policy.allocation, (rounds, 1)))
    return _play_constant(env, Choice(policy.allocation), run)


def run_explore_then_commit(env: Environment, policy: ExploreThenCommit, run: Run) -> Trace:
    """Play random arms, then the policy's own commit step, then the same couple for ever."""
    explored = min(policy.exploration, run.rounds)
    early = run.recorded[run.recorded <= explored]
    first = run._replace(rounds=explored, recorded=np.union1d(early, [explored]))
    trace, record = explore(env, policy.design.weights, first)
    total = float(trace.cumulative[-1])
    trace = trace.shorten(early.size)
    if explored == run.rounds:
        return trace
    choice = policy.select(Committed(explored, record), run.rng)
    late = run.recorded[run.recorded > explored] - explored
    rest = run._replace(rounds=run.rounds - explored, recorded=late)
    return trace.followed_by(_play_constant(env, choice, rest), total)


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


def _play_constant(env: Environment, choice: Choice, run: Run) -> Trace:
    """Play the same choice in every round; nothing is learnt, so no noise is drawn."""
    run.blocks.report_done(run.rounds)
    size, reward = run.recorded.size, env.expected_reward(choice.allocation)
    return Trace(
        reward=np.full(size, reward),
        cumulative=reward * run.recorded.astype(np.float64),
        couple=np.tile(np.array(choice.couple or (-1, -1), dtype=np.int64), (size, 1)),
        allocation=np.tile(choice.allocation, (size, 1)) if run.keep_allocations else None,
    )


def _play_contexts(env: Environment, run: Run, draw: Callable[[int], IntArray]) -> Trace:
    """Play rounds with contexts of which nothing is learnt; ``draw`` gives their allocations."""
    assert env.rows is not None
    problem, recorded, R = env.problem, run.recorded, env.reward_tables
    reward, played, done = np.empty(run.rounds), [], 0
    for size in run.blocks.sizes(run.rounds, width=problem.m):
        arms, earned = draw(size), reward[done : done + size]
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
