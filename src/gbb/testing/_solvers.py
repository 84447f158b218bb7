"""What every optimum solver owes, whoever wrote it."""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
import pytest

from gbb.environment import Environment
from gbb.graph import Graph
from gbb.optimum import Optimum, Solver
from gbb.problem import Problem
from gbb.testing._problems import PROBLEMS, environment


def check_solver(solver: Solver, env: Environment) -> Optimum | None:
    """The solver's answer, checked: its value is its allocation's, and its bound holds."""
    problem = env.problem
    found = solver(problem, env.M_star)
    if found is None:
        return None
    assert isinstance(found, Optimum)
    problem.allocation(found.allocation)
    assert problem.allowed[np.arange(problem.n), found.allocation].all()
    assert not found.allocation.flags.writeable
    scale = problem.m * max(1.0, float(np.abs(env.reward_tables).max()))
    best = max(env.expected_reward(np.array(arms)) for arms in _allocations(problem))
    worth = env.expected_reward(found.allocation)
    assert found.value == pytest.approx(worth, abs=1e-13 * scale)
    assert found.value <= best + 1e-13 * scale
    assert found.upper_bound >= best - 1e-13 * scale
    assert found.value <= found.upper_bound
    assert found.gap >= 0
    if found.proven:
        assert found.value == pytest.approx(best, abs=1e-11 * scale)
        assert found.gap == 0
    return found


def _allocations(problem: Problem) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*(np.flatnonzero(row).tolist() for row in problem.allowed))


class SolverContract:
    """The tests of one solver.

    Attributes
    ----------
    solver
        The solver.
    """

    solver: ClassVar[Solver]

    @pytest.mark.parametrize("problem", list(PROBLEMS.values()), ids=list(PROBLEMS))
    def test_an_answer_is_true_or_none(self, problem: Problem) -> None:
        check_solver(self.solver, environment(problem))

    def test_what_it_is_handed_is_left_alone_and_answers_repeat(self) -> None:
        rng = np.random.default_rng(3)
        M = np.abs(rng.normal(size=(3, 3)))
        before = M.copy()
        for graph in (Graph.complete(4), Graph.star(4)):
            problem = Problem(graph, rng.normal(size=(3, 3)))
            first, again = (self.solver(problem, M) for _ in range(2))
            assert np.array_equal(M, before)
            assert (first is None) == (again is None)
            if first is not None and again is not None:
                assert np.array_equal(first.allocation, again.allocation)
                assert first.value == again.value

    def test_it_says_what_it_does(self) -> None:
        assert self.solver.__doc__


def solver_contract(solver: Solver) -> type[SolverContract]:
    """The tests of a solver, to be given a name that starts with ``Test``."""
    return type("TestSolver", (SolverContract,), {"solver": solver})
