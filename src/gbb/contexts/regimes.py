"""One of R regimes a round, each with matrices of its own: the hour, a wind sector."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.contexts._base import Contexts, count_or_names
from gbb.graph import Graph
from gbb.graph.entries import Entries

MOST_DIGITS = 18
"""No regime has a longer number."""


class Regimes(Contexts):
    """Every round is in one of R regimes, each with matrices of its own.

    An edge of type g pays in regime r by the matrix ``r G + g``, G the number of edge types.

    Parameters
    ----------
    regimes
        How many there are, or their names.
    """

    kind = "regimes"
    one_each = True
    keeps_alike = True
    weighs = False
    apart = True
    reach = 1.0

    def __init__(self, regimes: int | Sequence[str]) -> None:
        self.R, self.names = count_or_names("regimes", regimes)

    def count_matrices(self, types: int) -> int:
        return self.R * types

    def read(self, graph: Graph, context: Any) -> FloatArray:  # noqa: ARG002
        cure = "Say which regime the round is in." if context is None else ""
        counted = isinstance(context, Integral) and not isinstance(context, bool)
        if self.names is not None and not counted:
            number = self.names.index(checks.choice("context", context, self.names, cure=cure))
        else:
            digits = (
                isinstance(context, str) and context.isdecimal() and len(context) <= MOST_DIGITS
            )
            given = int(context) if digits else context
            number = checks.integer("context", given, low=0, high=self.R - 1, cure=cure)
        return checks.frozen(np.array([number], dtype=np.float64))

    def entries(self, own: Entries, types: int, row: FloatArray) -> Entries:
        return own._replace(type=own.type + types * int(row[0])).frozen()

    def name(self, row: FloatArray) -> Any:
        number = int(row[0])
        return number if self.names is None else self.names[number]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "regimes": self.R if self.names is None else list(self.names)}
