"""``solve``: pick the methods, share out the time, report the best of what they found."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, plugins, seeds
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.optimum import exact
from gbb.optimum.bounds import improve_bound, sdp
from gbb.optimum.heuristic import heuristic
from gbb.optimum.optimum import Optimum, Solver
from gbb.optimum.toulbar2 import applies, search, toulbar2
from gbb.pairwise import PairProblem
from gbb.problem import Problem

SECONDS = 5.0
"""Default time limit."""

PROOFS = (exact.diagonal, exact.bipartite, exact.circle, exact.arm_counts)
"""Tried first, the cheapest first: each proves its optimum at once where it applies."""

CLOSE = 1e-4
"""A gap on complete graphs that is not worth further search."""

ENTRIES_A_SECOND = 1e8
"""Table entries that elimination is expected to form in a second."""

EXACT_SHARE = 0.7
"""Fraction of the remaining time for exact search; bounds have the rest."""

_SEARCHES: tuple[Solver, ...] = (exact.elimination, exact.brute_force, heuristic, sdp, toulbar2)
_SOLVERS: dict[str, Solver] = {solver.__name__: solver for solver in (*PROOFS, *_SEARCHES)}


def solvers() -> dict[str, Solver]:
    """Return all solvers by name, including those of installed packages."""
    return plugins.members("gbb.optimum", _SOLVERS)


def find(name: str, *, argument: str = "method") -> Solver:
    """Return a solver by name or as ``package.module:solver``; errors call it ``argument``."""
    return plugins.load("gbb.optimum", name, _SOLVERS, argument=argument)


def solve(
    problem: Problem | PairProblem,
    M: ArrayLike = (),
    *,
    method: str | None = None,
    allowed: ArrayLike | None = None,
    seconds: float = SECONDS,
    seed: Seed = 0,
) -> Optimum:
    """Return the best allocation for the matrix M.

    Maximises the sum over directed edges of ``x_i' M x_j``, which is NP-hard in general (the paper's
    Proposition 2.1).

    Parameters
    ----------
    problem
        The graph and the arms; or a pair problem with tables of any origin, such as bounds on rewards,
        which takes neither ``M`` nor ``allowed``.
    M
        A d x d matrix, M* or an estimate of it; or one for each of the problem's types (types x d x d).
    method
        A solver's name; picked by itself when left out.
    allowed
        Which of its allowed arms each agent may play (boolean, n x K); all when left out.
    seconds
        The time limit. Less is spent if the optimum is proven earlier; compiling does not count.
    seed
        The seed of the heuristics.

    Notes
    -----
    Ctrl-C returns the best allocation so far.
    """
    budget = Budget(seconds)
    pairs = PairProblem.of(problem, M, allowed=allowed)
    solver = _pick if method is None else find(method)
    answer = solver(pairs, budget, seeds.generator(seed))
    if answer is None:
        cure = "Leave `method` out."
        raise checks.input_error("method", "apply to this problem", repr(method), cure)
    return dataclasses.replace(answer, seconds=budget.elapsed)


def solve_deterministic(problem: Problem, M: ArrayLike) -> Optimum:
    """Return the best allocation of a fixed amount of work: the same on every machine, fast or slow.

    Proofs by shape, elimination where it is cheap, and otherwise the heuristic, whose number of
    searches the problem's size fixes. There is no time limit; large problems take seconds.
    """
    pairs, budget, rng = PairProblem.of(problem, M), Budget(), seeds.generator(0)
    by_shape = _prove_by_shape(pairs, budget, rng)
    if by_shape is not None and by_shape.proven:
        return by_shape
    return _eliminate_or_search(pairs, by_shape, budget, rng)


def _pick(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum:
    by_shape = _prove_by_shape(pairs, budget, rng)
    if by_shape is not None and (by_shape.proven or by_shape.gap < CLOSE):
        return by_shape
    answer = _eliminate_or_search(pairs, by_shape, budget, rng)
    if not answer.proven and not budget.over and applies(pairs):
        answer = search(pairs, answer, budget.part(EXACT_SHARE))
    if not answer.proven and not budget.over:
        answer = improve_bound(pairs, answer, budget, rng)
    return answer


def _prove_by_shape(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Optimum | None:
    """Return the answer of the first proof that applies; only that of arm counts may be unproven."""
    tried = (proof(pairs, budget, rng) for proof in PROOFS)
    return next((answer for answer in tried if answer is not None), None)


def _eliminate_or_search(
    pairs: PairProblem, by_shape: Optimum | None, budget: Budget, rng: np.random.Generator
) -> Optimum:
    # Elimination that would take over half of the time is not begun.
    work = min(exact.MAX_WORK, ENTRIES_A_SECOND * budget.left / 2)
    eliminated = exact.elimination(pairs, budget.part(0.7), rng, work)
    if eliminated is not None:
        return eliminated
    answer = heuristic(pairs, budget.part(0.5), rng)
    return answer if by_shape is None else by_shape.merge(answer, pairs)
