"""Drift as a number: chi-squared where nothing changed, whatever is told of a round."""

import numpy as np
import pytest
from scipy import stats

import gbb
from gbb.diagnostics import find_drift
from gbb.learning import empty, observe


def record_of(problem, env, rng, rounds):
    """The record of random rounds, the sum of their squared rewards and how many they are."""
    record, squares, count = empty(problem), 0.0, 0
    for _ in range(rounds):
        arms = rng.integers(problem.K, size=problem.n)
        paid = env.draw(1, arms, rng)
        record = record.merge(observe(problem, arms, paid))
        squares, count = squares + float(paid @ paid), count + paid.size
    return record, squares, count


def compare(problem, M, other, rng, rounds=(60, 20)):
    before, _, _ = record_of(problem, gbb.Environment(problem, M), rng, rounds[0])
    recent, squares, count = record_of(problem, gbb.Environment(problem, other), rng, rounds[1])
    return find_drift(problem, before.merge(recent), recent, squares=squares, count=count)


KINDS = {
    "edges": {},
    "weights": {"edge_weights": np.linspace(0.2, 2.0, 12)},
    "types": {"edge_types": np.arange(12) % 2},
    "links": {"feedback": "link"},
    "agents": {"feedback": "agent"},
    "sum": {"feedback": "global"},
}


def make(kind):
    more = KINDS[kind]
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(2), sigma=1.0, S=3.0, **more)
    M = np.array([[0.9, -0.3], [0.4, 0.6]])
    return problem, np.stack([M, -M.T]) if kind == "types" else M


@pytest.mark.parametrize("kind", KINDS)
def test_without_drift_it_is_chi_squared(kind):
    problem, M = make(kind)
    rng = np.random.default_rng(3)
    found = [compare(problem, M, M, rng) for _ in range(150)]
    # The larger of the declared and the estimated noise makes p a little too large, never too small.
    assert stats.kstest([each.p for each in found], "uniform", alternative="greater").pvalue > 1e-3
    assert np.mean([each.statistic / each.freedom for each in found]) == pytest.approx(
        1.0, abs=0.15
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_matrix_is_found(kind):
    problem, M = make(kind)
    found = compare(problem, M, M + 1.0, np.random.default_rng(3), rounds=(200, 100))
    assert found.p < 1e-6


def test_noise_larger_than_declared_is_no_drift():
    problem, M = make("edges")
    loud = gbb.Problem(problem.graph, problem.arms, sigma=3.0, S=3.0)
    rng = np.random.default_rng(3)
    env = gbb.Environment(loud, M)
    before, _, _ = record_of(loud, env, rng, 60)
    recent, squares, count = record_of(loud, env, rng, 40)
    found = find_drift(problem, before.merge(recent), recent, squares=squares, count=count)
    assert found.p > 1e-3
    assert found.sigma == pytest.approx(3.0, rel=0.1)


def test_nothing_in_common_is_no_comparison():
    problem, _ = make("edges")
    recent = observe(problem, np.zeros(4, dtype=int), np.ones(12))
    assert find_drift(problem, recent, recent, squares=12.0, count=12) is None
    apart = observe(problem, np.ones(4, dtype=int), np.ones(12))
    assert find_drift(problem, recent.merge(apart), recent, squares=12.0, count=12) is None
