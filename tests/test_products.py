"""Product distributions over a cut: alpha_3, its proof step by step, and what derandomising gives."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gbb
from gbb.pairwise import quadratic
from gbb.theory import Product, best_product, derandomise, report
from strategies import environments

ROUNDING = 1e-9


def value_of(env, cut, p, q):
    """The expected reward edge by edge, every agent with a distribution of its own."""
    shares = np.where(cut.sides[:, None] == 0, p, q)
    R = env.reward_table
    return sum(float(shares[i] @ R @ shares[j]) for i, j in env.problem.graph.edges)


def grid(K, steps):
    """All distributions over K arms in multiples of 1 / steps."""
    places = itertools.combinations(range(steps + K - 1), K - 1)
    cuts = np.array(list(places)).reshape(-1, K - 1)
    edges = np.pad(cuts, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, steps + K - 1)))
    return (np.diff(edges, axis=1) - 1) / steps


def dense(seed, K=3, n=5, p=1.0):
    """An instance as those of the paper's Figure 2: a dense graph whose arms shun themselves."""
    M = gbb.instances.absolute_normal(K, seed=seed, zeta=0.0, distinct_couple=True)
    graph = gbb.Graph.random(n, p=p, seed=seed)
    return gbb.Environment(gbb.Problem(graph, np.eye(K), S=float(np.linalg.norm(M))), M)


@given(env=environments(), data=st.data())
def test_no_product_distribution_pays_more_than_the_best(env, data):
    cut = gbb.cuts.greedy(env.problem.graph)
    found, K = best_product(env, cut), env.problem.K
    scale = 1 + np.abs(env.reward_table).max() * env.problem.m
    assert found.proven
    assert found.value == pytest.approx(value_of(env, cut, found.p, found.q), abs=ROUNDING * scale)
    for shares in (found.p, found.q):
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1.0)
    shares = hnp.arrays(np.float64, K, elements=st.floats(0.01, 1.0))
    p, q = (each / each.sum() for each in (data.draw(shares), data.draw(shares)))
    assert value_of(env, cut, p, q) <= found.value + ROUNDING * scale


@pytest.mark.parametrize("seed", range(5))
def test_a_fine_grid_comes_close_and_never_above(seed):
    env = dense(seed)
    cut = gbb.cuts.greedy(env.problem.graph)
    found, points, R = best_product(env, cut), grid(3, 20), env.reward_table
    inside = np.einsum("pa,ab,pb->p", points, R, points)
    across = points @ R @ points.T
    values = cut.m12 * across + cut.m21 * across.T
    values += cut.m1 * inside[:, None] + cut.m2 * inside
    # A sample of 20 draws from p and q is a point of the grid, and loses a 20th of the inside.
    assert (1 - 1 / 20) * found.value <= values.max() <= found.value + ROUNDING


@given(env=environments())
def test_alpha_3_is_never_below_alpha_2_and_never_above_1(env):
    found = report(env, cut=gbb.cuts.greedy(env.problem.graph))
    assume(found.optimum.value > 0.1)
    couple = env.expected_reward(found.cut.allocation(found.best_couple_over_cut))
    assert found.product.value >= couple - ROUNDING
    assert found.alpha_3 >= found.alpha_2 - ROUNDING
    assert found.alpha_3 <= 1 + ROUNDING


@given(env=environments(max_n=7), scale=st.sampled_from([1e-6, 1.0, 1e8]), data=st.data())
def test_derandomising_never_pays_less(env, scale, data):
    problem = gbb.Problem(env.problem.graph, env.problem.arms, S=env.problem.S * scale)
    env = gbb.Environment(problem, env.M_star * scale)
    cut, K = gbb.cuts.greedy(env.problem.graph), env.problem.K
    shares = hnp.arrays(np.float64, K, elements=st.floats(0.01, 1.0))
    p, q = (each / each.sum() for each in (data.draw(shares), data.draw(shares)))
    best = best_product(env, cut)
    for product in (Product(p, q, value_of(env, cut, p, q), False), best):
        paid = env.expected_reward(derandomise(env, cut, product))
        assert paid >= product.value - ROUNDING * scale * env.problem.m


