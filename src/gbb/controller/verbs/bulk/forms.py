"""Rounds in long form, a row for each reward, and in wide form, a row for each round."""

from __future__ import annotations

import json
import warnings
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.controller.state.report import WORDS
from gbb.controller.verbs.bulk.cells import Cells, Coded
from gbb.graph import links
from gbb.problem import Problem

KEYS = ("key", "round", "trial")
"""Columns that tell rounds apart, the first that is there."""

ARROW = "->"

ARM_COLUMNS = {
    "source": ("source_arm", "arm_source"),
    "target": ("target_arm", "arm_target"),
    "agent": ("arm",),
}
"""What a column of arms is called, by whose they are."""

OTHERS = {"trial", "time", "round", "key", "event"}
"""Columns that say nothing of what was played and paid."""


class Entries(NamedTuple):
    """What a table says, whatever its form.

    Attributes
    ----------
    keys
        The rounds' keys, in the order in which they come up.
    arms
        Rows (of the table), rounds, agents and arms, one after the other in four rows.
    paid
        Rows, rounds and places in the report of the rewards, in three rows.
    rewards
        The rewards.
    missing
        How many cells for a reward are blank.
    """

    keys: list[str]
    arms: IntArray
    paid: IntArray
    rewards: FloatArray
    missing: int


class _Read(NamedTuple):
    """Entries but for their keys, and the columns that they come from."""

    arms: IntArray
    paid: IntArray
    rewards: FloatArray
    missing: int
    known: set[str]


def read_entries(problem: Problem, cells: Cells, key: str | None, prefix: str) -> Entries:
    """All that the table says; ``key`` is the column that tells rounds apart."""
    column = _key_column(cells, key)
    found = cells.coded(column)
    if (found.codes < 0).any():
        raise cells.wrong(int(np.argmax(found.codes < 0)), f"has no {column!r}")
    words = WORDS[problem.feedback].columns
    long = all(name in cells.columns for name in (*words, "reward")) and (
        bool(words) or "allocation" in cells.columns
    )
    read = (_read_long if long else _read_wide)(problem, cells, found.codes)
    _leave_out(cells, {*read.known, column})
    keys = [prefix + str(value) for value in found.values]
    return Entries(keys, read.arms, read.paid, read.rewards, read.missing)


def _key_column(cells: Cells, key: str | None) -> str:
    """The column that tells rounds apart."""
    if key is not None and key not in cells.columns:
        rule = "name a column of the table"
        raise checks.input_error("key", rule, repr(key), checks.suggest(key, cells.columns))
    column = next((name for name in KEYS if name in cells.columns), None) if key is None else key
    if column is None:
        shown = ", ".join(cells.columns[:8])
        raise cells.unfit(
            "it has no column key, round or trial that tells its rounds apart, only "
            f"{shown}; name the one that does (key=, or --key)"
        )
    return column


def _read_long(problem: Problem, cells: Cells, rounds: IntArray) -> _Read:
    words, rows = WORDS[problem.feedback].columns, np.arange(cells.rows)
    rewards = cells.numbers("reward")
    known = {name for whose in words for name in ARM_COLUMNS[whose]}
    known |= {*words, "reward"} if words else {"allocation", "reward"}
    if not words:
        arms = _read_allocations(problem, cells, rounds)
        places: IntArray = np.zeros(cells.rows, dtype=np.int64)
    else:
        agents = [_agents(problem, cells, whose) for whose in words]
        arms = np.concatenate(
            [
                np.stack([rows, rounds, whose, _arms(problem, cells, name)])
                for name, whose in zip(words, agents, strict=True)
            ],
            axis=1,
        )
        places = _find_places(problem, cells, agents)
    told = ~np.isnan(rewards)
    paid = np.stack([rows, rounds, places])[:, told]
    missing = int(np.count_nonzero(~told))
    return _Read(arms[:, arms[3] >= 0], paid, rewards[told], missing, known)


def _agents(problem: Problem, cells: Cells, column: str) -> IntArray:
    """A column's agents, by number; each row has one."""
    found = cells.coded(column)
    numbers = _translate(cells, column, found, problem.graph.index)
    if (numbers < 0).any():
        raise cells.wrong(int(np.argmax(numbers < 0)), f"has no {column!r}")
    return numbers


def _arms(problem: Problem, cells: Cells, whose: str) -> IntArray:
    """The arms of a column's agents, -1 where the cell is blank."""
    column = next((name for name in ARM_COLUMNS[whose] if name in cells.columns), None)
    if column is None:
        raise cells.unfit(f"it has no column {ARM_COLUMNS[whose][0]!r}")
    return _translate(cells, column, cells.coded(column), problem.arm)


def _translate(cells: Cells, column: str, found: Coded, number_of: Any) -> IntArray:
    """A column of names as numbers, -1 for blanks."""
    numbers = [-1]
    for place, value in enumerate(found.values):
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        try:
            numbers.append(number_of(whole))
        except InputError as error:
            row = int(np.argmax(found.codes == place))
            raise cells.wrong(row, f"is wrong in {column!r}: {str(error).rstrip('.')}") from None
    return np.array(numbers, dtype=np.int64)[found.codes + 1]


