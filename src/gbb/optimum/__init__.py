"""The best allocation when M is known: exact where it can be proven, else a value and a bound.

Every public module of this folder offers one solver under its own name, a
:class:`~gbb.optimum._optimum.Solver`; :func:`solvers` finds them and :func:`solve` picks one.
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
    "pair_table",
    "solve",
    "solve_pairs",
    "solvers",
    "value_of",
]


def solvers() -> dict[str, Solver]:
    """All solvers by name."""
    package = sys.modules[__name__]
    return {name: cast(Solver, getattr(mod, name)) for name, mod in discover.modules(package)}
