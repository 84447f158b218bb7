"""``solve``: pick the methods, share out the time, report the best of what they found."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.optimum._optimum import SECONDS, SOLVERS, Optimum
from gbb.optimum._toulbar2_process import Toulbar2Process
from gbb.optimum.arm_counts import arm_counts
from gbb.optimum.bipartite import bipartite
from gbb.optimum.circle import circle
from gbb.optimum.diagonal import diagonal
from gbb.optimum.elimination import WORK, eliminate_within
from gbb.optimum.heuristic import compile_search, heuristic
from gbb.optimum.sdp import tighten
from gbb.optimum.toulbar2 import installed
from gbb.pairwise import PairProblem
from gbb.problem import Problem

PROOFS = (diagonal, bipartite, circle, arm_counts)
"""Tried first, the cheapest first: each proves its optimum at once where it applies."""

CLOSE = 1e-4
"""A gap on complete graphs that is not worth further search."""

ENTRIES_A_SECOND = 1e8
"""Table entries that elimination is expected to form in a second."""


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
        The time limit. Less is spent when the optimum is proven earlier; compiling does not count.
    seed
        Where the randomness of the heuristics comes from.

    Notes
    -----
    Ctrl-C returns the best allocation so far.
    """
    budget = Budget(seconds)
    pairs = PairProblem.of(problem, M, edge_types=edge_types, allowed=allowed)
    rng = seeds.generator(seed)
    found = _pick(pairs, budget, rng) if method is None else _run(method, pairs, budget, rng)
    return dataclasses.replace(found, seconds=budget.elapsed)


def solve_alike(problem: Problem, M: ArrayLike) -> Optimum:
    """The best allocation that so much work finds, the same on every machine, fast or slow.

    Proofs by shape, elimination where it is cheap, and otherwise the heuristic, whose number of
    searches the problem's size fixes. There is no time limit; large problems take seconds.
    """
    pairs, budget, rng = PairProblem.of(problem, M), Budget(), seeds.generator(0)
    tried = (solver.run(pairs, budget, rng) for solver in PROOFS)
    known = next((found for found in tried if found is not None), None)
    if known is not None and known.proven:
        return known
    found = eliminate_within(pairs, budget, WORK)
    if found is not None:
        return found
    found = heuristic.run(pairs, budget, rng)
    assert found is not None
    return found if known is None else known.merge(found, pairs)


def solve_pairs(pairs: PairProblem, *, seconds: float = SECONDS, seed: Seed = 0) -> Optimum:
    """:func:`solve` for a pair problem with tables of any origin, such as bounds on rewards."""
    budget = Budget(seconds)
    found = _pick(pairs, budget, seeds.generator(seed))
    return dataclasses.replace(found, seconds=budget.elapsed)


def _run(method: str, pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum:
    found = SOLVERS.find(method).run(pairs, budget, rng)
    if found is None:
        cure = "Leave `method` out."
        raise checks.input_error("method", "apply to this problem", repr(method), cure)
    return found


def _pick(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum:
    tried = (solver.run(pairs, budget, rng) for solver in PROOFS)
    known = next((found for found in tried if found is not None), None)
    if known is not None and (known.proven or known.gap < CLOSE):
        return known
    with budget.aside():
        compile_search()
    work = min(WORK, ENTRIES_A_SECOND * budget.left / 2)
    found = eliminate_within(pairs, budget.part(0.7), work)
    if found is not None:
        return found
    found = heuristic.run(pairs, budget.part(0.5), rng)
    assert found is not None
    found = found if known is None else known.merge(found, pairs)
    if found.proven or budget.over:
        return found
    if not (installed() and Toulbar2Process.fits(pairs)):
        return tighten(pairs, found, budget, rng)
    return _race(pairs, found, budget, rng)


def _race(pairs: PairProblem, found: Optimum, budget: Budget, rng: np.random.Generator) -> Optimum:
    """Exact search in a process of its own while this one looks for better bounds."""
    try:
        with Toulbar2Process(pairs, found.allocation, budget.left) as process:
            found = tighten(pairs, found, budget.until(lambda: not process.running), rng)
            answer = None if found.proven else process.answer(budget.left)
            return found if answer is None else answer.merge(found, pairs)
    except KeyboardInterrupt:
        return found
