"""The best allocation when M is known: exact where it can be proven, else a value and a bound.

Every public module of this folder offers one solver under its own name, a
:class:`~gbb.optimum._optimum.Solver`; :func:`solvers` finds them, and those that other packages offer as
entry points of the group ``gbb.optimum``. :func:`solve` picks one.
"""

from __future__ import annotations

from gbb.optimum._optimum import SOLVERS, Optimum, Solver, pair_table, value_of
from gbb.optimum._solve import solve, solve_alike, solve_pairs
from gbb.pairwise import PairProblem

__all__ = [
    "Optimum",
    "PairProblem",
    "Solver",
    "find",
    "pair_table",
    "solve",
    "solve_alike",
    "solve_pairs",
    "solvers",
    "value_of",
]

solvers, find = SOLVERS.members, SOLVERS.find
