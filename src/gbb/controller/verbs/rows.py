"""Rewards as JSON has them: numbers in order, rows, or objects by name."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.controller.state.report import WORDS
from gbb.controller.verbs.rewards import Rows

IN_ORDER = {int, float}
BY_NAME = {*IN_ORDER, type(None)}


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
