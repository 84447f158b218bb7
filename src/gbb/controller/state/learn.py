"""What a round teaches: the records of everything told, and the policy's own state."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.log.codec import Observed
from gbb.controller.state.state import Setup, State
from gbb.learning import AnyRecord, observe
from gbb.policies import Choice
from gbb.problem import Problem

SLACK = 1e-9
"""How far above a whole number a sum of weights may lie by rounding alone."""


def learn(
    state: State, choice: Choice | None, problem: Problem, arms: IntArray, observed: Observed
) -> State:
    """Return the state after a round; ``choice`` is None if the policy did not choose it."""
    record = observe(problem, arms, observed.spread(problem.observations))
    return take_in(state, choice, record.resize(state.setup.problem), rewards=observed.values)


def take_in(
    state: State,
    choice: Choice | None,
    record: AnyRecord,
    *,
    rewards: FloatArray | None = None,
    new: int = 1,
    worth: int | None = None,
) -> State:
    """Return the state after the record of a round.

    Parameters
    ----------
    rewards
        The numbers that were reported; None if only sums are known, in which no drift is looked for.
    new
        How many rounds it adds: 0 for more of a round that was counted already.
    worth
        How many rounds the policy counts it as; as many as it holds, and at least 1, by default.
    """
    policy, now = state.setup.policy, state.setup.problem
    recent = state.recent
    if rewards is not None:
        recent = recent.plus(now, state.record, record, rewards)
    # A trial of a larger graph adds what several rounds do.
    rounds = count_rounds(record, now, 1) if worth is None else worth
    return replace(
        state,
        rounds=state.rounds + new,
        record=state.record.merge(record),
        recent=recent,
        memory=policy.absorb(state.memory, choice, record, rounds=rounds),
    )


def relearn(setup: Setup, state: State, memory: Any = None) -> State:
    """Return the state under ``setup``, whose policy learns the whole record at once.

    It starts with ``memory``, or with what its own has besides what it has learnt.
    """
    policy, problem = setup.policy, setup.problem
    record = state.record.resize(problem)
    rounds = count_rounds(record, problem, state.rounds)
    if memory is None:
        learnt = policy.relearn(state.memory, record, rounds=rounds)
    else:
        learnt = policy.absorb(memory, None, record, rounds=rounds)
    return replace(state, setup=setup, record=record, memory=learnt)


def count_rounds(record: AnyRecord, problem: Problem, rounds: int) -> int:
    """``rounds``, or more where the record holds more than so many rounds of ``problem`` can add.

    Radii that count rounds take each to add at most ``problem.gram_growth_per_round`` to the record's
    weight. A round on a larger graph may have added more.
    """
    most = record.weight(problem) / problem.gram_growth_per_round
    return max(rounds, math.ceil(most * (1.0 - SLACK)))
