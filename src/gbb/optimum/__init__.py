"""The best allocation when M is known: exact where it can be proven, else a value and a bound.

Every public module of this folder offers one solver under its own name, a
:class:`~gbb.optimum._optimum.Solver`; :func:`solvers` finds them, and those that other packages offer as
entry points of the group ``gbb.optimum``. :func:`solve` picks one.
"""

from __future__ import annotations

import sys
from typing import cast

from gbb._support import discover
from gbb.optimum._optimum import Optimum, Solver, pair_table, value_of
from gbb.optimum._solve import ORDER, solve, solve_pairs
from gbb.pairwise import PairProblem

__all__ = [
    "ORDER",
    "Optimum",
    "PairProblem",
    "Solver",
    "find",
    "pair_table",
    "solve",
    "solve_pairs",
    "solvers",
    "value_of",
]


def _own() -> dict[str, Solver]:
    found = discover.modules(sys.modules[__name__])
    return {name: cast(Solver, getattr(module, name)) for name, module in found}


_FAMILY = discover.Family(
    "gbb.optimum", "be a gbb.optimum.Solver", lambda item: isinstance(item, Solver), _own
)


def solvers() -> dict[str, Solver]:
    """All solvers by name."""
    return _FAMILY.members()


def find(name: str, *, argument: str = "method") -> Solver:
    """A solver by its name or as ``package.module:name``; errors call it ``argument``."""
    return _FAMILY.find(argument, name)
