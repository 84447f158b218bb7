import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb.instances import absolute_normal, best_couple, with_linear_term, with_zeta
from strategies import arm_sets, matrices


def test_entries_are_absolute_normals():
    M = absolute_normal(600, seed=0)
    assert M.min() >= 0
    # |N(0, 1)| has mean sqrt(2 / pi) and second moment 1.
    assert M.mean() == pytest.approx(np.sqrt(2 / np.pi), abs=4 * 0.603 / 600)
    assert (M**2).mean() == pytest.approx(1.0, abs=4 * np.sqrt(2) / 600)


def test_same_seed_same_matrix():
    assert np.array_equal(absolute_normal(4, seed=3), absolute_normal(4, seed=3))
    assert not np.array_equal(absolute_normal(4, seed=3), absolute_normal(4, seed=4))


def test_scaling_to_a_frobenius_norm_changes_the_scale_only():
    plain, scaled = absolute_normal(4, seed=3), absolute_normal(4, seed=3, frobenius=10)
    assert np.linalg.norm(scaled) == pytest.approx(10, rel=1e-14)
    assert scaled == pytest.approx(plain * 10 / np.linalg.norm(plain), rel=1e-14)


def test_redrawing_gives_a_best_couple_of_two_arms():
    plain = [best_couple(absolute_normal(2, seed=seed)) for seed in range(60)]
    assert any(a == b for a, b in plain)
    redrawn = [
        best_couple(absolute_normal(2, seed=seed, distinct_couple=True)) for seed in range(60)
    ]
    assert all(a != b for a, b in redrawn)


@given(M=st.integers(1, 4).flatmap(matrices))
def test_best_couple_is_the_first_of_the_best(M):
    d = len(M)
    values = {(a, b): M[a, b] + M[b, a] for a in range(d) for b in range(d)}
    assert best_couple(M) == max(values, key=values.get)


@given(
    M=st.integers(2, 4).flatmap(lambda d: matrices(d, low=0.0)),
    zeta=st.integers(0, 10).map(lambda k: k / 10),
)
def test_zeta_sets_the_two_unwanted_rewards_and_nothing_else(M, zeta):
    before = M.copy()
    result = with_zeta(M, zeta)
    assert np.array_equal(M, before)
    a, b = best_couple(M)
    expected = zeta * 0.5 * (M[a, b] + M[b, a])
    assert result[a, a] == result[b, b] == pytest.approx(expected, rel=1e-15)
    rest = np.ones_like(M, dtype=bool)
    rest[a, a] = rest[b, b] = False
    assert np.array_equal(result[rest], M[rest])


def test_zeta_is_applied_after_the_scaling():
    M = absolute_normal(4, seed=1, frobenius=10, distinct_couple=True)
    settings = {"seed": 1, "frobenius": 10, "distinct_couple": True}
    assert np.array_equal(absolute_normal(4, **settings, zeta=0.1), with_zeta(M, 0.1))
    larger = with_zeta(M, 0.5)
    scaled = larger * 10 / np.linalg.norm(larger)
    assert absolute_normal(4, **settings, zeta=0.5) == pytest.approx(scaled, rel=1e-14)


@given(arms=arm_sets(), data=st.data())
def test_a_linear_term_becomes_a_bilinear_reward(arms, data):
    d = arms.shape[1]
    M = data.draw(matrices(d))
    w = data.draw(matrices(d))[0]
    bigger_arms, bigger_M = with_linear_term(arms, M, w)
    assert bigger_arms.shape == (len(arms), d + 1)
    assert bigger_M.shape == (d + 1, d + 1)
    for x, x_big in zip(arms, bigger_arms, strict=True):
        for y, y_big in zip(arms, bigger_arms, strict=True):
            assert x_big @ bigger_M @ y_big == pytest.approx(x @ M @ y + w @ x, abs=1e-13)


def test_a_linear_term_counts_once_per_edge_of_an_agent():
    arms, M, w = np.array([[1.0], [2.0]]), [[3.0]], [5.0]
    X, bigger = with_linear_term(arms, M, w)
    env = gbb.Environment(gbb.Problem(gbb.Graph.star(3), X), bigger)
    # The centre plays 2 and has two edges, the leaves play 1 and have one each.
    bilinear = naive.expected_reward(arms, np.array(M), env.problem.graph.edges, [1, 0, 0])
    assert env.expected_reward([1, 0, 0]) == bilinear + 5 * (2 * 2 + 1 + 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: absolute_normal(0), "`d` to be a whole number >= 1, but got 0"),
        (lambda: absolute_normal(1, distinct_couple=True), "`d` to be a whole number >= 2"),
        (lambda: absolute_normal(2, frobenius=0), "`frobenius` to be a finite number > 0"),
        (lambda: absolute_normal(2, zeta=1.5), r"`zeta` to be a finite number >= 0 and <= 1"),
        (lambda: with_zeta(np.ones((1, 3)), 0.5), r"`M` to be square, but got shape \(1, 3\)"),
        (lambda: with_zeta([1.0], 0.5), "`M` to have 2 dimensions"),
        (lambda: with_linear_term(np.eye(2), np.eye(3), [1, 1]), r"`M` to have shape \(2, 2\)"),
        (lambda: with_linear_term(np.eye(2), np.eye(2), [1]), r"`w` to have shape \(2,\)"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(gbb.InputError, match=message):
        call()
