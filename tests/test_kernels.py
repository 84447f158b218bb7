"""Compiled loops against slow, obvious twins.

`make test` runs this file twice: compiled, and with numba switched off (NUMBA_DISABLE_JIT=1), so that
the same source is checked as plain Python and its coverage can be seen.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
from gbb._kernels.couples.many_arms import drift, evaluate
from gbb._kernels.index.independent import log_of_product
from gbb._kernels.index.play import count_edges
from gbb._kernels.index.search import play_tuple
from gbb._kernels.index.search_counts import count_arms, count_tuple, improve_counts
from gbb._kernels.index.search_linear import (
    fill_pay,
    gains_of_arms,
    gains_of_tuple,
    improve_linear,
    value_of,
)
from gbb._kernels.random_play import Network, Tally, play_random
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.learning.factor import factor
from gbb.policies._compiled import compile_policy
from gbb.policies.baselines import draw_arms
from gbb.simulation.engine import couples
from gbb.simulation.engine.couples import ManyArmsForm, lay_out
from indices import objective_of
from inner_kernels import from_python
from searches import searches_of
from test_engine import ARMS, GRAPHS, check_estimates, make_env, played_out, replayed, unit_arms

improve_counts, count_arms, count_tuple = map(
    from_python, (improve_counts, count_arms, count_tuple)
)
improve_linear, fill_pay, play_tuple = map(from_python, (improve_linear, fill_pay, play_tuple))
gains_of_arms, gains_of_tuple = map(from_python, (gains_of_arms, gains_of_tuple))
value_of, count_edges = map(from_python, (value_of, count_edges))


@pytest.mark.parametrize("spread", [1.0, 1e6])
def test_factor_is_ridge_regression(spread):
    rng = np.random.default_rng(1)
    features = rng.standard_normal((9, 4)) * np.geomspace(1, spread, 4)
    weight = np.where(rng.random(9) < 0.6, rng.integers(1, 50, 9), 0).astype(float)
    total = weight * rng.standard_normal(9)
    block = factor(features, weight, total, 0.7)
    R, qy, pivots, white = block.R, block.theta, block.pivots, block.whitened
    A = 0.7 * np.eye(4) + (features * weight[:, None]).T @ features
    P = np.eye(4)[:, pivots]
    np.testing.assert_allclose(P @ R.T @ R @ P.T, A, rtol=1e-9, atol=1e-9 * spread)
    H = features @ np.linalg.solve(A, features.T)
    scale = np.sqrt(np.outer(np.diag(H), np.diag(H)))
    np.testing.assert_allclose(white @ white.T / scale, H / scale, atol=1e-9)
    mean = features @ np.linalg.solve(A, features.T @ total)
    np.testing.assert_allclose(white @ qy, mean, rtol=1e-7, atol=1e-9)
    theta = np.linalg.solve(A, features.T @ total)
    np.testing.assert_allclose(block.solve(qy[None])[0], theta, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(block.whiten(features), white, rtol=1e-7, atol=1e-9)


def test_factor_of_nothing_is_the_prior():
    features = np.random.default_rng(0).standard_normal((5, 3))
    block = factor(features, np.zeros(5), np.zeros(5), 4.0)
    qy, white = block.theta, block.whitened
    np.testing.assert_allclose(white @ white.T, features @ features.T / 4.0, atol=1e-15)
    assert not qy.any()


def test_evaluate_is_a_quadratic_form():
    rng = np.random.default_rng(2)
    V = rng.standard_normal((4, 6))
    half = rng.standard_normal((4, 4))
    B, centre = half @ half.T, rng.standard_normal(4)
    mean, width2 = np.empty(6), np.empty(6)
    evaluate(V, B, centre, mean, width2, np.empty(6))
    np.testing.assert_allclose(mean, centre @ V, rtol=1e-12)
    np.testing.assert_allclose(width2, np.einsum("ib,ij,jb->b", V, B, V), rtol=1e-12)


def test_drift_bounds_how_far_means_move():
    rng = np.random.default_rng(3)
    for seed in range(30):
        env = make_env(GRAPHS["random"], unit_arms(6, 3, seed) * rng.uniform(0.1, 3.0, (6, 1)))
        policy = gbb.policies.ImprovedOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
        inverse, moved = rng.standard_normal((6, 6)), rng.standard_normal(6)
        coordinates = inverse @ moved
        pairs = symmetric_edge_arms(env.problem.arms) @ coordinates
        table = pairs.reshape(6, 6)
        w12, _, w1, w2 = policy.cut.weights
        own = np.diag(table)
        change = 2 * w12 * table + w1 * own[:, None] + w2 * own[None, :]
        bound = np.zeros(6)
        constants, arms = lay_out(env, compile_policy(policy)), np.array(env.problem.arms)
        drift(constants, arms, inverse, moved, bound, np.empty(6), np.empty((3, 3)))
        assert (bound >= np.abs(change).max(axis=1) * (1 - 1e-12)).all()
        assert (bound <= 40 * np.abs(change).max()).all()


def test_random_play_draws_and_counts_as_the_policies_do():
    graph = GRAPHS["random"]
    R = np.random.default_rng(0).random((3, 3))
    weights = np.array([0.2, 0.0, 0.8])
    noise = np.random.default_rng(1).standard_normal((8, graph.m))
    N, E = np.zeros((1, 3, 3), dtype=np.int64), np.zeros((1, 3, 3))
    rewards, arms = np.empty(8), np.empty((8, graph.n), dtype=np.int64)
    rng, twin = np.random.default_rng(2), np.random.default_rng(2)
    problem = gbb.Problem(graph, np.eye(3))
    play_random(
        Network(graph.indptr, graph.indices, problem.edge_types, problem.edge_weights),
        R[None],
        np.cumsum(weights)[None],
        noise,
        Tally(N, E),
        rewards,
        arms,
        rng,
    )
    count, total = np.zeros((3, 3), dtype=np.int64), np.zeros((3, 3))
    for t in range(8):
        drawn = draw_arms(weights, graph.n, twin)
        np.testing.assert_array_equal(arms[t], drawn)
        for k, (i, j) in enumerate(graph.edges):
            count[drawn[i], drawn[j]] += 1
            total[drawn[i], drawn[j]] += noise[t, k]
        assert rewards[t] == pytest.approx(sum(R[drawn[i], drawn[j]] for i, j in graph.edges))
    np.testing.assert_array_equal(N[0], count)
    np.testing.assert_allclose(E[0], total, rtol=1e-12)


@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("algorithm", ["OFUL", "ImprovedOFUL"])
def test_many_arms_are_chosen_as_the_reference_does(algorithm, radius, monkeypatch):
    monkeypatch.setattr(couples, "choose_form", lambda _: ManyArmsForm)
    for graph in ("complete", "star"):
        env = make_env(GRAPHS[graph], ARMS["one-hot"])
        cut = gbb.cuts.greedy(env.problem.graph)
        policy = gbb.policies.build(algorithm, env.problem, cut=cut, radius=radius)
        plain, fast = replayed(env, policy, 40, seed=6)
        np.testing.assert_array_equal(fast.couple, plain.couple)


@pytest.mark.filterwarnings(
    "ignore:overflow encountered in scalar"
)  # the generator's, if not compiled
@pytest.mark.parametrize("radius", ["paper", "symmetric"])
@pytest.mark.parametrize("arms", ["one-hot", "general"])
@pytest.mark.parametrize("algorithm", ["OFUL", "ImprovedOFUL"])
def test_batches_choose_as_the_reference_and_as_single_runs(algorithm, arms, radius):
    env = make_env(GRAPHS["complete"], ARMS[arms])
    cut = gbb.cuts.greedy(env.problem.graph)
    policy = gbb.policies.build(algorithm, env.problem, cut=cut, radius=radius)
    settings = {"rounds": 15, "workers": 1, "seed": 6}
    plain = gbb.simulate(env, policy, runs=4, method="reference", **settings)
    for runs in (1, 4):
        fast = gbb.simulate(env, policy, runs=runs, edge_noise=True, **settings)
        np.testing.assert_array_equal(fast.couple, plain.couple[:, :runs])
    one, four = (gbb.simulate(env, policy, runs=runs, **settings) for runs in (1, 4))
    np.testing.assert_array_equal(one.couple, four.couple[:, :1])


# Unsigned sums of random bits wrap, of which numpy warns if kernels are not compiled.
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_worn_estimates_are_factorised_anew():
    """A star of many agents shrinks a width beyond the limit in one round."""
    env = make_env(gbb.Graph.star(200_001), unit_arms(3, 2, 0))
    policy = gbb.policies.OFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    for rounds in (1, 2, 12):
        check_estimates(played_out(env, policy, rounds), policy.lam)


def test_typed_choice_is_the_best_of_all_allocations_on_a_link():
    """Two agents and two arms: tuples over the two parts are all allocations there are."""
    rng = np.random.default_rng(1)
    graph = gbb.Graph.path(2)
    problem = gbb.Problem(graph, rng.standard_normal((2, 2)), edge_types=[0, 1], feedback="agent")
    policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(graph), radius="complete")
    env = gbb.Environment(problem, rng.standard_normal((2, 2, 2)))
    state = policy.init()
    for _ in range(5):
        choice = policy.select(state, rng)
        objective = objective_of(policy, state)
        totals = [
            objective.ridge.total(np.array(arms)) for arms in ((0, 0), (0, 1), (1, 0), (1, 1))
        ]
        best = max(mean + objective.radius * width for mean, width in totals)
        assert choice.value == pytest.approx(best)
        state = policy.update(state, choice, env.draw(1, choice.allocation, rng))


ALLOCATION_POLICIES = {
    "JointOFUL": {},
    "ThompsonSampling": {},
    "EpsilonGreedy": {"epsilon": 0.3},
    "KCutOFUL": {"k": 3},
}


@pytest.mark.parametrize("name", ALLOCATION_POLICIES)
@pytest.mark.parametrize("arms", ["one-hot", "general"])
def test_allocation_loops_choose_as_the_reference(arms, name):
    for graph in ("complete", "star"):
        env = make_env(GRAPHS[graph], ARMS["one-hot"] if arms == "one-hot" else unit_arms(4, 2, 1))
        cut = gbb.cuts.greedy(env.problem.graph)
        policy = gbb.policies.build(name, env.problem, cut=cut, **ALLOCATION_POLICIES[name])
        plain, fast = (
            gbb.simulate(env, policy, rounds=25, keep_allocations=True, **how)
            for how in ({"method": "reference"}, {"edge_noise": True})
        )
        np.testing.assert_array_equal(fast.allocation, plain.allocation)
        assert len(np.unique(plain.allocation.values.reshape(25, -1), axis=0)) > 1


def test_the_log_of_a_product_does_not_overflow():
    rng = np.random.default_rng(0)
    for size in (1, 3, 28):
        factors = 10.0 ** rng.uniform(0, 120, size + 2)
        assert log_of_product(factors, size) == pytest.approx(
            np.log(factors[:size]).sum(), rel=1e-14
        )


def searched_problems():
    """Problems with orthogonal arms: the paper's, types both ways, one way, weights, forbidden arms."""
    rng = np.random.default_rng(5)
    graph, K = GRAPHS["random"], 4
    either = rng.integers(0, 2, graph.m)
    both = np.where(graph.sources < graph.indices, either, either[graph.reverse])
    allowed = rng.random((graph.n, K)) < 0.6
    allowed[np.arange(graph.n), rng.integers(0, K, graph.n)] = True
    return {
        "paper": {},
        "types": {"edge_types": both},
        "one-way types": {"edge_types": either},
        "weights": {"edge_weights": rng.random(graph.m) * (rng.random(graph.m) < 0.7)},
        "forbidden": {"edge_types": either, "allowed": allowed},
    }


