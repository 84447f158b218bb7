"""Rounds in long form: a row for each reward."""

from __future__ import annotations

import json

import numpy as np

from gbb._support.checks import IntArray
from gbb.controller.commands.bulk.cells import Cells
from gbb.controller.commands.bulk.entries import ARM_COLUMNS, Read, translate
from gbb.controller.state.report import WORDS
from gbb.problem import Problem


def is_long(problem: Problem, cells: Cells) -> bool:
    """Whether a table has the columns of the long form."""
    words = WORDS[problem.feedback].columns or ("allocation",)
    return all(name in cells.columns for name in (*words, "reward"))


def read_long(problem: Problem, cells: Cells, rounds: IntArray) -> Read:
    """What the rows say, each of one of the ``rounds``."""
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
    return Read(arms[:, arms[3] >= 0], paid, rewards[told], missing, known)


def _agents(problem: Problem, cells: Cells, column: str) -> IntArray:
    """A column's agents, by number; each row has one."""
    found = cells.coded(column)
    numbers = translate(cells, column, found, problem.graph.index)
    if (numbers < 0).any():
        raise cells.wrong(int(np.argmax(numbers < 0)), f"has no {column!r}")
    return numbers


def _arms(problem: Problem, cells: Cells, whose: str) -> IntArray:
    """The arms of a column's agents, -1 where the cell is blank."""
    column = next((name for name in ARM_COLUMNS[whose] if name in cells.columns), None)
    if column is None:
        raise cells.unfit(f"it has no column {ARM_COLUMNS[whose][0]!r}")
    return translate(cells, column, cells.coded(column), problem.arm)


def _find_places(problem: Problem, cells: Cells, agents: list[IntArray]) -> IntArray:
    """Where in a round's report each row's number stands."""
    graph = problem.graph
    if len(agents) == 1:
        return agents[0]
    named = problem.report.agents
    keys = named[0].astype(np.int64) * graph.n + named[1]
    order = np.argsort(keys, kind="stable")
    known, places = np.zeros(cells.rows, dtype=bool), np.zeros(cells.rows, dtype=np.int64)
    # Only where every direction reports by itself does the order of the two ends matter.
    for one, two in (agents,) if problem.feedback == "edge" else (agents, agents[::-1]):
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
