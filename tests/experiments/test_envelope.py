"""The envelope equals a proven solve at every zeta."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbb
from gbb.experiments._envelope import envelope
from gbb.instances import absolute_normal, with_zeta

ZETAS = np.linspace(0.0, 1.0, 41)


def every_zeta(problem: gbb.Problem, M: np.ndarray) -> np.ndarray:
    return np.array(
        [
            gbb.optimum.solve(problem, with_zeta(M, zeta), method="brute_force").value
            for zeta in ZETAS
        ]
    )


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 5), K=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_equals_brute_force_at_every_zeta(n: int, K: int, seed: int) -> None:
    problem = gbb.Problem(gbb.Graph.complete(n), np.eye(K))
    M = absolute_normal(K, seed=seed, distinct_couple=True)
    found = envelope(problem, M, method="arm_counts")
    np.testing.assert_allclose(found(ZETAS), every_zeta(problem, M), rtol=1e-11)
    assert found.proven


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.integers(0, 3), min_size=16, max_size=16), n=st.integers(2, 5))
def test_survives_ties(values: list[int], n: int) -> None:
    problem = gbb.Problem(gbb.Graph.complete(n), np.eye(4))
    M = np.array(values, dtype=float).reshape(4, 4)
    found = envelope(problem, M, method="arm_counts")
    np.testing.assert_allclose(found(ZETAS), every_zeta(problem, M), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("graph", [gbb.Graph.circle(5), gbb.Graph.random(6, p=0.6, seed=1)])
def test_holds_on_any_graph_with_an_exact_solver(graph: gbb.Graph) -> None:
    problem = gbb.Problem(graph, np.eye(4))
    M = absolute_normal(4, seed=2, distinct_couple=True)
    found = envelope(problem, M, method="brute_force")
    np.testing.assert_allclose(found(ZETAS), every_zeta(problem, M), rtol=1e-11)


def test_takes_few_solves_where_many_lines_meet() -> None:
    problem = gbb.Problem(gbb.Graph.complete(10), np.eye(10))
    solves = [
        envelope(problem, absolute_normal(10, seed=k, distinct_couple=True), method="arm_counts")
        for k in range(10)
    ]
    assert max(found.solves for found in solves) <= 25
    assert any(len(found.lines) > 2 for found in solves)


def test_an_unproven_solver_is_not_called_proven() -> None:
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(4))
    M = absolute_normal(4, seed=0, distinct_couple=True)
    assert not envelope(problem, M, method="heuristic").proven