@pytest.mark.parametrize("radius", [0.0, 0.7])
@pytest.mark.parametrize("kind", searched_problems())
def test_a_climb_ends_where_no_agent_gains(kind, radius):
    """From every couple of a random graph: the value reached and every other arm against plain sums."""
    rng = np.random.default_rng(5)
    graph, K = GRAPHS["random"], 4
    problem = gbb.Problem(graph, np.eye(K), **searched_problems()[kind])
    cut = gbb.cuts.greedy(graph)
    policy = gbb.policies.JointOFUL(problem, cut=cut, starts=1)
    _, layout, tuples, linear, counts = searches_of(policy)
    index = layout.regressor
    count = index.max() + 1
    mean, var = rng.random((2, problem.types * count)) + 0.1
    fill_pay(layout, mean, linear.pay)
    for table, reverse in enumerate(counts.reverse):
        for b, a in np.ndindex(K, K):
            s = layout.one[table, b, a]
            counts.mean[table, b, a], counts.var[table, b, a] = mean[s], var[s]
            assert layout.one[reverse, a, b] == s
            counts.level[table, a] = var[layout.one[table, a, a]]

    def value(arms):
        played = index[arms[graph.sources], arms[graph.indices]]
        c = np.zeros(problem.types * count)
        np.add.at(c, problem.edge_types * count + played, problem.edge_weights)
        return c @ mean + radius * np.sqrt(c**2 @ var)

    moved, ends = 0, np.zeros((1, graph.n), dtype=np.int64)
    for couple in np.ndindex(K, K):
        start = tuples.allocation(couple[0] * K + couple[1])
        ends[0] = start
        if radius == 0.0:
            gains_of_arms(layout, linear, ends[0])
            reached = improve_linear(layout, linear, ends, 0, value(start), False, 0.0)
        else:
            count_arms(layout, counts, ends[0])
            reached = improve_counts(layout, counts, radius, ends, 0, False)
        end = ends[0].copy()
        if reached > -np.inf:
            moved += 1
            assert reached == pytest.approx(value(end), rel=1e-12)
            assert reached > value(start)
        for agent, arm in np.argwhere(problem.allowed):
            other = end.copy()
            other[agent] = arm
            assert value(other) <= value(end) * (1 + 1e-9)
        assert problem.allowed[np.arange(graph.n), end].all()
    assert moved > 3


