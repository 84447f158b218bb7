"""What the kernels of an index policy take, and a run that is about to begin."""

from __future__ import annotations

import numpy as np

from gbb._kernels.choice.diagonal import refresh_all
from gbb._kernels.choice.factors import Triangular
from gbb._kernels.linalg import DIRECTIONS
from gbb._kernels.rounds.index import Run, Setting, World
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray
from gbb.learning.record import AnyRecord, Moments, Record
from gbb.policies._layout import LinkSearch
from gbb.problem import Problem
from gbb.simulation._lowering import LoweredPolicy
from gbb.simulation.engine.request import Request


def set_up(policy: LoweredPolicy, R: FloatArray, asked: Request) -> Setting:
    """A run that is about to begin; R is what edges of weight 1 pay by type and arms."""
    optimistic, search = policy.optimistic, search_of(policy)
    run = new_run(policy.problem, asked)
    linear = search.linear() if policy.proposes else None
    diagonal = triangular = white = counted = None
    if policy.is_diagonal:
        diagonal, counted = (
            policy.make_diagonal(),
            policy.counted_search.counted() if optimistic else None,
        )
        refresh_all(diagonal, counted, run.N, run.Y)
    else:
        triangular = _triangular(policy, search, optimistic)
        if asked.seen is not None:
            _take_up(policy, triangular, asked.seen)
        white = search.whitened(*triangular.U.shape[:2]) if optimistic else None
    world, links, room = make_world(policy, R), search.links, search.room
    return Setting(
        policy.rule,
        links,
        room,
        world,
        run,
        diagonal,
        triangular,
        None,
        triangular,
        linear,
        policy.make_information(room.mu.size),
        white,
        counted,
        in_sums=not policy.problem.tabular,
        by_edge=True,
    )


def policy_at(policy: LoweredPolicy, row: FloatArray) -> LoweredPolicy:
    """The policy of a round whose context was read into ``row``."""
    return policy.on(policy.problem.at_row(row))


def search_of(policy: LoweredPolicy) -> LinkSearch:
    """The search over allocations, as the estimate wants it."""
    counts = policy.optimistic and policy.is_diagonal
    return policy.counted_search if counts else policy.link_search


def new_run(problem: Problem, asked: Request) -> Run:
    """What a run carries from round to round, before the first."""
    shape = (problem.types, problem.K, problem.K)
    tables = None if asked.seen is None else asked.seen.tables
    N, Y = (np.zeros(shape), np.zeros(shape)) if tables is None else tables
    return Run(
        arms=np.zeros(problem.n, dtype=np.int64),
        N=np.array(N, dtype=np.float64),
        Y=np.array(Y),
        new_N=np.zeros(shape),
        new_Y=np.zeros(shape),
        touched=np.zeros(min(problem.graph.m, int(np.prod(shape))), dtype=np.int64),
        **asked.book(problem.n),
    )


def block_size(policy: LoweredPolicy) -> int:
    """Coordinates of a block: of a type, or of all."""
    own = policy.coordinates.features.shape[1]
    return own if policy.problem.tabular else policy.problem.parameters


def make_world(policy: LoweredPolicy, R: FloatArray, *, in_turn: bool = False) -> World:
    """What a simulated round is made of."""
    problem = policy.problem
    if problem.symmetric_only:
        R = (R + R.transpose(0, 2, 1)) / 2.0
    return World(edges=policy.make_edges(), R=R, sigma=problem.sigma, in_turn=in_turn)


def _triangular(policy: LoweredPolicy, search: LinkSearch, optimistic: bool) -> Triangular:
    problem, features = policy.problem, policy.coordinates.features
    types, count, size = problem.types, len(features), block_size(policy)
    blocks = types if problem.tabular else 1
    columns, objectives = np.zeros((1, size, 0)), np.zeros((blocks, size, 0))
    if optimistic:
        objectives = make_objectives(policy)
        if policy.starts > 0:  # all types have the same columns in their blocks, or share one block
            flat = np.kron(np.eye(types // blocks), features)
            columns = search.by_table(np.tile(flat, (blocks, 1)), blocks)[:1]
    most = min(count, problem.graph.m) if problem.tabular else problem.observations
    return new_triangular(
        features, columns, objectives, lam=policy.lam, blocks=blocks, types=types, most=most
    )


def new_triangular(
    features: FloatArray,
    columns: FloatArray,
    objectives: FloatArray,
    *,
    lam: float,
    blocks: int,
    types: int,
    most: int,
) -> Triangular:
    """Factors of so many blocks that have seen nothing, and take ``most`` rows a round."""
    size, tuples = objectives.shape[1:]
    width = padded(size + 1)
    U = aligned_zeros(blocks, size, width)
    U[:, np.arange(size), np.arange(size)] = np.sqrt(lam)
    towards = aligned_zeros(blocks, size, WIDTH)
    towards[:, :, :DIRECTIONS] = np.cos(
        1.3 * np.outer(np.arange(size), 1.0 + np.arange(DIRECTIONS)) + np.arange(DIRECTIONS)
    )
    return Triangular(
        U=U,
        features=features,
        columns=columns,
        objectives=objectives,
        white_objectives=aligned_zeros(1, size + 1, tuples),
        rows=aligned_zeros(blocks, most, width),
        counts=np.zeros(blocks, dtype=np.int64),
        seen=np.zeros((types * len(features), 2)),
        scratch=np.zeros(max(size, most)),
        theta=np.zeros((blocks, size)),
        towards=towards,
        floor=np.full(blocks, lam),
        turned=aligned_zeros(size, WIDTH),
        small=np.zeros((DIRECTIONS, DIRECTIONS)),
        eliminated=aligned_zeros(size, width),
        norm2=aligned_zeros(tuples),
    )


def _take_up(policy: LoweredPolicy, triangular: Triangular, seen: AnyRecord) -> None:
    """Have the factors stand where ``seen`` has brought them."""
    size = triangular.U.shape[1]
    ridge = policy.ridge(seen)
    for g, (U, y) in enumerate(ridge.factors):
        triangular.U[g, :, :size], triangular.U[g, :, size] = U, y


def make_objectives(policy: LoweredPolicy) -> FloatArray:
    """The sum of edge-arms of every tuple in the coordinates of the blocks in play.

    Of blocks x size x tuples.
    """
    problem, tuples = policy.problem, policy.tuples.size
    by_type = [sums.T for sums in policy.tuples.by_type(policy.coordinates.table)]
    sums = np.stack(by_type)[problem.matrices_in_play if problem.tabular else slice(None)]
    blocks = len(sums) if problem.tabular else 1
    found = aligned_zeros(blocks, sums.shape[0] * sums.shape[1] // blocks, padded(tuples))
    found[:, :, :tuples] = sums.reshape(*found.shape[:2], tuples)
    return found


def record_of(policy: LoweredPolicy, run: Run, triangular: Triangular | None) -> AnyRecord:
    """What the run has seen; sums over edges are in the triangular factor alone."""
    problem = policy.problem
    if problem.tabular:
        return Record(run.N if problem.weighted else run.N.astype(np.int64), run.Y)
    assert triangular is not None
    size = triangular.U.shape[1]
    U, y = np.triu(triangular.U[0, :, :size]), triangular.U[0, :, size]
    return Moments(U.T @ U - policy.lam * np.eye(size), U.T @ y)
