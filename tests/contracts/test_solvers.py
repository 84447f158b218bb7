"""What every optimum solver owes, whoever wrote it."""

import numpy as np
import pytest
from hypothesis import given

import gbb
import naive
from gbb.optimum import Optimum, solvers
from strategies import environments

SOLVERS = solvers()
every_solver = pytest.mark.parametrize("name", SOLVERS)


def scale(env):
    """The size of rounding errors in a global reward."""
    return env.problem.m * max(1.0, float(np.abs(env.reward_table).max()))


def test_the_provable_shortcuts_are_discovered():
    assert {"diagonal", "bipartite", "brute_force"} <= set(SOLVERS)
    assert set(gbb.optimum.ORDER) <= set(SOLVERS)


@every_solver
@given(env=environments())
def test_an_answer_is_true_or_none(name, env):
    problem = env.problem
    found = SOLVERS[name](problem, env.M_star)
    if found is None:
        return
    assert isinstance(found, Optimum)
    problem.allocation(found.allocation)
    assert not found.allocation.flags.writeable
    assert found.method == name
    edges, tolerance = problem.graph.edges, 1e-13 * scale(env)
    recomputed = naive.expected_reward(problem.arms, env.M_star, edges, found.allocation)
    best = naive.best_value(problem.arms, env.M_star, edges, problem.n)
    assert found.value == pytest.approx(recomputed, abs=tolerance)
    assert found.value <= best + tolerance
    assert found.upper_bound >= best - tolerance
    assert found.value <= found.upper_bound
    assert found.gap >= 0
    if found.proven:
        assert found.value == pytest.approx(best, abs=1e-11 * scale(env))
        assert found.gap == 0


@every_solver
def test_the_problem_and_the_matrix_are_left_alone_and_answers_repeat(name):
    rng = np.random.default_rng(3)
    M = np.abs(rng.normal(size=(3, 3)))
    before = M.copy()
    for graph in (gbb.Graph.complete(4), gbb.Graph.star(4)):
        problem = gbb.Problem(graph, rng.normal(size=(3, 3)))
        first, again = (SOLVERS[name](problem, M) for _ in range(2))
        assert np.array_equal(M, before)
        assert (first is None) == (again is None)
        if first is not None:
            assert np.array_equal(first.allocation, again.allocation)
            assert first.value == again.value


@every_solver
def test_says_what_it_does(name):
    assert SOLVERS[name].__doc__
