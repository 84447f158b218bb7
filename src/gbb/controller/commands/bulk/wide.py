"""Rounds in wide form: a row for each round, with columns for agents and links."""

from __future__ import annotations

import numpy as np

from gbb._support import checks
from gbb._support.checks import IntArray
from gbb.controller.commands.bulk.cells import Cells
from gbb.controller.commands.bulk.entries import ARM_COLUMNS, Read, translate
from gbb.controller.state.report import WORDS
from gbb.problem import Problem

ARROW = "->"


def read_wide(problem: Problem, cells: Cells, rounds: IntArray) -> Read:
    """What the rows say, each one of the ``rounds``."""
    labels = [str(label) for label in problem.graph.labels]
    places = _reward_columns(problem)
    columns, rows, missing = set(cells.columns), np.arange(cells.rows), 0
    if (np.bincount(rounds, minlength=1) > 1).any():
        again = np.flatnonzero(np.bincount(rounds)[rounds] > 1)[1]
        raise cells.wrong(
            int(again), "is another row of the same round; wide rows are whole rounds"
        )
    arms, paid, rewards = [], [], []
    for agent, label in enumerate(labels):
        if label in columns:
            played = translate(cells, label, cells.coded(label), problem.arm)
            arms.append(np.stack([rows, rounds, np.full_like(rows, agent), played]))
    for name, place in places.items():
        if name in columns:
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
    return Read(
        known[:, known[3] >= 0],
        np.concatenate(paid, axis=1),
        np.concatenate(rewards),
        missing,
        {*labels, *places},
    )


def _reward_columns(problem: Problem) -> dict[str, int]:
    """The places in a report of the numbers that a wide table's columns name; links by either end."""
    labels = [str(label) for label in problem.graph.labels]
    named = [each.tolist() for each in problem.report.agents]
    if len(named) == 2:
        ends = [(labels[i], labels[j]) for i, j in zip(*named, strict=True)]
        found = {ARROW.join(pair): place for place, pair in enumerate(ends)}
        back = {ARROW.join(pair[::-1]): place for place, pair in enumerate(ends)}
        return {**back, **found} if problem.feedback == "link" else found
    names = [f"reward {label}" for label in labels] if named else ["reward"]
    return {name: place for place, name in enumerate(names)}


def _refuse_links(cells: Cells, known: set[str]) -> None:
    """Refuse columns that are meant as links and are none."""
    for name in cells.columns:
        if ARROW in name and name not in known:
            cure = checks.suggest(name, sorted(known))
            raise cells.unfit(f"its column {name!r} is no link of the graph. {cure}".rstrip(" .?"))