@pytest.mark.parametrize("n", [150, 160])  # the last block of agents in part, and whole
@pytest.mark.parametrize("weighted", [False, True])
def test_agents_that_are_passed_over_would_have_stayed(weighted, n):
    """A search that looks at everyone, and counts plain links one by one, makes the same moves."""
    rng = np.random.default_rng(6)
    links = gbb.Graph.random(n - 1, p=0.04, seed=1)
    graph, K = gbb.Graph.from_edges(links.edges, n=n), 5  # the last agent has no neighbours
    weights = np.ones(graph.m)
    if weighted:
        weights = rng.uniform(-0.5, 2.0, graph.m)
        weights = np.where(graph.sources < graph.indices, weights, weights[graph.reverse])
    problem = gbb.Problem(graph, np.eye(K), edge_weights=weights)
    policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(graph), starts=1)
    _, layout, _, linear, counts = searches_of(policy)
    assert counts.reach > 0.0
    assert layout.plain is not weighted
    ends, chosen = np.zeros((1, graph.n), dtype=np.int64), np.zeros(2, dtype=np.int64)
    played = np.zeros_like(layout.part)
    entries, everyone, moved = layout._replace(plain=False), counts._replace(reach=0.0), 0
    for trial in range(12):
        mean, var = rng.normal(size=(K, K)), rng.random((K, K)) ** 3
        counts.mean[0, :, :K], counts.var[0, :, :K] = mean + mean.T, var + var.T
        counts.level[0, :K] = np.diag(var + var.T)
        linear.pay[0, :, :K] = mean + mean.T
        play_tuple(layout, trial, chosen, played)
        start = played[layout.group]
        for radius in (0.0, 0.3, 5.0, 60.0):
            found = []
            for how, on in ((entries, everyone), (layout, counts)):
                ends[0] = start
                if radius == 0.0:
                    gains_of_tuple(how, linear, played)
                    worth = value_of(linear.gains, ends[0])
                    looks = linear._replace(sparse=how is layout)
                    value = improve_linear(how, looks, ends, 0, worth, False, 0.0)
                else:
                    count_tuple(how, on, played)
                    value = improve_counts(how, on, radius, ends, 0, False)
                found.append((ends[0].copy(), value))
            (slow, slow_value), (fast, value) = found
            np.testing.assert_array_equal(slow, fast)
            assert value == slow_value
            moved += int((slow != start).sum())
    assert moved > 500


