"""The best allocation when M is known: exact where it can be proven, else a value and a bound.

Every public module of this folder offers one solver under its own name, a
:class:`~gbb.optimum._optimum.Solver`; :func:`solvers` finds them and :func:`solve` picks one.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import cast

from numpy.typing import ArrayLike

from gbb import _checks, _discover
from gbb.optimum._optimum import Optimum, Solver, pair_table, value_of
from gbb.problem import Problem

__all__ = ["Optimum", "Solver", "pair_table", "solve", "solvers", "value_of"]

ORDER = ("diagonal", "bipartite", "arm_counts", "brute_force", "local_search")
"""What :func:`solve` tries: proofs first, the cheapest first."""


def solvers() -> dict[str, Solver]:
    """All solvers by name."""
    package = sys.modules[__name__]
    return {name: cast(Solver, getattr(mod, name)) for name, mod in _discover.modules(package)}


def solve(problem: Problem, M: ArrayLike, *, method: str | None = None) -> Optimum:
    """The best allocation for the matrix M.

    Maximises the sum over directed edges of ``x_i' M x_j``, which is NP-hard in general (the paper's
    Proposition 2.1).

    Parameters
    ----------
    problem
        The graph and the arms.
    M
        A d x d matrix, M* or an estimate of it.
    method
        A solver's name; the first of :data:`ORDER` that applies when left out.
    """
    matrix = _checks.array("M", M, shape=(problem.d, problem.d), meaning="d x d")
    known = solvers()
    order = ORDER if method is None else (_checks.choice("method", method, known),)
    for name in order:
        start = time.perf_counter()
        found = known[name](problem, matrix)
        if found is not None:
            return dataclasses.replace(found, seconds=time.perf_counter() - start)
    raise _checks.fail("method", "apply to this problem", repr(method), "Leave `method` out.")