def _find_places(problem: Problem, cells: Cells, agents: list[IntArray]) -> IntArray:
    """Where in a round's report each row's number stands."""
    graph = problem.graph
    if len(agents) == 1:
        return agents[0]
    named = links.named_by(graph, problem.feedback)
    keys = named[0].astype(np.int64) * graph.n + named[1]
    order = np.argsort(keys, kind="stable")
    known, places = np.zeros(cells.rows, dtype=bool), np.zeros(cells.rows, dtype=np.int64)
    # Only where every direction reports by itself does the order of the two ends matter.
    for one, two in (agents,) if problem.reports_edges else (agents, agents[::-1]):
        wanted = one * graph.n + two
        found = order[np.minimum(np.searchsorted(keys[order], wanted), keys.size - 1)]
        places = np.where(known, places, found)
        known |= keys[found] == wanted
    if not known.all():
        row = int(np.argmin(known))
        pair = tuple(graph.label(int(each[row])) for each in agents)
        raise cells.wrong(row, f"names {pair}, which is no link of the graph")
    return places


def _read_allocations(problem: Problem, cells: Cells, rounds: IntArray) -> IntArray:
    """The arms of a column of allocations, each as JSON ``{agent: arm}``."""
    found = cells.coded("allocation")
    if (found.codes < 0).any():
        raise cells.wrong(int(np.argmax(found.codes < 0)), "has no 'allocation'")
    played = np.empty((len(found.values), problem.n), dtype=np.int64)
    for place, text in enumerate(found.values):
        try:
            played[place] = problem.allocation(json.loads(text) if isinstance(text, str) else text)
        except (ValueError, TypeError) as error:
            row = int(np.argmax(found.codes == place))
            raise cells.wrong(row, f"has no allocation: {str(error).rstrip('.')}") from None
    each = (np.repeat(np.arange(cells.rows), problem.n), np.repeat(rounds, problem.n))
    agents = np.tile(np.arange(problem.n), cells.rows)
    return np.stack([*each, agents, played[found.codes].ravel()])


def _read_wide(problem: Problem, cells: Cells, rounds: IntArray) -> _Read:
    labels = [str(label) for label in problem.graph.labels]
    places = {name: place for place, name in enumerate(_reward_columns(problem))}
    rows, missing = np.arange(cells.rows), 0
    if (np.bincount(rounds, minlength=1) > 1).any():
        again = np.flatnonzero(np.bincount(rounds)[rounds] > 1)[1]
        raise cells.wrong(
            int(again), "is another row of the same round; wide rows are whole rounds"
        )
    arms, paid, rewards = [], [], []
    for agent, label in enumerate(labels):
        if label in cells.columns:
            played = _translate(cells, label, cells.coded(label), problem.arm)
            arms.append(np.stack([rows, rounds, np.full_like(rows, agent), played]))
    for name, place in places.items():
        if name in cells.columns:
            values = cells.numbers(name)
            told = ~np.isnan(values)
            paid.append(np.stack([rows, rounds, np.full_like(rows, place)])[:, told])
            rewards.append(values[told])
            missing += int(np.count_nonzero(~told))
    _refuse_links(cells, set(places))
    if not rewards or not arms:
        words = WORDS[problem.feedback].columns or ("allocation",)
        arm = (ARM_COLUMNS[name][0] for name in words if name in ARM_COLUMNS)
        long, wide = ", ".join((*words, *arm, "reward")), f"{labels[0]}, {next(iter(places))}"
        raise cells.unfit(
            f"it has neither a row for each reward (columns {long}) nor one for each round "
            f"(columns such as {wide})"
        )
    known = np.concatenate(arms, axis=1)
    return _Read(
        known[:, known[3] >= 0],
        np.concatenate(paid, axis=1),
        np.concatenate(rewards),
        missing,
        {*labels, *places},
    )


def _reward_columns(problem: Problem) -> list[str]:
    """What the columns of a wide table call the numbers of a report, in its order."""
    labels = [str(label) for label in problem.graph.labels]
    named = [each.tolist() for each in links.named_by(problem.graph, problem.feedback)]
    if len(named) == 2:
        return [f"{labels[i]}{ARROW}{labels[j]}" for i, j in zip(*named, strict=True)]
    return [f"reward {label}" for label in labels] if named else ["reward"]


def _refuse_links(cells: Cells, known: set[str]) -> None:
    """Refuse columns that are meant as links and are none."""
    for name in cells.columns:
        if ARROW in name and name not in known:
            cure = checks.suggest(name, sorted(known))
            raise cells.unfit(f"its column {name!r} is no link of the graph. {cure}".rstrip(" .?"))


def _leave_out(cells: Cells, known: set[str]) -> None:
    """Say which columns are not read."""
    more = [name for name in cells.columns if name not in known | OTHERS]
    if more:
        left = ", ".join(map(repr, more[:8])) + (", ..." if len(more) > 8 else "")
        warnings.warn(f"Left out the columns {left} of `log`.", stacklevel=2)
