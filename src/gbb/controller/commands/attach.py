"""Rounds that were played elsewhere: attached once under their key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.controller.commands.rewards import read_rewards, warn_out_of_bounds
from gbb.controller.log.codec import Observed, pack_allocation, pack_played, pack_rewards
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.state.context import problem_in, read_row, row_of, same_rows, say_row
from gbb.controller.state.fold import read_arms, read_told
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import WORDS, Label, names_of
from gbb.problem import Problem


class Round(NamedTuple):
    """A round of ``problem``: the arms, -1 where nobody knows them, and what was seen.

    And the row of its context, where the problem has any.
    """

    problem: Problem
    arms: IntArray
    seen: Observed
    context: FloatArray | None = None

    @property
    def own_problem(self) -> Problem:
        """The problem at its context."""
        return problem_in(self.problem, self.context)


def attach(
    transaction: Transaction,
    allocation: Any,
    rewards: Any,
    key: str | None,
    context: Any = None,
) -> None:
    """Learn from a round that was played elsewhere; the same again under its key changes nothing."""
    state = transaction.state
    place = None if key is None else state.keys.get(key)
    problem = state.setup.problem if place is None else problem_at(transaction, place)
    seen = read_rewards(problem, rewards)
    row = read_row(problem, context)
    round = Round(problem, read_played(problem, allocation, seen), seen, row)
    if place is None:
        append_attach(transaction, round, key)
        warn_out_of_bounds(transaction, round.own_problem, seen, None)
        return
    if not are_same(round, read_attached(problem, transaction.study.event(place))):
        raise InputError(
            f"Another round was already attached under `key` {key!r}. Nothing was changed; give "
            "every round a key of its own."
        )


def append_attach(transaction: Transaction, round: Round, key: str | None) -> None:
    """Append the event of a round; it says how many arms are known where some are not."""
    problem, arms, seen, context = round
    content: dict[str, Any] = {}
    if seen.positions is not None:
        content[WORDS[problem.feedback].counted] = int(seen.positions.size)
    if key is not None:
        content["key"] = key
    content |= say_row(context)
    known = int(np.count_nonzero(arms >= 0))
    if known < problem.n:
        content["played"] = known
        data = pack_played(arms, problem.K)
    else:
        data = pack_allocation(arms, problem.K)
    transaction.append("attach", content, data=data + pack_rewards(seen, problem.observations))


def read_attached(problem: Problem, event: Event, told: Event | None = None) -> Round:
    """The round of an attach event, or of an ask and the event that ``told`` it."""
    seen = read_told(event if told is None else told, problem)
    return Round(problem, read_arms(event, problem), seen, row_of(event))


def are_same(one: Round, other: Round) -> bool:
    """Whether two rounds say the same: context, all rewards, and all arms that both know."""
    if not same_rows(one.context, other.context):
        return False
    if one.problem.graph == other.problem.graph:
        both = (one.arms >= 0) & (other.arms >= 0)
        return bool(
            np.array_equal(one.arms[both], other.arms[both])
            and _positions(one).tobytes() == _positions(other).tobytes()
            and one.seen.values.tobytes() == other.seen.values.tobytes()
        )
    ours, theirs = _name_known(one), _name_known(other)
    return _name_seen(one) == _name_seen(other) and all(
        ours[agent] == theirs[agent] for agent in ours.keys() & theirs.keys()
    )


def _positions(round: Round) -> IntArray:
    positions = round.seen.positions
    return np.arange(round.problem.observations) if positions is None else positions


def _name_known(round: Round) -> dict[Label, int]:
    labels = round.problem.graph.labels
    return {labels[agent]: arm for agent, arm in enumerate(round.arms.tolist()) if arm >= 0}


def _name_seen(round: Round) -> dict[tuple[Label, ...], float]:
    names = names_of(round.problem, round.seen.positions)
    return dict(zip(names, round.seen.values.tolist(), strict=True))


def read_played(problem: Problem, allocation: Any, seen: Observed) -> IntArray:
    """The arms of a round; a mapping may leave out agents that no reward depends on."""
    if not isinstance(allocation, Mapping) or len(allocation) >= problem.n:
        return problem.allocation(allocation)
    arms = np.full(problem.n, -1, dtype=np.int64)
    for agent, arm in allocation.items():
        arms[problem.graph.index(agent)] = problem.arm(arm)
    if int(np.count_nonzero(arms >= 0)) < len(allocation):
        raise checks.input_error("allocation", "name every agent once", "one of them twice")
    unknown = find_unknown(problem, arms[None], np.zeros(seen.values.size, dtype=np.int64), seen)
    if unknown is not None:
        name = problem.graph.label(unknown[1])
        rule = "give an arm to every agent that a reward depends on"
        raise checks.input_error("allocation", rule, f"none for agent {name!r}")
    return arms


def find_unknown(
    problem: Problem, played: IntArray, rounds: IntArray, seen: Observed
) -> tuple[int, int] | None:
    """The first of the numbers seen that depends on an arm nobody knows, and whose arm it is.

    ``rounds`` says for each number which row of ``played`` it was seen in.
    """
    partly = np.flatnonzero((played < 0).any(axis=1))
    doubtful = np.flatnonzero(np.isin(rounds, partly))
    if not doubtful.size:
        return None
    positions = np.arange(seen.values.size) if seen.positions is None else seen.positions
    index = problem.report.edge_index
    order = np.argsort(index, kind="stable")
    counts = np.bincount(index, minlength=problem.observations)
    starts = np.cumsum(counts) - counts
    places = positions[doubtful]
    times = counts[places]
    # All edges of every number, one number after the other.
    number = np.repeat(np.arange(places.size), times)
    nth = np.arange(number.size) - np.repeat(np.cumsum(times) - times, times)
    edges = order[starts[places][number] + nth]
    ends = np.stack([problem.graph.sources[edges], problem.graph.indices[edges]])
    lost = played[rounds[doubtful][number], ends] < 0
    if not lost.any():
        return None
    place = int(np.argmax(lost.any(axis=0)))
    return int(doubtful[number[place]]), int(ends[int(np.argmax(lost[:, place])), place])
