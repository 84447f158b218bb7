"""Random and constant play in the engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbb._kernels.rounds.random_play import play_random
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import distinct
from gbb.environment import Environment
from gbb.learning.record import Record
from gbb.policies import Choice, ExploreThenCommit, FixedAllocation, UniformRandom
from gbb.policies.explore_then_commit import Committed
from gbb.problem import Problem
from gbb.simulation._trace import Trace
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import Request


def run_random(env: Environment, weights: FloatArray, asked: Request, learn: bool = True) -> Trace:
    """Rounds in which every agent draws its arm from ``weights``, in O(n + m) each.

    Agents that may not play all arms draw uniformly among theirs.

    What the record needs of the noise is its sum over the edges played with each edge-arm, whose law
    depends on their number alone; it is drawn once, after the last round, if ``learn``. Links that are
    seen as one have one noise for both of their edges.
    """
    rounds, recorded, blocks, rng, keep_allocations, *_ = asked
    problem = env.problem
    graph, R = problem.graph, np.array(env.reward_tables)
    N = np.zeros(R.shape, dtype=np.int64)
    noise_sums = np.zeros(R.shape)
    bars = None if problem.allowed.all() else np.where(problem.allowed, 0.0, -np.inf)
    steps = np.cumsum(weights)
    size = len(recorded)
    reward, cumulative = np.empty(size), np.empty(size)
    allocation = np.empty((size, problem.n), dtype=np.int64) if keep_allocations else None
    done, total = 0, 0.0
    for length in blocks.sizes(rounds, width=problem.n if keep_allocations else 1):
        noise = np.empty((0, 0))
        if blocks.edge_noise and learn:
            noise = np.ascontiguousarray(blocks.report(length)[:, problem.report.index])
        arms = np.empty((length if keep_allocations else 0, problem.n), dtype=np.int64)
        earned = np.empty(length)
        play_random(
            graph.indptr,
            graph.indices,
            problem.edge_types,
            problem.edge_weights,
            R,
            steps,
            bars,
            noise,
            N,
            noise_sums,
            earned,
            arms,
            rng,
        )
        first, last = np.searchsorted(recorded, [done + 1, done + length + 1])
        here = recorded[first:last] - done - 1
        reward[first:last] = earned[here]
        cumulative[first:last] = (total + np.cumsum(earned))[here]
        if allocation is not None:
            allocation[first:last] = arms[here]
        total += float(earned.sum())
        done += length
    if learn and not blocks.edge_noise:
        noise_sums = _sum_noise(blocks, problem, N)
    return Trace(
        reward=reward,
        cumulative=cumulative,
        couple=np.full((size, 2), -1, dtype=np.int64),
        allocation=allocation,
        record=_record(problem, R, N, noise_sums, env.sigma) if learn else None,
    )


def _sum_noise(blocks: Blocks, problem: Problem, N: IntArray) -> FloatArray:
    """The sum of the noise over the edges played with each edge-arm, which are ``N``."""
    if not problem.symmetric_only:
        return blocks.sums(N.ravel(), 1).reshape(N.shape)
    links = np.triu(N)  # a link with two arms alike has both of its edges in one place
    links[:, np.arange(problem.K), np.arange(problem.K)] //= 2
    sums = blocks.sums(links.ravel(), 1).reshape(N.shape)
    both: FloatArray = sums + sums.transpose(0, 2, 1)
    return both


def _record(
    problem: Problem, R: FloatArray, N: IntArray, noise_sums: FloatArray, sigma: float
) -> Record:
    """What rounds told that played ``N`` edges with each edge-arm."""
    pays = R + R.transpose(0, 2, 1) if problem.symmetric_only else R
    return Record(problem.ways * N, N * pays + sigma * noise_sums)


def run_constant(env: Environment, choice: Choice, asked: Request) -> Trace:
    """The same choice in every round; nothing is learnt, so no noise is needed."""
    recorded, size = asked.recorded, len(asked.recorded)
    asked.blocks.report_done(asked.rounds)
    reward = env.expected_reward(choice.allocation)
    return Trace(
        reward=np.full(size, reward),
        cumulative=reward * recorded.astype(np.float64),
        couple=np.tile(np.array(choice.couple or (-1, -1), dtype=np.int64), (size, 1)),
        allocation=np.tile(choice.allocation, (size, 1)) if asked.keep_allocations else None,
        record=None,
    )


def run_by_context(env: Environment, asked: Request, arms_of: Callable[[int], IntArray]) -> Trace:
    """Rounds with contexts of which nothing is learnt; ``arms_of(rounds)`` draws their allocations."""
    assert env.rows is not None
    problem, recorded, R = env.problem, asked.recorded, env.reward_tables
    reward, played, done = np.empty(asked.rounds), [], 0
    for size in asked.blocks.sizes(asked.rounds, width=problem.m):
        arms, earned = arms_of(size), reward[done : done + size]
        contexts, which = distinct(env.rows[done : done + size])
        for number, row in enumerate(contexts):
            here, now = np.flatnonzero(which == number), problem.at_row(row)
            first, second = arms[here][:, now.sources], arms[here][:, now.targets]
            earned[here] = R[now.edge_types, first, second] @ now.edge_weights
        done += size
        if asked.keep_allocations:
            played.append(arms[recorded[(recorded > done - size) & (recorded <= done)] - 1 - done])
    return Trace(
        reward=reward[recorded - 1],
        cumulative=np.cumsum(reward)[recorded - 1],
        couple=np.full((len(recorded), 2), -1, dtype=np.int64),
        allocation=np.concatenate(played) if asked.keep_allocations else None,
        record=None,
    )


def run_uniform(env: Environment, policy: UniformRandom, asked: Request) -> Trace:  # noqa: ARG001
    """All rounds of uniform play."""
    problem = env.problem
    if problem.contexts is not None:
        steps = np.cumsum(problem.allowed, axis=1)

        def draw(rounds: int) -> IntArray:
            drawn = asked.rng.random((rounds, problem.n)) * steps[:, -1]
            arms: IntArray = np.argmax(steps > drawn[..., None], axis=2)
            return arms

        return run_by_context(env, asked, draw)
    return run_random(env, np.ones(env.problem.K), asked, learn=False)


def run_fixed_allocation(env: Environment, policy: FixedAllocation, asked: Request) -> Trace:
    """All rounds of one allocation."""
    if env.problem.contexts is not None:
        return run_by_context(env, asked, lambda rounds: np.tile(policy.allocation, (rounds, 1)))
    return run_constant(env, Choice(policy.allocation), asked)


def run_explore_then_commit(env: Environment, policy: ExploreThenCommit, asked: Request) -> Trace:
    """Random play, then the policy's own commit step, then the same couple for ever."""
    rounds, recorded = asked.rounds, asked.recorded
    explored = min(policy.exploration, rounds)
    early = np.append(recorded[recorded < explored], explored)
    trace = run_random(env, policy.design.weights, asked._replace(rounds=explored, recorded=early))
    so_far = float(trace.cumulative[-1])
    if explored not in recorded:
        trace = trace.shorten(len(early) - 1)
    if explored == rounds:
        return trace
    assert trace.record is not None
    choice = policy.select(Committed(explored, trace.record), asked.rng)
    late = recorded[recorded > explored] - explored
    rest = asked._replace(rounds=rounds - explored, recorded=late)
    return trace.followed_by(run_constant(env, choice, rest), so_far)
