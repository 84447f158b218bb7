"""A vector of context numbers a round: ``M(c) = sum_k c_k M_k``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.contexts._base import Contexts, check_most, check_within, count_or_names, read_numbers
from gbb.graph import Graph
from gbb.graph.entries import Entries


class Vector(Contexts):
    """Before every round C numbers c are known, and edges pay by ``M(c) = sum_k c_k M_k``.

    An edge of type g has the matrices ``k G + g``, G the number of edge types. A constant part takes a
    number that is always 1.

    Parameters
    ----------
    numbers
        How many there are, or their names.
    most
        No number is larger, nor smaller than minus this.
    """

    kind = "vector"
    keeps_alike = True
    weighs = True

    def __init__(self, numbers: int | Sequence[str], *, most: float = 1.0) -> None:
        self.C, self.names = count_or_names("numbers", numbers)
        self.most = check_most(most)
        self.one_each = self.C == 1
        self.reach = float(np.sqrt(self.C)) * self.most

    def count_matrices(self, types: int) -> int:
        return self.C * types

    def read(self, graph: Graph, context: Any) -> FloatArray:  # noqa: ARG002
        if context is None:
            cure = "Say what is known before the round."
            which = f" ({', '.join(self.names)})" if self.names else ""
            raise checks.input_error("context", f"hold {self.C} numbers{which}", "None", cure)
        if isinstance(context, Mapping):
            context = read_numbers(context, self.names, self.C)
        shape = (self.C,)
        row = checks.array("context", context, shape=shape, meaning="one number for each matrix")
        return check_within("context", row, self.most)

    def entries(self, own: Entries, types: int, row: FloatArray) -> Entries:
        count = len(own.edge)
        edge = np.repeat(own.edge, self.C)
        kind = np.repeat(own.type, self.C) + types * np.tile(np.arange(self.C), count)
        return Entries(edge, kind, np.outer(own.weight, row).ravel()).frozen()

    def name(self, row: FloatArray) -> Any:
        values = row.tolist()
        return values if self.names is None else dict(zip(self.names, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        numbers = self.C if self.names is None else list(self.names)
        return {"kind": self.kind, "numbers": numbers, "most": self.most}