def test_the_best_product_pays_more_than_the_best_couple_on_dense_graphs_of_three_arms():
    """By 1 to 6 % on average; docs/theory.md has more graphs."""
    gains = []
    for seed in range(40):
        env = dense(seed, n=6, p=0.9)
        found = report(env, cut=gbb.cuts.greedy(env.problem.graph))
        couple = env.expected_reward(found.cut.allocation(found.best_couple_over_cut))
        gains.append(found.product.value / couple - 1.0)
    assert min(gains) >= -ROUNDING
    assert 0.01 < np.mean(gains) < 0.06
    assert max(gains) > 0.08


@pytest.mark.parametrize(
    "where", ["gbb.pairwise.quadratic.MAX_SUPPORTS", "gbb.theory._products.MAX_SUPPORTS"]
)
def test_beyond_the_supports_that_are_looked_at_it_is_a_lower_bound(monkeypatch, where):
    env = dense(3, K=7)
    cut = gbb.cuts.greedy(env.problem.graph)
    whole = best_product(env, cut)
    monkeypatch.setattr(where, 40)  # there are 49 couples
    partly = best_product(env, cut)
    assert whole.proven
    assert not partly.proven
    couple = env.expected_reward(cut.allocation(report(env, cut=cut).best_couple_over_cut))
    assert couple <= partly.value <= whole.value + ROUNDING
    assert partly.value == pytest.approx(value_of(env, cut, partly.p, partly.q))


@pytest.mark.parametrize("seed", range(20))
def test_climbing_ends_where_no_move_gains(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 8)) * 10.0 ** rng.integers(-6, 8)
    A = A + A.T
    start = np.r_[rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))]
    end = quadratic.climb_shares(A, start, 2)
    assert end @ A @ end >= start @ A @ start
    assert end.min() >= 0
    assert end.reshape(2, 4).sum(axis=1) == pytest.approx([1.0, 1.0])
    best = quadratic.find_supports(A, 2)[0][0][0]
    size = np.abs(A).max()
    assert end @ A @ end <= best + 1e-9 * size
    for g, (a, b) in itertools.product(range(2), itertools.permutations(range(4), 2)):
        step = min(1e-4, end[4 * g + a])
        moved = end.copy()
        moved[[4 * g + a, 4 * g + b]] += [-step, step]
        assert moved @ A @ moved <= end @ A @ end + 1e-9 * size


@pytest.mark.parametrize("seed", range(8))
def test_tables_that_are_level_but_for_rounding_have_a_best_product(seed):
    rng = np.random.default_rng(seed)
    arms = np.vstack([np.tile(rng.normal(size=2), (3, 1)) * (1 + 1e-16), rng.normal(size=2)])
    M = rng.normal(size=(2, 2)) / 3
    problem = gbb.Problem(gbb.Graph.complete(5), arms, S=9.0)
    env = gbb.Environment(problem, M * (1 + rng.normal() * 1e-15))
    found = report(env, cut=gbb.cuts.greedy(problem.graph))
    couple = env.expected_reward(found.cut.allocation(found.best_couple_over_cut))
    assert found.product.proven
    assert found.product.value >= couple - ROUNDING
    level = np.full((6, 6), 0.1) * (1 + 1e-16 * rng.normal(size=(6, 6)))
    assert quadratic.find_supports(level + level.T, 2)[0][0][0] == pytest.approx(0.8)


def test_what_is_not_the_papers_problem_is_refused():
    graph = gbb.Graph.circle(4)
    problem = gbb.Problem(graph, np.eye(2), edge_weights=np.arange(graph.m) + 1.0)
    env = gbb.Environment(problem, np.eye(2))
    with pytest.raises(gbb.InputError, match="`env` to be of the paper's problem"):
        best_product(env, gbb.cuts.greedy(graph))
    env = gbb.Environment(gbb.Problem(graph, np.eye(2)), np.eye(2))
    with pytest.raises(gbb.InputError, match="`cut` to cut the problem's graph"):
        derandomise(
            env, gbb.cuts.greedy(gbb.Graph.star(5)), best_product(env, gbb.cuts.greedy(graph))
        )
