"""Rounds of a table, checked: what every agent played and what was seen, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.commands.attach import Round, find_unknown
from gbb.controller.commands.bulk.cells import Cells
from gbb.controller.commands.bulk.entries import Entries
from gbb.controller.commands.bulk.forms import read_entries
from gbb.controller.log.codec import Observed
from gbb.controller.queries.history import LoggedRounds
from gbb.controller.state.report import names_of
from gbb.graph import find
from gbb.problem import Problem


@dataclass(frozen=True, eq=False)
class Rounds:
    """Many rounds of one problem.

    Attributes
    ----------
    problem
        What they are rounds of.
    cells
        The table that they come from.
    keys
        Their keys; those of rounds without any reward, too.
    played
        An arm index per agent, a row per key; -1 where nobody knows it.
    rows
        The table's row of each reward, by round and place in the report.
    rounds, places, rewards
        Whose each reward is.
    starts
        Where the rewards of each round begin, and where the last one's end.
    missing
        How many cells for a reward are blank.
    contexts
        The context of each key, a row of numbers; None where there are none.
    """

    problem: Problem
    cells: Cells
    keys: list[str]
    played: NDArray[Any]
    rows: IntArray
    rounds: IntArray
    places: IntArray
    rewards: FloatArray
    starts: IntArray
    missing: int
    contexts: FloatArray | None = None

    def first_row(self, number: int) -> int:
        """The row of the table where round ``number`` first pays something."""
        start, end = self.starts[number : number + 2]
        return int(self.rows[start:end].min())

    def told(self) -> list[int]:
        """The rounds that have a reward, in the table's order."""
        return np.flatnonzero(np.diff(self.starts)).tolist()

    def round(self, number: int) -> Round:
        """One of them."""
        start, end = self.starts[number : number + 2]
        full = end - start == self.problem.observations
        seen = Observed(None if full else self.places[start:end], self.rewards[start:end])
        row = None if self.contexts is None else self.contexts[number]
        return Round(self.problem, self.played[number].astype(np.int64), seen, row)

    def tables(self) -> LoggedRounds:
        """What was played and paid in the rounds that have a reward, NaN where one is missing."""
        paid = np.full((len(self.keys), self.problem.observations), np.nan)
        paid[self.rounds, self.places] = self.rewards
        told = self.told()
        rows = None if self.contexts is None else self.contexts[told]
        return LoggedRounds(self.played[told].astype(np.int64), paid[told], rows)


def read_log(problem: Problem, cells: Cells, key: str | None, prefix: str) -> Rounds:
    """The rounds of a table, none of which contradicts itself."""
    problem.check_agents("log")
    entries = read_entries(problem, cells, key, prefix)
    played = _gather_arms(problem, cells, entries)
    order = np.lexsort(entries.paid[:0:-1])  # by round, then by place
    (rows, rounds, places), rewards = entries.paid[:, order], entries.rewards[order]
    _refuse_repeats(problem, cells, rows, rounds * problem.observations + places)
    unknown = find_unknown(problem, played, rounds, Observed(places, rewards))
    if unknown is not None:
        number, agent = unknown
        name, round = problem.graph.label(agent), entries.keys[int(rounds[number])]
        raise cells.wrong(
            int(rows[number]),
            f"has a reward that depends on the arm of {name!r}, which round {round!r} does not say",
        )
    starts = np.searchsorted(rounds, np.arange(len(entries.keys) + 1))
    return Rounds(
        problem,
        cells,
        entries.keys,
        played,
        rows,
        rounds,
        places,
        rewards,
        starts,
        entries.missing,
        entries.contexts,
    )


def _gather_arms(problem: Problem, cells: Cells, entries: Entries) -> NDArray[Any]:
    """What each agent played in each round; all rows must agree."""
    rows, rounds, agents, arms = entries.arms
    # A signed type: -1 stands for what nobody knows.
    kind = np.min_scalar_type(-problem.K)
    played = np.full((len(entries.keys), problem.n), -1, dtype=kind)
    played[rounds, agents] = arms
    other = played[rounds, agents] != arms
    if other.any():
        place = int(np.argmax(other))
        names = problem.arm_names or range(problem.K)
        agent, key = problem.graph.label(int(agents[place])), entries.keys[int(rounds[place])]
        one, two = names[int(arms[place])], names[int(played[rounds[place], agents[place]])]
        why = f"lets {agent!r} play {one!r} in round {key!r}, and another line lets it play {two!r}"
        raise cells.wrong(int(rows[place]), why)
    return played


def _refuse_repeats(problem: Problem, cells: Cells, rows: IntArray, codes: IntArray) -> None:
    """Refuse a reward that is told twice; ``codes`` has its round and its place."""
    twice = find.first_repeat(codes)
    if twice is None:
        return
    place = np.array([codes[twice[1]] % problem.observations])
    (names,) = names_of(problem, place)
    first, second = sorted(int(rows[each]) for each in twice)
    whose = f" of {names if len(names) > 1 else names[0]!r}" if names else ""
    raise cells.wrong(
        second, f"has the reward{whose} of a round that line {cells.line(first)} has as well"
    )
