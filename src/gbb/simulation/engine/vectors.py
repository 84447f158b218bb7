"""Index policies on problems with a vector of context numbers in the engine."""

from __future__ import annotations

import numpy as np

from gbb._kernels.lanes import aligned_zeros
from gbb._kernels.rounds.index import Setting
from gbb._kernels.rounds.rounds import Block
from gbb._kernels.rounds.vectors import Vectors, play_vectors
from gbb._support.checks import FloatArray
from gbb.contexts import Vector
from gbb.environment import Environment
from gbb.learning.coordinates import Coordinates
from gbb.policies import IndexPolicy
from gbb.problem import Problem
from gbb.simulation._trace import Trace
from gbb.simulation.engine.request import Request
from gbb.simulation.engine.setting import (
    make_objectives,
    make_world,
    new_run,
    new_triangular,
    policy_at,
    record_of,
)


def plays_vectors(policy: IndexPolicy, rows: FloatArray) -> bool:
    """Whether all rounds are laid out alike: one type of edges, several numbers, not all of them 0.

    A bonus of one's own may ask for the problem of its round, which is not made here.
    """
    problem = policy.problem
    several = isinstance(problem.contexts, Vector) and problem.contexts.C > 1
    own = callable(policy.radius) or type(policy).radii is not IndexPolicy.radii
    one_type = problem.types == rows.shape[1]
    return several and one_type and not own and bool(rows.any(axis=1).all())


def run_vectors(env: Environment, policy: IndexPolicy, asked: Request) -> Trace:
    """All rounds of an index policy with a vector of numbers each, in O(m + parameters^2 K^2)."""
    assert env.rows is not None
    problem, blocks, rows = env.problem, asked.blocks, env.rows
    now = policy_at(policy, rows[0])
    alone = _of_one_matrix(policy, now)
    search, features = alone.link_search, alone.coordinates.features
    R, (count, d2), C = np.array(env.reward_tables), features.shape, rows.shape[1]
    columns, objectives = np.zeros((1, d2, 0)), np.zeros((1, d2, 0))
    if policy.optimistic:
        objectives = make_objectives(alone)
        if policy.starts > 0:
            columns = search.by_table(features, 1)
    in_sums = problem.feedback != "edge"
    triangular = new_triangular(
        np.zeros((count, C * d2)),
        aligned_zeros(1, C * d2, columns.shape[2]),
        aligned_zeros(1, C * d2, objectives.shape[2]),
        lam=policy.lam,
        blocks=1,
        types=1,
        most=problem.observations if in_sums else min(count, problem.m),
    )
    white = search.whitened(1, C * d2) if policy.optimistic else None
    linear = None if policy.optimistic else search.linear()
    world = make_world(alone, np.zeros((1, *R.shape[1:])), in_turn=True)
    run = new_run(alone.problem, asked)
    by_edge = in_sums or not blocks.gaussian or blocks.edge_noise
    setting = Setting(
        rule=alone.rule._replace(**now.constants),
        links=search.links,
        room=search.room,
        world=world,
        run=run,
        diagonal=None,
        triangular=triangular,
        linear=linear,
        white=white,
        counted=None,
        in_sums=in_sums,
        by_edge=by_edge,
    )
    one_each = np.ones(run.touched.size, dtype=np.int64)

    def play(block: Block, rng: np.random.Generator) -> None:
        numbers = np.array(rows[block.first - 1 : block.first - 1 + len(block.radii)])
        vectors = Vectors(numbers, features, columns, objectives, R)
        play_vectors(vectors, setting, block, rng)

    asked.play(
        now.radii,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        play,
        width=max(problem.observations, run.N.size),
    )
    return asked.trace(policy, run, record_of(policy, run, triangular))


def _of_one_matrix(policy: IndexPolicy, now: IndexPolicy) -> IndexPolicy:
    """The policy on the problem with one matrix, which says how links and tuples lie in any round.

    ``now`` is the policy of a round. Edge-arms have all their coordinates, in the order of parameters.
    """
    problem = policy.problem
    first = np.eye(1, problem.types)[0]
    weights = problem.at_row(first).edge_weights[:: problem.types]  # an edge has an entry a number
    alone = policy.rebuild(
        Problem(
            problem.graph,
            problem.arms,
            sigma=problem.sigma,
            S=problem.S,
            L=problem.L,
            edge_weights=None if (weights == 1.0).all() else weights,
            feedback=problem.feedback,
            allowed=None if problem.allowed.all() else problem.allowed,
        )
    )
    assert isinstance(alone, IndexPolicy)
    index = np.arange(problem.K**2).reshape(problem.K, problem.K)
    vars(alone)["coordinates"] = Coordinates(index, np.array(problem.edge_arms), diagonal=False)
    alone.learns_two_way, alone.restarts = False, now.restarts
    return alone
