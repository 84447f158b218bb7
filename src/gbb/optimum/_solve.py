"""``solve``: pick the methods, share out the time, report the best of what they found."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
from numpy.typing import ArrayLike

from gbb import _checks, _random
from gbb._budget import Budget
from gbb._random import Seed
from gbb.optimum._optimum import SECONDS, Optimum, Solver
from gbb.optimum._pairs import PairProblem
from gbb.optimum.arm_counts import arm_counts
from gbb.optimum.bipartite import bipartite
from gbb.optimum.circle import circle
from gbb.optimum.diagonal import diagonal
from gbb.optimum.elimination import eliminated
from gbb.optimum.heuristic import heuristic
from gbb.problem import Problem

ORDER = ("diagonal", "bipartite", "circle", "arm_counts", "elimination", "heuristic")
"""What :func:`solve` tries: proofs first, the cheapest first."""

PROOFS = (diagonal, bipartite, circle, arm_counts)
"""Tried first: each proves its optimum at once where it applies."""


def solve(
    problem: Problem,
    M: ArrayLike,
    *,
    method: str | None = None,
    edge_types: ArrayLike | None = None,
    allowed: ArrayLike | None = None,
    seconds: float = SECONDS,
    seed: Seed = 0,
) -> Optimum:
    """The best allocation for the matrix M.

    Maximises the sum over directed edges of ``x_i' M x_j``, which is NP-hard in general (the paper's
    Proposition 2.1).

    Parameters
    ----------
    problem
        The graph and the arms.
    M
        A d x d matrix, M* or an estimate of it; or one for each edge type (types x d x d).
    method
        A solver's name; picked by itself when left out.
    edge_types
        Which matrix each directed edge uses, when there are several.
    allowed
        Which arms each agent may play (boolean, n x K); all when left out.
    seconds
        The time limit. Less is spent when the optimum is proven earlier.
    seed
        Where the randomness of the heuristics comes from.

    Notes
    -----
    Ctrl-C returns the best allocation so far.
    """
    budget = Budget(seconds)
    pairs = PairProblem.of(problem, M, edge_types=edge_types, allowed=allowed)
    rng = _random.generator(seed)
    found = _picked(pairs, budget, rng) if method is None else _told(method, pairs, budget, rng)
    return dataclasses.replace(found, seconds=budget.elapsed)


def _told(method: str, pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum:
    known: dict[str, Solver] = importlib.import_module("gbb.optimum").solvers()
    found = known[_checks.choice("method", method, known)].run(pairs, budget, rng)
    if found is None:
        cure = "Leave `method` out."
        raise _checks.fail("method", "apply to this problem", repr(method), cure)
    return found


def _picked(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum:
    for solver in PROOFS:
        found = solver.run(pairs, budget, rng)
        if found is not None:
            return found
    quick = eliminated(pairs, budget.part(0.5), limit=1e6, work=2e7)
    if quick is not None:
        return quick
    found = heuristic.run(pairs, budget, rng)
    assert found is not None
    return found
