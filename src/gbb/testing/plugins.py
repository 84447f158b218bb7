"""The contracts of cut methods, solvers and noise laws, for those of gbb and of third parties."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb.cuts import Cut, CutMethod
from gbb.environment import Environment, Noise
from gbb.graph import Graph
from gbb.optimum import Optimum, PairProblem, Solver
from gbb.problem import Problem
from gbb.testing.problems import PROBLEMS, environment

SECONDS = 5.0
"""The time that a solver has for a small problem."""

SIZE = 40_000
SLACK = 5.0 / SIZE**0.5
"""Five standard errors of a mean of so many draws of variance 1."""


def small_graphs() -> Iterator[Graph]:
    """Yield every graph of up to four agents, and random ones of up to nine."""
    for n in range(1, 5):
        links = list(itertools.combinations(range(n), 2))
        for chosen in itertools.product((False, True), repeat=len(links)):
            edges = np.array(list(itertools.compress(links, chosen)), dtype=np.int64).reshape(-1, 2)
            yield Graph.from_edges(edges, n=n, undirected=True)
    for seed in range(40):
        yield Graph.random(5 + seed % 5, p=(1 + seed % 9) / 10, seed=seed)


def check_cut_method(method: CutMethod, graph: Graph, seed: int) -> None:
    """Check that ``method`` cuts half of the edges or more, and that its counts are true."""
    cut = method(graph, seed=seed)
    assert isinstance(cut, Cut)
    assert cut.graph is graph
    assert cut.sides.shape == (graph.n,)
    assert set(cut.sides.tolist()) <= {0, 1}
    assert not cut.sides.flags.writeable
    first, second = cut.sides[graph.sources], cut.sides[graph.indices]
    m1, m12, m21, m2 = np.bincount(2 * first + second, minlength=4).tolist()
    assert cut.weights == (m12, m21, m1, m2)
    assert cut.m == graph.m
    assert 2 * (cut.m12 + cut.m21) >= graph.m


class CutContract:
    """The tests of one cut method.

    Attributes
    ----------
    method
        The method.
    """

    method: ClassVar[CutMethod]

    def test_it_cuts_half_of_the_edges_or_more_and_counts_them(self) -> None:
        for seed, graph in enumerate(small_graphs()):
            check_cut_method(self.method, graph, seed)

    def test_same_seed_same_cut(self) -> None:
        graph = Graph.random(60, p=0.2, seed=1)
        first, again = (self.method(graph, seed=5) for _ in range(2))
        assert np.array_equal(first.sides, again.sides)

    def test_it_says_what_it_does(self) -> None:
        assert self.method.__doc__


def cut_contract(method: CutMethod) -> type[CutContract]:
    """Return the tests of a cut method, to be given a name that starts with ``Test``."""
    return type("TestCut", (CutContract,), {"method": staticmethod(method)})


def check_solver(solver: Solver, env: Environment) -> Optimum | None:
    """Check a solver's answer, and return it: its value is its allocation's, and its bound holds."""
    problem = env.problem
    answer = solver(PairProblem.of(problem, env.M_star), Budget(SECONDS), np.random.default_rng(0))
    if answer is None:
        return None
    assert isinstance(answer, Optimum)
    problem.allocation(answer.allocation)
    assert problem.allowed[np.arange(problem.n), answer.allocation].all()
    assert not answer.allocation.flags.writeable
    # All allocations of so small a problem, so that a false bound or proof cannot pass.
    scale = problem.m * max(1.0, float(np.abs(env.reward_tables).max()))
    choices = (np.flatnonzero(row).tolist() for row in problem.allowed)
    best = max(env.expected_reward(np.array(arms)) for arms in itertools.product(*choices))
    worth = env.expected_reward(answer.allocation)
    assert answer.value == pytest.approx(worth, abs=1e-13 * scale)
    assert answer.value <= best + 1e-13 * scale
    assert answer.upper_bound >= best - 1e-13 * scale
    assert answer.value <= answer.upper_bound
    assert answer.gap >= 0
    if answer.proven:
        assert answer.value == pytest.approx(best, abs=1e-11 * scale)
        assert answer.gap == 0
    return answer


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

    def test_arguments_are_not_modified_and_answers_repeat(self) -> None:
        rng = np.random.default_rng(3)
        M = np.abs(rng.normal(size=(3, 3)))
        for graph in (Graph.complete(4), Graph.star(4)):
            pairs = PairProblem.of(Problem(graph, rng.normal(size=(3, 3))), M)
            answers = []
            for _ in range(2):
                answer = self.solver(pairs, Budget(SECONDS), np.random.default_rng(0))
                answers.append(None if answer is None else (answer.allocation, answer.value))
            np.testing.assert_equal(answers[0], answers[1])

    def test_it_says_what_it_does(self) -> None:
        assert self.solver.__doc__


def solver_contract(solver: Solver) -> type[SolverContract]:
    """Return the tests of a solver, to be given a name that starts with ``Test``."""
    return type("TestSolver", (SolverContract,), {"solver": staticmethod(solver)})


class NoiseContract:
    """The tests of one law of unit noise.

    Attributes
    ----------
    law
        Returns so many independent draws.
    """

    law: ClassVar[Noise]

    def draw(self, seed: int, size: int = SIZE) -> FloatArray:
        """Return draws from a seed."""
        return type(self).law(np.random.default_rng(seed), size)

    def test_it_draws_as_many_finite_numbers_as_it_is_asked_for(self) -> None:
        for size in (0, 1, 7):
            drawn = self.draw(0, size)
            assert drawn.shape == (size,)
            assert drawn.dtype == np.float64
            assert np.isfinite(drawn).all()

    def test_same_seed_same_draws(self) -> None:
        assert np.array_equal(self.draw(3), self.draw(3))

    def test_it_is_centred(self) -> None:
        assert abs(self.draw(1).mean()) <= SLACK

    def test_it_is_sub_gaussian_with_scale_1(self) -> None:
        """``E exp(s e) <= exp(s^2 / 2)``, up to what so many draws can tell."""
        drawn = self.draw(2)
        for s in (-1.0, -0.5, 0.5, 1.0):
            grown = np.exp(s * drawn - s**2 / 2)
            assert grown.mean() <= 1.0 + 5.0 * grown.std() / SIZE**0.5


def noise_contract(law: Noise) -> type[NoiseContract]:
    """Return the tests of a noise law, to be given a name that starts with ``Test``."""
    return type("TestNoise", (NoiseContract,), {"law": staticmethod(law)})
