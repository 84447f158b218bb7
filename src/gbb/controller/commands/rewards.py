"""Rewards as people have them: by name, in order or as a table; checked before anything else."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.csv_files import place_in
from gbb.controller.log.codec import Observed, pack_rewards
from gbb.controller.log.log import Transaction
from gbb.controller.state.report import WORDS, limit_text, limits_of, names_of
from gbb.controller.types import JsonRewards, show
from gbb.graph import find
from gbb.graph.find import Where, nowhere
from gbb.problem import LARGEST, Problem

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 8
"""How many columns of a table a message names."""


class RewardWarning(UserWarning):
    """A reward lies far outside what the problem declares possible; it is kept."""


class Rows(NamedTuple):
    """Rewards with whose they are: a column for each end of their links, or of their agents.

    A reward may be blank: None, or text of blanks only. It is missing, as if the row were left out.
    """

    whose: list[list[Any]]
    values: list[Any]
    where: Where = nowhere


def open_rewards(rewards: Any) -> Any:
    """The rewards with those of a file as a table: it is read before any other writer has to wait."""
    return _read_csv(Path(rewards)) if isinstance(rewards, str | Path) else rewards


def read_rewards(problem: Problem, rewards: Any) -> Observed:
    """The rewards by edge, link or agent; refuses unknown ones, repetitions and what is not finite."""
    problem.check_agents("rewards")
    if isinstance(rewards, JsonRewards):
        shown = partial(show, rewards.data)
        rewards = read_json_rewards("rewards", rewards.data, problem.feedback, shown)
    if isinstance(rewards, Rows):
        return _put_in_order(problem, *rewards)
    if hasattr(rewards, "columns"):
        return _read_table(problem, rewards)
    if isinstance(rewards, Mapping):
        return _read_mapping(problem, rewards)
    if problem.observations == 1 and np.ndim(rewards) == 0:
        rewards = np.atleast_1d(rewards)
    values = problem.rewards(rewards)
    return Observed(None, values + 0.0)  # turns -0.0 into 0.0


def _read_csv(path: Path) -> pd.DataFrame:
    """A table of rewards from a CSV file."""
    from gbb._support import csv_files  # noqa: PLC0415  (loads pandas)

    return csv_files.table("rewards", str(path), csv_files.read_text("rewards", path))


def _read_mapping(problem: Problem, rewards: Mapping[Any, Any]) -> Observed:
    words = WORDS[problem.feedback]
    if not words.columns:
        raise checks.input_error("rewards", "be one number", "a mapping")
    for key in rewards:
        several = len(key) if isinstance(key, tuple) else 1
        if several != len(words.columns) or isinstance(key, tuple) != (several > 1):
            cure = f"Write {{{words.key}: reward}}."
            raise checks.input_error("rewards", f"have {words.keys} as keys", repr(key), cure)
    ends = [key if isinstance(key, tuple) else (key,) for key in rewards]
    whose = [[end[place] for end in ends] for place in range(len(words.columns))]
    return _put_in_order(problem, whose, list(rewards.values()))


def _read_table(problem: Problem, table: pd.DataFrame) -> Observed:
    wanted = (*WORDS[problem.feedback].columns, "reward")
    if any(name not in table.columns for name in wanted):
        some = len(wanted) > 1
        rule = f"have the columns {', '.join(wanted)}" if some else "have a column reward"
        first, more = table.columns[:SHOWN], ", ..." if len(table.columns) > SHOWN else ""
        raise checks.input_error("rewards", rule, f"{', '.join(map(str, first)) or 'none'}{more}")
    for name in wanted:
        if list(table.columns).count(name) > 1:
            raise checks.input_error("rewards", "have each column once", f"{name!r} twice")
    *whose, values = (table[name].tolist() for name in wanted)
    if problem.graph.names is not None:  # a number is then a name, as it would be in a file
        whose = [[str(one) if type(one) is int else one for one in each] for each in whose]
    values = [None if checks.is_missing(value) else value for value in values]  # pandas' own blanks
    return _put_in_order(problem, whose, values, place_in(table))


def _put_in_order(
    problem: Problem, whose: list[list[Any]], values: list[Any], where: Where = nowhere
) -> Observed:
    """The rewards in the report's order; ``whose`` has the two ends of their links, or their agents."""
    told = [row for row, value in enumerate(values) if not _is_blank(value)]
    if not told:
        cure = "Call fail() or abandon() for a trial that gave nothing."
        raise checks.input_error("rewards", "hold at least one reward", "none", cure)
    if not whose and len(values) != 1:
        raise checks.input_error("rewards", "hold one number in all", f"{len(values)} rows")
    places = _find_places(problem, whose, where)[told]
    numbers = _read_numbers(values, whose, where)[told]
    order = np.argsort(places, kind="stable")
    full = len(places) == problem.observations
    return Observed(None if full else places[order], numbers[order])


def _find_places(problem: Problem, whose: list[list[Any]], where: Where) -> IntArray:
    """The places in the report of the numbers that ``whose`` names, each once."""
    if not whose:
        return np.zeros(1, dtype=np.int64)
    if len(whose) == 2:
        links = None if problem.feedback == "edge" else problem.report.edge_index
        return find.edges("rewards", problem.graph, (whose[0], whose[1]), where, links)
    (agents,) = whose
    places = find.agents("rewards", problem.graph, agents, where)
    if (twice := find.first_repeat(places)) is not None:
        got = f"{agents[twice[1]]!r} again{where(twice[1])}"
        raise checks.input_error("rewards", "name no agent twice", got)
    return places


