"""What a round teaches: the records of everything told, and the policy's own state."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.state.context import problem_in
from gbb.controller.state.state import Setup, State
from gbb.controller.storage.bytes import Observed
from gbb.learning import AnyRecord, observe
from gbb.policies import AnyPolicy, Choice
from gbb.problem import Problem

SLACK = 1e-9
"""How far above a whole number a sum of weights may lie by rounding alone."""


def learn(
    state: State, choice: Choice | None, problem: Problem, arms: IntArray, observed: Observed
) -> State:
    """The state after a round of ``problem``; ``choice`` is None when the policy did not choose it."""
    now = state.setup.problem
    seen = two_way = observe(problem, arms, observed.values, observed.positions).resize(now)
    both = keep_two_way(problem, observed)
    if both is not observed:
        two_way = observe(problem, arms, both.values, both.positions).resize(now)
    return take_in(state, choice, seen, two_way, rewards=observed.values)


def take_in(
    state: State,
    choice: Choice | None,
    seen: AnyRecord,
    two_way: AnyRecord,
    *,
    rewards: FloatArray | None = None,
    new: int = 1,
    worth: int | None = None,
) -> State:
    """The state after the record of a round, and the part of it from links seen in both directions.

    Parameters
    ----------
    rewards
        The numbers that were reported; None where only sums are known, in which no drift is looked for.
    new
        How many rounds it adds: 0 for more of a round that was counted already.
    worth
        How many rounds the policy counts it as; as many as it holds, and at least 1, when left out.
    """
    policy, now = state.setup.policy, state.setup.problem
    same = two_way is seen and state.own_two_way_record is None
    recent = state.recent
    if rewards is not None:
        recent = recent.plus(now, state.record, seen, rewards)
    after = replace(
        state,
        rounds=state.rounds + new,
        record=state.record.merge(seen),
        own_two_way_record=None if same else state.two_way_record.merge(two_way),
        recent=recent,
    )
    halves = learns_halves(after)
    if halves != learns_halves(state):
        return relearn(state.setup, after)
    learnt = two_way if halves else seen
    # A trial of a larger graph adds what several rounds do.
    rounds = count_rounds(learnt, now, 1) if worth is None else worth
    return replace(after, memory=policy.absorb(state.memory, choice, learnt, rounds=rounds))


def relearn(setup: Setup, state: State, memory: Any = None) -> State:
    """The state under ``setup``, whose policy learns the whole record at once.

    It starts with ``memory``, or with what its own has besides what it has learnt.
    """
    policy, problem, two_way = setup.policy, setup.problem, state.own_two_way_record
    start = policy.restart(state.memory) if memory is None else memory
    state = replace(
        state,
        setup=setup,
        record=state.record.resize(problem),
        own_two_way_record=None if two_way is None else two_way.resize(problem),
    )
    rounds = count_rounds(state.record, problem, state.rounds)
    seen = state.two_way_record if learns_halves(state) else state.record
    return replace(state, memory=policy.absorb(start, None, seen, rounds=rounds))


def playing(state: State, row: FloatArray | None = None) -> AnyPolicy:
    """The policy that chooses, at the context of ``row``: in all dimensions where halves are not had."""
    policy = state.setup.policy.on(problem_in(state.setup.problem, row))
    return policy if learns_halves(state) else policy.in_all_dimensions


def learns_halves(state: State) -> bool:
    """Whether the policy learns symmetric halves, from links seen in both directions alone.

    Where these are less than half of what was told, everything in all dimensions, which are twice as
    many, says more.
    """
    if not state.setup.policy.learns_two_way:
        return False
    if state.own_two_way_record is None:
        return True
    problem = state.setup.problem
    return 2.0 * state.two_way_record.weight(problem) >= state.record.weight(problem)


def keep_two_way(problem: Problem, observed: Observed) -> Observed:
    """Of the rewards of a round, those of links seen in both directions, which are alike.

    Symmetric halves are learnt from them alone: there ``y_ij + y_ji`` counts, whose mean depends on the
    symmetric half of M*. One direction by itself also holds what M* does to the order of the two arms,
    which would pass for noise. Rewards that are sums over edges, as those of links are, have no
    directions and are all kept; so are those of edges with several features.
    """
    sums = not problem.reports_edges or not problem.one_each
    if sums or (observed.positions is None and problem.symmetric):
        return observed
    places = np.arange(problem.m) if observed.positions is None else observed.positions
    back = problem.graph.reverse[places]
    seen = np.zeros(problem.m, dtype=bool)
    seen[places] = True
    kept = seen[back]
    for each in (problem.edge_types, problem.edge_weights):
        kept = kept & (each[places] == each[back])
    return Observed(places[kept], observed.values[kept])


def count_rounds(record: AnyRecord, problem: Problem, rounds: int) -> int:
    """``rounds``, or more where the record holds more than so many rounds of ``problem`` can add.

    Radii that count rounds take each to add at most ``problem.gram_growth_per_round`` to the record's
    weight. A round on a larger graph may have added more.
    """
    most = record.weight(problem) / problem.gram_growth_per_round
    return max(rounds, math.ceil(most * (1.0 - SLACK)))
