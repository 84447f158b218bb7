"""What a table of rounds says, whatever its form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.controller.commands.bulk.cells import Cells, Coded

ARM_COLUMNS = {
    "source": ("source_arm", "arm_source"),
    "target": ("target_arm", "arm_target"),
    "agent": ("arm",),
}
"""What a column of arms is called, by whose they are."""


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
    contexts
        The rounds' contexts, a row of numbers each; None where there are none.
    """

    keys: list[str]
    arms: IntArray
    paid: IntArray
    rewards: FloatArray
    missing: int
    contexts: FloatArray | None = None


class Read(NamedTuple):
    """Entries but for their keys, and the columns that they come from."""

    arms: IntArray
    paid: IntArray
    rewards: FloatArray
    missing: int
    known: set[str]


def translate(cells: Cells, column: str, found: Coded, number_of: Any) -> IntArray:
    """A column of names as numbers, -1 for blanks."""
    numbers = [-1]
    for place, value in enumerate(found.values):
        try:
            numbers.append(number_of(as_written(value)))
        except InputError as error:
            row = int(np.argmax(found.codes == place))
            raise cells.wrong(row, f"is wrong in {column!r}: {str(error).rstrip('.')}") from None
    return np.array(numbers, dtype=np.int64)[found.codes + 1]


def as_written(value: Any) -> Any:
    """A number or a name; pandas makes 1.0 of 1 where a column has blanks."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
