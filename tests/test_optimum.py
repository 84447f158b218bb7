import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb._kernels.pairwise import enumerate_counts
from gbb.optimum import Optimum, PairProblem, exact, solve
from strategies import matrices

ZERO_DIAGONAL = np.array([[0.0, 1.0, 0.4], [0.7, 0.0, 0.2], [0.9, 0.1, 0.0]])


def problem_on(graph, K=3):
    return gbb.Problem(graph, np.eye(K))


@st.composite
def tables(draw, max_K=3):
    """A symmetric table of what an undirected edge pays."""
    M = draw(matrices(draw(st.integers(1, max_K))))
    return M + M.T


@given(n=st.integers(2, 6), W=tables(max_K=4))
def test_counting_runs_the_same_compiled_and_not_and_is_best(n, W):
    compiled = enumerate_counts(n, W)
    assert np.array_equal(compiled, enumerate_counts.py_func(n, W))
    assert compiled.sum() == n
    assert compiled.min() >= 0
    graph = gbb.Graph.complete(n)
    arms = np.repeat(np.arange(len(W)), compiled)
    value = sum(W[arms[i], arms[j]] for i, j in graph.edges) / 2
    if len(W) ** n <= 300:
        best = naive.best_value(np.eye(len(W)), W / 2, graph.edges, n)
        assert value == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize(
    ("graph", "M", "method"),
    [
        (gbb.Graph.complete(4), np.diag([1.0, 3.0, 2.0]), "diagonal"),
        (gbb.Graph.grid(3, 4), ZERO_DIAGONAL, "bipartite"),
        (gbb.Graph.complete(5), ZERO_DIAGONAL, "arm_counts"),
        (gbb.Graph.circle(5), ZERO_DIAGONAL, "circle"),
        (gbb.Graph.random(12, p=0.3, seed=0), ZERO_DIAGONAL, "elimination"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_cheapest_proof_is_taken_first(graph, M, method):
    found = solve(problem_on(graph), M)
    assert isinstance(found, Optimum)
    assert found.method == method
    assert found.proven
    assert found.seconds > 0


@pytest.mark.parametrize(
    "graph", [gbb.Graph.star(6), gbb.Graph.matching(6), gbb.Graph.circle(6), gbb.Graph.path(6)]
)
def test_a_bipartite_graph_pays_the_best_couple_on_every_edge(graph):
    found = solve(problem_on(graph), ZERO_DIAGONAL)
    assert found.value == pytest.approx(graph.m / 2 * (1.0 + 0.7))


def test_a_complete_graph_of_ten_with_ten_arms_is_proven():
    M = gbb.instances.absolute_normal(10, seed=0, distinct_couple=True, zeta=0.0)
    found = solve(problem_on(gbb.Graph.complete(10), K=10), M)
    assert found.proven
    assert found.method == "arm_counts"
    heuristic = solve(problem_on(gbb.Graph.complete(10), K=10), M, method="heuristic")
    assert heuristic.value <= found.value + 1e-9
    assert heuristic.value >= 0.95 * found.value


def test_what_is_not_proven_has_a_bound_and_a_gap():
    problem = problem_on(gbb.Graph.random(40, p=0.3, seed=0))
    found = solve(problem, ZERO_DIAGONAL, method="heuristic")
    largest = (ZERO_DIAGONAL + ZERO_DIAGONAL.T).max()
    assert found.upper_bound == pytest.approx(problem.m / 2 * largest)
    assert found.gap == pytest.approx(1 - found.value / found.upper_bound)
    assert 0 < found.gap < 0.5
    cut = gbb.cuts.greedy(problem.graph)
    env = gbb.Environment(problem, ZERO_DIAGONAL)
    couples = [env.expected_reward(cut.allocation((a, b))) for a in range(3) for b in range(3)]
    assert found.value >= max(couples) - 1e-9


def test_the_heuristic_proves_what_meets_its_bound():
    found = solve(problem_on(gbb.Graph.star(30)), ZERO_DIAGONAL, method="heuristic")
    assert found.proven
    assert found.gap == 0


def test_methods_that_do_not_apply_say_so():
    problem = problem_on(gbb.Graph.circle(5))
    for method in ("diagonal", "bipartite", "arm_counts"):
        with pytest.raises(gbb.InputError, match=f"`method` to apply to this problem.*'{method}'"):
            solve(problem, ZERO_DIAGONAL, method=method)
    big = problem_on(gbb.Graph.circle(101))
    with pytest.raises(gbb.InputError, match="`method` to apply to this problem"):
        solve(big, ZERO_DIAGONAL, method="brute_force")


def test_enumerations_know_their_limits(monkeypatch):
    problem = problem_on(gbb.Graph.complete(5))
    for limit in ("MAX_ALLOCATIONS", "MAX_COUNTS"):
        monkeypatch.setattr(exact, limit, 20)
    with pytest.raises(gbb.InputError, match="`method` to apply to this problem"):
        solve(problem, ZERO_DIAGONAL, method="brute_force")
    assert solve(problem, ZERO_DIAGONAL, method="arm_counts").bound_method == "quadratic"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"M": np.eye(2)}, r"`M` to have shape \(3, 3\), d x d, but got \(2, 2\)"),
        ({"M": np.full((3, 3), np.nan)}, "`M` to hold finite numbers only"),
        ({"method": "brute"}, r"`method` to be one of .* Did you mean 'brute_force'"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(gbb.InputError, match=message):
        solve(problem_on(gbb.Graph.circle(3)), **{"M": np.eye(3)} | options)


def test_pair_tables_and_values_on_general_arms():
    rng = np.random.default_rng(0)
    problem = gbb.Problem(gbb.Graph.circle(5), rng.normal(size=(4, 3)))
    M = rng.normal(size=(3, 3))
    pairs = PairProblem.of(problem, M)
    (W,) = pairs.tables
    for a, x in enumerate(problem.arms):
        for b, y in enumerate(problem.arms):
            assert W[a, b] == pytest.approx(x @ M @ y + y @ M @ x, abs=1e-13)
    allocation = np.array([0, 3, 1, 2, 2])
    expected = naive.expected_reward(problem.arms, M, problem.graph.edges, allocation)
    assert pairs.value(allocation) == pytest.approx(expected, abs=1e-12)
