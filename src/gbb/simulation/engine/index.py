"""Index policies on any problem in the engine."""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.index import play_index
from gbb.environment import Environment
from gbb.policies import IndexPolicy
from gbb.problem import Problem
from gbb.simulation._trace import Trace
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import Request
from gbb.simulation.engine.setting import block_size, record_of, set_up

CELLS = 1 << 23
"""The most numbers that the tables of a policy may hold."""


def plays_index(policy: IndexPolicy) -> bool:
    """Whether this loop plays ``policy``: its tables are not too large."""
    alone = policy.problem.contexts is None
    return alone and policy.is_listed and fits_tables(policy, policy.tuples.size)


def fits_tables(policy: IndexPolicy, tuples: int) -> bool:
    """Whether the tables of ``policy`` are small enough, with so many tuples of arms."""
    problem, size = policy.problem, block_size(policy)
    blocks = problem.types if problem.keeps_tables else 1
    tables = 2 * problem.types * problem.K**2 * size
    factors = blocks * size * (size + 1)
    return policy.coordinates.diagonal or max(tables, factors, tuples * blocks * size) <= CELLS


def run_index(env: Environment, policy: IndexPolicy, asked: Request) -> Trace:
    """All rounds of an index policy, in O(m) each.

    Gaussian noise on edges is drawn once per type and edge-arm where there is one type or that is less,
    any other for every number of the report.
    """
    problem, blocks = env.problem, asked.blocks
    by_edge = not _sums_noise(problem, blocks)
    setting = set_up(policy, np.array(env.reward_tables), asked)._replace(by_edge=by_edge)
    one_each = np.ones(setting.run.N.size, dtype=np.int64)
    asked.play(
        policy.radii,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        lambda *rounds: play_index(setting, *rounds),
        width=max(problem.observations, setting.run.N.size),
    )
    return asked.trace(policy, setting.run, record_of(policy, setting.run, setting.triangular))


def _sums_noise(problem: Problem, blocks: Blocks) -> bool:
    few = problem.types == 1 or problem.types * problem.K**2 <= problem.m
    return few and problem.keeps_tables and blocks.gaussian and not blocks.edge_noise
