"""A context as JSON has it."""

from __future__ import annotations

from typing import Any

from gbb._support import checks


def read_context(name: str, value: Any) -> Any:
    """What a kind of contexts reads: numbers alone, in order or by name, or types and weights."""
    if isinstance(value, list | dict):
        _check_numbers(name, value)
    if isinstance(value, dict) and value.keys() == {"types", "weights"}:
        return value["types"], value["weights"]
    return value


def _check_numbers(name: str, value: list[Any] | dict[str, Any]) -> None:
    """Refuse lists, in lists or by name, that hold anything else: text and truth values are none."""
    left: list[Any] = list(value.values() if isinstance(value, dict) else value)
    while left:
        each = left.pop()
        if isinstance(each, list):
            left.extend(each)
        elif isinstance(each, bool) or not isinstance(each, int | float):
            raise checks.input_error(name, "hold numbers", repr(each))
