"""Index policies on any problem in the engine."""

from __future__ import annotations

import numpy as np

from gbb._kernels.choice.diagonal import refresh_all
from gbb._kernels.choice.factors import Triangular
from gbb._kernels.lanes import WIDTH, aligned_zeros, padded
from gbb._kernels.learning.triangular import DIRECTIONS
from gbb._kernels.rounds.index import Run, World, play_index
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.learning.record import AnyRecord, Moments, Record
from gbb.policies import IndexPolicy
from gbb.policies._index.compiled import make_diagonal
from gbb.policies._index.links import LinkSearch
from gbb.problem import Problem
from gbb.simulation._trace import Trace
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import Request

CELLS = 1 << 23
"""The most numbers that the tables of a policy may hold."""


def plays_index(policy: IndexPolicy) -> bool:
    """Whether this loop plays ``policy``: its tables are not too large."""
    if not policy.is_listed:
        return False
    problem, tuples = policy.problem, policy.tuples
    size = _block_size(policy)
    blocks = problem.types if problem.keeps_tables else 1
    tables = 2 * problem.types * problem.K**2 * size
    factors = blocks * size * (size + 1)
    return policy.is_diagonal or max(tables, factors, tuples.size * blocks * size) <= CELLS


def run_index(env: Environment, policy: IndexPolicy, asked: Request) -> Trace:
    """All rounds of an index policy, in O(m) each.

    Gaussian noise on edges is drawn once per type and edge-arm where there is one type or that is less,
    any other for every number of the report.
    """
    problem, blocks = env.problem, asked.blocks
    optimistic = policy.optimistic
    search = policy.counted_search if optimistic and policy.is_diagonal else policy.link_search
    shape = (problem.types, problem.K, problem.K)
    run = Run(
        arms=np.zeros(problem.n, dtype=np.int64),
        N=np.zeros(shape),
        Y=np.zeros(shape),
        new_N=np.zeros(shape),
        new_Y=np.zeros(shape),
        touched=np.zeros(min(problem.graph.m, int(np.prod(shape))), dtype=np.int64),
        **asked.book(problem.n),
    )
    linear = None if optimistic else search.linear()
    diagonal = triangular = white = counted = None
    if policy.is_diagonal:
        diagonal, counted = make_diagonal(policy), search.counted() if optimistic else None
        refresh_all(diagonal, counted, run.N, run.Y)
    else:
        triangular = _triangular(policy, search, optimistic)
        white = search.whitened(*triangular.U.shape[:2]) if optimistic else None
    world, links, room = _world(env, policy), search.links, search.room
    by_edge, one_each = not _sums_noise(problem, blocks), np.ones(run.N.size, dtype=np.int64)
    plan = (policy.rule, links, room, world, run, diagonal, triangular, linear, white, counted)
    sums = not problem.keeps_tables
    asked.play(
        policy,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        lambda *rounds: play_index(*plan, sums, by_edge, *rounds),
        width=max(problem.observations, run.N.size),
    )
    return asked.trace(policy, run, _record(problem, policy, run, triangular))


def _sums_noise(problem: Problem, blocks: Blocks) -> bool:
    few = problem.types == 1 or problem.types * problem.K**2 <= problem.m
    return few and problem.keeps_tables and blocks.gaussian and not blocks.edge_noise


def _block_size(policy: IndexPolicy) -> int:
    own = policy.coordinates.features.shape[1]
    return own if policy.problem.keeps_tables else policy.problem.parameters


def _world(env: Environment, policy: IndexPolicy) -> World:
    problem, graph, R = env.problem, env.problem.graph, np.array(env.reward_tables)
    if problem.halves_only:
        R = (R + R.transpose(0, 2, 1)) / 2.0
    return World(
        indptr=np.array(graph.indptr),
        indices=np.array(graph.indices, dtype=np.int64),
        types=np.array(problem.edge_types),
        weights=np.array(problem.edge_weights),
        adds_to=np.array(problem.adds_to),
        regressor=np.array(policy.coordinates.index),
        R=R,
        ways=float(problem.ways),
        sigma=problem.sigma,
    )


def _triangular(policy: IndexPolicy, search: LinkSearch, optimistic: bool) -> Triangular:
    problem, features = policy.problem, policy.coordinates.features
    types, count, size = problem.types, len(features), _block_size(policy)
    blocks = types if problem.keeps_tables else 1
    U, width = aligned_zeros(blocks, size, padded(size + 1)), padded(size + 1)
    U[:, np.arange(size), np.arange(size)] = np.sqrt(policy.lam)
    columns, objectives = np.zeros((1, size, 0)), np.zeros((blocks, size, 0))
    if optimistic:
        objectives = _objectives(policy, blocks)
        if policy.starts > 0:  # all types have the same columns in their blocks, or share one block
            flat = np.kron(np.eye(types // blocks), features)
            columns = search.by_table(np.tile(flat, (blocks, 1)), blocks)[:1]
    tuples = objectives.shape[2]
    towards = aligned_zeros(blocks, size, WIDTH)
    towards[:, :, :DIRECTIONS] = np.cos(
        1.3 * np.outer(np.arange(size), 1.0 + np.arange(DIRECTIONS)) + np.arange(DIRECTIONS)
    )
    most = min(count, problem.graph.m) if problem.keeps_tables else problem.observations
    return Triangular(
        U=U,
        features=features,
        columns=columns,
        objectives=objectives,
        white_objectives=aligned_zeros(1, size + 1, tuples),
        rows=aligned_zeros(blocks, most, width),
        counts=np.zeros(blocks, dtype=np.int64),
        seen=np.zeros((types * count, 2)),
        scratch=np.zeros(max(size, most)),
        theta=np.zeros((blocks, size)),
        towards=towards,
        floor=np.full(blocks, policy.lam),
        turned=aligned_zeros(size, WIDTH),
        small=np.zeros((DIRECTIONS, DIRECTIONS)),
        eliminated=aligned_zeros(size, width),
        norm2=aligned_zeros(tuples),
    )


def _objectives(policy: IndexPolicy, blocks: int) -> FloatArray:
    """The sum of edge-arms of every tuple in the coordinates of the blocks (blocks x size x tuples)."""
    by_type = [sums.T for sums in policy.tuples.by_type(policy.coordinates.table)]
    size, tuples = policy.problem.types // blocks * len(by_type[0]), policy.tuples.size
    found = aligned_zeros(blocks, size, padded(tuples))
    found[:, :, :tuples] = np.stack(by_type).reshape(*found.shape[:2], tuples)
    return found


def _record(
    problem: Problem, policy: IndexPolicy, run: Run, triangular: Triangular | None
) -> AnyRecord:
    """What the run has seen; sums over edges are in the triangular factor alone."""
    if problem.keeps_tables:
        return Record(run.N if problem.weighted else run.N.astype(np.int64), run.Y)
    assert triangular is not None
    size = triangular.U.shape[1]
    U, y = np.triu(triangular.U[0, :, :size]), triangular.U[0, :, size]
    return Moments(U.T @ U - policy.lam * np.eye(size), U.T @ y)
