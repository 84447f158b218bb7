"""Every solver keeps the contract."""

import pytest
from hypothesis import given

import gbb
from gbb.testing.plugins import check_solver, solver_contract
from strategies import environments

SOLVERS = gbb.optimum.solvers()

for name, solver in SOLVERS.items():
    globals()[f"Test_{name}"] = solver_contract(solver)


def test_the_provable_shortcuts_are_listed():
    assert {"diagonal", "bipartite", "circle", "arm_counts", "brute_force"} <= set(SOLVERS)
    assert {"elimination", "heuristic", "toulbar2", "sdp"} <= set(SOLVERS)


@pytest.mark.parametrize("name", SOLVERS)
@given(env=environments())
def test_an_answer_to_any_problem_is_true_or_none(name, env):
    found = check_solver(SOLVERS[name], env)
    assert found is None or found.method == name
