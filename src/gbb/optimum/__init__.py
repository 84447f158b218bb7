"""The best allocation when M is known: exact where it can be proven, else a value and a bound.

:func:`solvers` lists the solvers, each a :class:`~gbb.optimum.Solver`: those of gbb and those that
installed packages offer as entry points of the group ``gbb.optimum``. :func:`solve` picks one.
"""

from __future__ import annotations

from gbb.optimum.optimum import Optimum, Solver
from gbb.optimum.solve import find, solve, solve_deterministic, solvers
from gbb.pairwise import PairProblem

__all__ = [
    "Optimum",
    "PairProblem",
    "Solver",
    "find",
    "solve",
    "solve_deterministic",
    "solvers",
]