def _read_numbers(values: list[Any], whose: list[list[Any]], where: Where) -> FloatArray:
    """The numbers, 0 for those that are blank."""
    numbers: FloatArray = np.array([_read_number(value) for value in values]) + 0.0  # no -0.0
    for wrong, rule in (
        (~np.isfinite(numbers), "hold finite numbers only"),
        (np.abs(numbers) > LARGEST, f"hold numbers of at most {LARGEST:g}"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            names = tuple(each[row] for each in whose)
            place = f" for {names if len(names) > 1 else names[0]!r}" if names else ""
            got = f"{values[row]!r}{place}{where(row)}"
            raise checks.input_error("rewards", rule, got, _cure(values[row]))
    return numbers


def _cure(value: Any) -> str:
    """What to write in the place of a reward that is no number."""
    if (
        isinstance(value, str)
        and checks.is_number(point := value.replace(",", "."))
        and "," in value
    ):
        return f"Write {point}, with a point."
    return "Leave the cell blank where a reward is missing." if isinstance(value, str) else ""


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _read_number(value: Any) -> float:
    """A number, 0 for a blank, or NaN for what is none."""
    number = 0.0 if _is_blank(value) else checks.number_in(value)
    return float("nan") if number is None else number


def encode_report(problem: Problem, rewards: Any) -> tuple[dict[str, Any], bytes, Observed]:
    """Return the content and the data of the event that tells rewards, and the rewards."""
    seen = read_rewards(problem, rewards)
    counted = WORDS[problem.feedback].counted
    content = {} if seen.positions is None else {counted: int(seen.positions.size)}
    return content, pack_rewards(seen, problem.observations), seen


def warn_out_of_bounds(
    transaction: Transaction, problem: Problem, seen: Observed, trial: int | None
) -> None:
    """Keep a warning event about rewards far outside the declared bounds."""
    limits = limits_of(problem)
    limits = limits if seen.positions is None else limits[seen.positions]
    far = np.flatnonzero(np.abs(seen.values) > limits)
    if not far.size:
        return
    place, words = int(far[0]), WORDS[problem.feedback]
    position = np.array([place]) if seen.positions is None else seen.positions[[place]]
    (names,) = names_of(problem, position)
    value, limit = float(seen.values[place]), float(limits[place])
    text = (
        f"{far.size} of {seen.values.size} rewards lie outside +-{limit:g} "
        f"({limit_text(problem)}), first {value:g}{words.place.format(*names)}; they are kept."
    )
    whose = {words.warned: list(names) if len(names) > 1 else names[0]} if names else {}
    content = {"message": text, **whose, "reward": value, "limit": limit}
    transaction.append("warning", content, trial=trial)
    transaction.warnings.append(text)


IN_ORDER = {int, float}
BY_NAME = {*IN_ORDER, type(None)}
"""What JSON makes of rewards that go by order, and of those that have names."""


def read_json_rewards(
    name: str, data: Any, feedback: str, got: Callable[[], str] = lambda: "something else"
) -> Any:
    """What ``tell`` takes, from a value of JSON.

    It may be a number; a list of numbers in the report's order, or ``{"float64": "..."}``, the same as
    bytes in base64 (little-endian); a list of rows
    ``[source, target, reward]`` or of objects with these names; or ``{source: {target: reward}}``.
    Where agents report, agents take the place of links: ``{agent: reward}`` and so on. A reward that
    has a name may be null: it is missing.

    Parameters
    ----------
    name, got
        What a message calls the argument, and what says what was given in its place.
    data, feedback
        The rewards, and what a round reports.
    """
    columns = WORDS[feedback].columns
    if isinstance(data, dict) and isinstance(data.get("float64"), str):
        return _unpack(name, data)
    if isinstance(data, dict) and len(columns) == 2:
        if all(isinstance(inner, dict) for inner in data.values()):
            ends = [(i, j, reward) for i, inner in data.items() for j, reward in inner.items()]
            return _rows(ends, 3)
    elif set(map(type, _values(data))) <= (BY_NAME if isinstance(data, dict) else IN_ORDER):
        return data
    elif isinstance(data, list):
        wanted = (*columns, "reward")
        if all(isinstance(row, dict) and row.keys() >= set(wanted) for row in data):
            return _rows([[row[column] for column in wanted] for row in data], len(wanted))
        if all(isinstance(row, list) and len(row) == len(wanted) for row in data):
            return _rows(data, len(wanted))
    raise checks.input_error(name, "be JSON rows", got(), _how(columns))


def _unpack(name: str, data: dict[str, Any]) -> FloatArray:
    """Numbers in the report's order, from their bytes."""
    try:
        if len(data) > 1:
            raise ValueError
        return np.frombuffer(base64.b64decode(data["float64"], validate=True), dtype="<f8")
    except ValueError:
        rule = 'have the bytes of numbers of 64 bits in base64 as "float64", and nothing else'
        raise checks.input_error(name, rule, "others") from None


def _values(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return list(data.values())
    return data if isinstance(data, list) else [data]


def _rows(rows: Any, size: int) -> Rows:
    *whose, values = ([row[place] for row in rows] for place in range(size))
    return Rows(whose, values)


def _how(columns: tuple[str, ...]) -> str:
    if not columns:
        return "Write one number."
    rows = f"[[{', '.join(columns)}, reward], ...]"
    if len(columns) == 2:
        return f"Write {rows}, {{source: {{target: reward}}}}, or one number for each."
    return f'Write {rows}, {{"rewards": {{{columns[0]}: reward}}}}, or one number per agent.'
