"""Couples over a cut with a vector of context numbers in the engine."""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.rounds import Block
from gbb._kernels.rounds.vector_couples import Space, play_vector_couples
from gbb._kernels.rounds.vectors import Vectors
from gbb._support.arrays import aligned_zeros
from gbb.contexts import Vector
from gbb.environment import Environment
from gbb.simulation._lowering import LoweredPolicy
from gbb.simulation._trace import Trace
from gbb.simulation.engine.couples import are_couples, new_plan, new_tally, noise_of, trace_of
from gbb.simulation.engine.index import fits_tables
from gbb.simulation.engine.numbers import moments_of, new_numbers
from gbb.simulation.engine.request import Request
from gbb.simulation.engine.setting import make_objectives, new_triangular, policy_at
from gbb.simulation.engine.vectors import of_one_matrix


def plays_vector_couples(policy: LoweredPolicy) -> bool:
    """Whether this loop plays ``policy``: couples by a radius that is known beforehand.

    A bonus of one's own may ask for the problem of its round, which is not made here.
    """
    problem = policy.problem
    several = isinstance(problem.contexts, Vector) and problem.contexts.C > 1
    own = callable(policy.radius)
    if problem.unknown or not several or own or policy.adaptive or not are_couples(policy):
        return False
    paper = problem.feedback == "edge" and problem.uniform
    return paper and fits_tables(policy, problem.K**2)


def run_vector_couples(env: Environment, policy: LoweredPolicy, asked: Request) -> Trace:
    """All rounds of couples over a cut with a vector of numbers each, in O(1) of the number of edges."""
    assert env.rows is not None
    problem, rows, C = env.problem, env.rows, env.rows.shape[1]
    R, K = np.array(env.reward_tables), env.problem.K
    alone = of_one_matrix(policy, policy_at(policy, rows[0]), diagonal=problem.orthogonal)
    all_plans = new_plan(env, policy)
    plan = all_plans._replace(R=np.zeros((1, K, K)))
    tally, features = new_tally(alone.problem, len(asked.recorded)), alone.coordinates.features
    nothing = objectives = np.zeros((1, features.shape[1], 0))
    numbers = triangular = None
    if alone.is_diagonal:
        numbers = new_numbers(alone, C)
    else:
        objectives, size = make_objectives(alone), C * features.shape[1]
        triangular = new_triangular(
            np.zeros((len(features), size)),
            aligned_zeros(1, size, 0),
            aligned_zeros(1, size, objectives.shape[2]),
            lam=policy.lam,
            blocks=1,
            types=1,
            most=3,
        )
    space = Space(
        gram=np.zeros((K, K, C, C)),
        moment=np.zeros((K, K, C)),
        values=alone.link_search.room.values,
        steps=np.zeros((3, 2), dtype=np.int64),
        seen=np.zeros((2, 3)),
    )
    rule = alone.rule._replace(adaptive=False)

    def play(block: Block, rng: np.random.Generator) -> None:
        here = np.array(rows[block.first - 1 : block.first - 1 + len(block.radii)])
        vectors = Vectors(here, features, nothing, objectives, R, adaptive=False, F=nothing)
        play_vector_couples(plan, tally, rule, vectors, numbers, triangular, space, block, rng)

    asked.play(policy_at(policy, rows[0]).radii, noise_of(policy.cut, asked.blocks), play)
    paid = (rows[asked.recorded - 1] * all_plans.payoff[:, tally.couple].T).sum(axis=1)
    record = moments_of(problem, space.gram, space.moment)
    return trace_of(policy, tally, paid, record, asked)
