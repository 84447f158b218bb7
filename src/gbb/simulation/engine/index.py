"""Index policies on any problem in the engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gbb._kernels.rounds.index import Setting, play_index
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.learning.scales import estimation_rounds
from gbb.policies import Learned
from gbb.problem import Problem
from gbb.simulation._lowering import LoweredPolicy
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import Request
from gbb.simulation.engine.setting import block_size, record_of, set_up
from gbb.simulation.trace import Trace

CELLS = 1 << 23
"""The most numbers that the tables of a policy may hold."""


def plays_index(policy: LoweredPolicy) -> bool:
    """Whether this loop plays ``policy``: its tables are not too large."""
    alone = policy.problem.contexts is None
    return alone and policy.is_listed and fits_tables(policy, policy.tuples.size)


def fits_tables(policy: LoweredPolicy, tuples: int) -> bool:
    """Whether the tables of ``policy`` are small enough, with so many tuples of arms."""
    problem, size = policy.problem, block_size(policy)
    blocks = problem.types if problem.tabular else 1
    tables = 2 * problem.types * problem.K**2 * size
    factors = blocks * size * (size + 1)
    return policy.coordinates.diagonal or max(tables, factors, tuples * blocks * size) <= CELLS


def run_index(env: Environment, policy: LoweredPolicy, asked: Request) -> Trace:
    """All rounds of an index policy, in O(m) each.

    Gaussian noise on edges is drawn once per type and edge-arm where there is one type or that is less,
    any other for every number of the report.
    """
    if policy.problem.unknown:
        return run_in_stretches(env, policy, asked)
    problem, blocks = env.problem, asked.blocks
    by_edge = not _sums_noise(problem, blocks)
    setting = _setting(env, policy, asked)._replace(by_edge=by_edge)
    one_each = np.ones(setting.run.N.size, dtype=np.int64)
    asked.play(
        policy.radii,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        lambda *rounds: play_index(setting, *rounds),
        width=max(problem.observations, setting.run.N.size),
    )
    return asked.trace(policy, setting.run, record_of(policy, setting.run, setting.triangular))


def run_in_stretches(env: Environment, policy: LoweredPolicy, asked: Request) -> Trace:
    """All rounds of a policy that is not told sigma or S, from one estimate of them to the next.

    Every number's noise is drawn, as the sum of its squares is what these come from. With ``y = <q,
    theta> + noise`` that of the rewards is ``sum y^2 = 2 <theta, b> - <theta, G theta> + sum noise^2``.
    """
    problem, blocks, state = env.problem, asked.blocks, policy.policy.init()
    theta = np.stack([M.T.ravel() for M in env.M_star.reshape(-1, problem.d, problem.d)]).ravel()
    total = noise2 = 0.0
    whole: Trace | None = None

    def report(size: int) -> FloatArray:
        nonlocal noise2
        drawn = blocks.report(size)
        noise2 += float((drawn[:, problem.report.nonzero] ** 2).sum())
        return drawn

    ends = [*estimation_rounds(asked.rounds - 1), asked.rounds]
    for done, end in zip([0, *ends], ends, strict=False):
        now = policy.with_scales(state)
        first, last = np.searchsorted(asked.recorded, [done + 1, end + 1])
        part = asked._replace(
            rounds=end - done, recorded=asked.recorded[first:last], done=done, seen=state.record
        )
        setting = _setting(env, now, part)
        part.play(
            now.radii, report, lambda *rounds, on=setting: play_index(on, *rounds), width=problem.m
        )
        seen = record_of(now, setting.run, setting.triangular)
        b, G = seen.moment(problem), seen.gram(problem)
        squares = float(2.0 * theta @ b - theta @ G @ theta) + env.sigma**2 * noise2
        record = replace(seen, count=end * float(problem.report.nonzero.sum()), squares=squares)
        state = Learned(end, record, policy.scales(record) if end < asked.rounds else None)
        trace = part.trace(now, setting.run, record)
        whole = trace if whole is None else whole.followed_by(trace, total)._replace(record=record)
        total += float(setting.run.total[0])
    assert whole is not None
    return whole


def _setting(env: Environment, policy: LoweredPolicy, asked: Request) -> Setting:
    """A run that is about to begin; its noise is the environment's, whatever the policy believes."""
    made = set_up(policy, np.array(env.reward_tables), asked)
    return made._replace(world=made.world._replace(sigma=env.sigma))


def _sums_noise(problem: Problem, blocks: Blocks) -> bool:
    few = problem.types == 1 or problem.types * problem.K**2 <= problem.m
    return few and problem.tabular and blocks.gaussian and not blocks.edge_noise