@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data())
def test_a_climb_without_optimism_makes_the_moves_of_a_plain_one(weighted, data):
    """All agents in turn, their pays summed anew at every visit, until nobody has moved."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n = data.draw(st.integers(12, 40) | st.sampled_from([63, 64, 65, 96]))
    K, least = data.draw(st.integers(2, 11) | st.just(40)), data.draw(st.sampled_from([0.0, 0.3]))
    graph = gbb.Graph.random(n, p=0.2, seed=1)
    weights = rng.uniform(-0.5, 2.0, graph.m) if weighted else np.ones(graph.m)
    weights = np.where(graph.sources < graph.indices, weights, weights[graph.reverse])
    allowed = rng.random((n, K)) < data.draw(st.sampled_from([0.6, 1.0]))
    allowed[np.arange(n), rng.integers(K, size=n)] = True
    problem = gbb.Problem(graph, np.eye(K), edge_weights=weights, allowed=allowed)
    policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(graph))
    _, layout, _, linear, _ = searches_of(policy)
    chosen, played = np.zeros(2, dtype=np.int64), np.zeros_like(layout.part)
    linear = linear._replace(sparse=data.draw(st.booleans()))
    R = rng.normal(size=(K, K))
    linear.pay[0, :, :K] = R + R.T
    play_tuple(layout, data.draw(st.integers(0, K * K - 1)), chosen, played)
    arms, moved = played[layout.group], True
    ends = arms[None].copy()
    while moved:
        moved = False
        for i in range(n):
            near = slice(graph.indptr[i], graph.indptr[i + 1])
            pays = weights[near] @ (R + R.T)[arms[graph.indices[near]]]
            pays = np.where(allowed[i], pays, -np.inf)
            best = int((pays >= pays.max() - least - 1e-12).argmax())  # the first that is as good
            beaten = pays.max() > pays[arms[i]] + least + 1e-12
            if beaten and 2.0 * (pays[best] - pays[arms[i]]) > least + 1e-9:
                arms[i], moved = best, True
    gains_of_tuple(layout, linear, played)
    worth = value_of(linear.gains, ends[0])
    improve_linear(layout, linear, ends, 0, worth, True, least)
    np.testing.assert_array_equal(ends[0], arms)


@pytest.mark.parametrize("passing", [False, True])
@pytest.mark.parametrize("radius", [0.0, 0.7])
def test_a_climb_that_joins_an_earlier_end_says_so(radius, passing):
    """From one agent off the end of another search, whether or not agents are passed over."""
    rng = np.random.default_rng(3)
    graph, K = gbb.Graph.random(96, p=0.05, seed=2), 4
    problem = gbb.Problem(graph, np.eye(K))
    policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(graph), starts=2)
    _, layout, _, linear, counts = searches_of(policy)
    mean, var = rng.random((2, K, K)) + 0.1
    counts.mean[0, :, :K], counts.var[0, :, :K] = mean + mean.T, var + var.T
    counts.level[0, :K], linear.pay[0, :, :K] = np.diag(var + var.T), mean + mean.T
    linear = linear._replace(sparse=passing)
    counts = counts if passing else counts._replace(reach=0.0)
    ends = np.zeros((2, graph.n), dtype=np.int64)
    ends[0] = rng.integers(0, K, graph.n)

    def ascend(found, fresh):
        if radius == 0.0:
            gains_of_arms(layout, linear, ends[found])
            worth = value_of(linear.gains, ends[found])
            return improve_linear(layout, linear, ends, found, worth, fresh, 0.0)
        count_arms(layout, counts, ends[found])
        return improve_counts(layout, counts, radius, ends, found, fresh)

    assert ascend(0, True) > -np.inf
    joined = 0
    for agent in range(graph.n):
        ends[1] = ends[0]
        ends[1, agent] = (ends[0, agent] + 1) % K
        reached = ascend(1, True)
        same = bool((ends[1] == ends[0]).all())
        assert (reached == -np.inf) is same
        joined += same
    assert joined > graph.n // 2


@given(seed=st.integers(0, 10**6), ways=st.sampled_from(["edge", "link"]))
def test_edges_are_counted_by_their_links(seed, ways):
    """Whatever the order in which the graph was told of them."""
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(2, 12)), int(rng.integers(2, 8))
    ends = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6 or j == 0])
    told = rng.permutation(np.concatenate([ends, ends[:, ::-1]]))
    problem = gbb.Problem(gbb.Graph.from_edges(told, n=n), np.eye(K), feedback=ways)
    policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(problem.graph))
    layout = searches_of(policy).layout
    assert layout.plain_edges
    arms, N = rng.integers(0, K, n), np.zeros((K, K))
    np.add.at(N, (arms[problem.graph.sources], arms[problem.graph.indices]), layout.ways)
    new_N, touched = np.zeros((1, K, K)), np.zeros(K * K, dtype=np.int64)
    count = count_edges(layout, arms, new_N, touched)
    np.testing.assert_array_equal(new_N[0], N)
    assert sorted(touched[:count]) == np.flatnonzero(N).tolist()
