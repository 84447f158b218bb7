"""Index policies on problems with a vector of context numbers in the engine."""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.index import Setting
from gbb._kernels.rounds.rounds import Block
from gbb._kernels.rounds.vectors import Vectors, play_vectors
from gbb._support.arrays import aligned_zeros, padded
from gbb._support.checks import FloatArray
from gbb.contexts import Vector
from gbb.environment import Environment
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.problem import Problem
from gbb.simulation._lowering import LoweredPolicy
from gbb.simulation._trace import Trace
from gbb.simulation.engine.numbers import coordinates_of, is_one_hot, moments_of, new_numbers
from gbb.simulation.engine.request import Request
from gbb.simulation.engine.setting import (
    make_objectives,
    make_world,
    new_run,
    new_triangular,
    policy_at,
    record_of,
    search_of,
)

TINY = 1e-100
"""Where all numbers are smaller, their squares may be 0."""


def plays_vectors(policy: LoweredPolicy, rows: FloatArray) -> bool:
    """Whether all rounds are laid out alike: one type of edges, several numbers, none next to all 0.

    A bonus of one's own may ask for the problem of its round, which is not made here.
    """
    problem = policy.problem
    several = isinstance(problem.contexts, Vector) and problem.contexts.C > 1
    own = callable(policy.radius)
    one_type = problem.types == rows.shape[1]
    return several and one_type and not own and bool((np.abs(rows) > TINY).any(axis=1).all())


def run_vectors(env: Environment, policy: LoweredPolicy, asked: Request) -> Trace:
    """All rounds of an index policy with a vector of numbers each.

    Apart from the search, in O(m + K^2 C^2) for one-hot arms with rewards per edge, else in O(m)
    solutions with the factor of all parameters at most.
    """
    assert env.rows is not None
    problem, blocks, rows = env.problem, asked.blocks, env.rows
    now, R, C = policy_at(policy, rows[0]), np.array(env.reward_tables), rows.shape[1]
    alone = of_one_matrix(policy, now, diagonal=is_one_hot(problem))
    search, features = search_of(alone), alone.coordinates.features
    room = search.room
    in_sums = problem.feedback != "edge"
    by_edge = in_sums or not blocks.gaussian or blocks.edge_noise
    run = new_run(alone.problem, asked)
    world = make_world(alone, np.zeros((1, *R.shape[1:])), in_turn=True)
    edge_arms, rule = np.array(problem.edge_arms), alone.rule._replace(**now.constants)
    directions = nothing = np.zeros((1, problem.d**2, 0))
    numbers = triangular = learner = white = counted = None
    if alone.is_diagonal:
        numbers, counted = (
            new_numbers(alone, C),
            alone.counted_search.counted() if policy.optimistic else None,
        )
        room = room._replace(mu=aligned_zeros(padded(len(features))))
    else:
        if policy.optimistic:
            directions = _directions(features.shape[1], problem.d)
        learner = triangular = new_triangular(
            np.zeros((len(edge_arms), problem.parameters)),
            aligned_zeros(1, problem.parameters, directions.shape[2]),
            np.zeros((1, problem.parameters, 0)),
            lam=policy.lam,
            blocks=1,
            types=1,
            most=problem.observations if in_sums else min(len(edge_arms), problem.m),
        )
        regressor = np.arange(len(edge_arms)).reshape(R.shape[1:])
        world = world._replace(edges=world.edges._replace(regressor=regressor))
    if learner is not None and policy.optimistic:  # the choice is in the round's own parameters
        rule, size = rule._replace(adaptive=False), features.shape[1]
        columns = search.by_table(features, 1) if policy.starts > 0 else np.zeros((1, size, 0))
        sums = make_objectives(alone)
        triangular = new_triangular(
            features, columns, sums, lam=policy.lam, blocks=1, types=1, most=1
        )
        white = search.whitened(1, size)
    information = alone.make_information(room.mu.size)
    if information is not None:  # to the policy itself every number is a sum
        information = information._replace(in_sums=True)
    F = aligned_zeros(1, problem.parameters + 1, directions.shape[2])
    setting = Setting(
        rule=rule,
        links=search.links,
        room=room,
        world=world,
        run=run,
        diagonal=None,
        triangular=triangular,
        numbers=numbers,
        learner=learner,
        linear=search.linear() if policy.proposes else None,
        information=information,
        white=white,
        counted=counted,
        in_sums=in_sums,
        by_edge=by_edge,
    )
    one_each = np.ones(run.touched.size, dtype=np.int64)

    def play(block: Block, rng: np.random.Generator) -> None:
        here = np.array(rows[block.first - 1 : block.first - 1 + len(block.radii)])
        vectors = Vectors(here, edge_arms, directions, nothing, R, now.adaptive, F)
        play_vectors(vectors, setting, block, rng)

    asked.play(
        now.radii,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        play,
        width=max(problem.observations, run.N.size),
    )
    if numbers is not None:
        return asked.trace(policy, run, moments_of(problem, numbers.gram, numbers.moment))
    return asked.trace(policy, run, record_of(policy, run, learner))


def _directions(size: int, d: int) -> FloatArray:
    """What decides of a round's matrix: its symmetric part, or all of it; the last direction first."""
    own = symmetric_edge_arms(np.eye(d)) if size < d**2 else np.eye(d**2)
    found = aligned_zeros(1, d**2, padded(size))
    found[0, :, :size] = own[:, ::-1]
    return found


def of_one_matrix(policy: LoweredPolicy, now: LoweredPolicy, *, diagonal: bool) -> LoweredPolicy:
    """The policy on the problem with one matrix, which says how links and tuples lie in any round.

    ``now`` is the policy of a round. Edge-arms have all their coordinates, in the order of parameters;
    or, for a choice by optimism, those of their symmetric parts if these decide. ``diagonal`` says
    whether every regressor is to have a coordinate to itself, from which draws are then made as well.
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
    drawn = policy.proposes
    halves = policy.optimistic and problem.links_alike and not (diagonal and drawn)
    vars(alone)["coordinates"] = coordinates_of(
        alone.problem, halves=halves, diagonal=diagonal, drawn=drawn
    )
    alone.symmetric, alone.restarts = halves, now.restarts
    return alone
