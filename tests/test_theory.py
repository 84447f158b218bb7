import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gbb
import naive
from gbb.optimum import solve
from gbb.theory import (
    check_assumptions,
    critical_covariance_bound,
    critical_covariance_count,
    regret_bound,
    report,
)
from strategies import arm_sets, environments, graphs, matrices, trees

ROUNDING = 1e-9


def report_of(env, **options):
    return report(env, cut=gbb.cuts.greedy(env.problem.graph), **options)


def uneven_environment(seed):
    """Dense graphs whose parts differ, and arms of which some pay nothing with themselves."""
    rng = np.random.default_rng(seed)
    graph = gbb.Graph.random(int(rng.integers(3, 6)), p=0.9, seed=seed)
    M = np.abs(rng.normal(size=(3, 3)))
    M[np.diag_indices(3)] *= rng.integers(0, 2, size=3)
    arms = np.eye(3) if seed % 2 else np.abs(rng.normal(size=(4, 3)))
    return gbb.Environment(gbb.Problem(graph, arms, S=float(np.linalg.norm(M))), M)


@given(env=environments(nonnegative=True))
def test_the_report_is_the_papers_formulas_in_loops(env):
    check_report(env)


def test_the_report_is_the_papers_formulas_in_loops_where_counting_unwanted_edges_gains():
    gains, orders = 0, 0
    for seed in range(60):
        env = uneven_environment(seed)
        found = check_report(env)
        check_ranges(env, found)
        over_cut = naive.over_cut(env.problem.arms, env.M_star, found.cut.weights)
        a, b = found.best_couple
        gains += found.epsilon > 1e-3
        orders += over_cut[a, b] < over_cut[b, a] - 1e-3
    assert gains >= 10
    assert orders >= 10


def check_report(env):
    problem, edges = env.problem, env.problem.graph.edges
    found = report_of(env)
    best = naive.best_value(problem.arms, env.M_star, edges, problem.n)
    gamma = naive.gamma(problem.arms, env.M_star, edges, best)
    counts = naive.edge_counts(edges, found.cut.sides)
    assert found.optimum.value == pytest.approx(best, rel=1e-12)
    assert found.gamma == pytest.approx(gamma, rel=ROUNDING, abs=1e-12)
    couples = naive.best_couples(problem.arms, env.M_star)
    assert found.best_couple in couples
    Delta = naive.Delta(problem.arms, env.M_star, counts, found.best_couple)
    swapped = naive.Delta(problem.arms, env.M_star, counts, found.best_couple[::-1])
    assert found.Delta == pytest.approx(max(Delta, swapped), abs=ROUNDING)
    over_cut = naive.over_cut(problem.arms, env.M_star, counts)
    assert over_cut[found.best_couple_over_cut] == pytest.approx(over_cut.max(), rel=1e-12)
    assert found.epsilon == pytest.approx(found.Delta / best, rel=ROUNDING)
    assert found.alpha_1 == pytest.approx(naive.alpha_1(gamma), rel=ROUNDING)
    alpha_2 = naive.alpha_2(gamma, found.epsilon, counts)
    assert found.alpha_2 == pytest.approx(alpha_2, rel=ROUNDING)
    rho = (counts[0] + counts[1]) / len(edges)
    assert found.alpha_1_sharp == pytest.approx(rho + (1 - rho) * gamma, rel=ROUNDING)
    return found


@given(env=environments(nonnegative=True))
def test_the_parameters_lie_where_the_theorems_say(env):
    check_ranges(env, report_of(env))


def check_ranges(env, found):
    assert -ROUNDING <= found.gamma <= 1 + ROUNDING
    assert found.Delta >= 0
    assert 0 <= found.epsilon <= 0.5 + ROUNDING
    assert found.alpha_2 >= 0.5 - ROUNDING
    assert found.alpha_1_sharp >= found.alpha_1 - ROUNDING
    assert found.alpha_2 >= found.alpha_1_sharp - ROUNDING
    # What Theorem 4.1 promises cannot exceed what the best couple over the cut really pays.
    couple = env.expected_reward(found.cut.allocation(found.best_couple_over_cut))
    assert found.alpha_2 <= couple / found.optimum.value + ROUNDING


@given(graph=trees(), arms=arm_sets(low=0.0), data=st.data())
def test_a_bipartite_graph_in_greedy_order_loses_nothing(graph, arms, data):
    M = data.draw(matrices(arms.shape[1], low=0.0))
    env = gbb.Environment(gbb.Problem(graph, arms), M)
    assume(env.reward_table.max() > 0)
    found = report_of(env)
    assert found.cut.uncut == 0
    assert found.alpha_2 == pytest.approx(1.0, abs=ROUNDING)
    assert found.alpha_1_sharp == 1.0
    assert found.epsilon == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.parametrize("family", ["star", "matching", "path"])
def test_the_papers_bipartite_families_lose_nothing(family):
    problem = gbb.Problem(gbb.Graph.family(family, 100), np.eye(4))
    env = gbb.Environment(problem, gbb.instances.absolute_normal(4, seed=0))
    assert report_of(env).alpha_2 == pytest.approx(1.0, abs=1e-12)


def test_the_papers_figure_1_as_zeta_grows():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(10))
    gamma, epsilon, alpha_2 = np.zeros((3, 20, 5))
    for k in range(20):
        M = gbb.instances.absolute_normal(10, seed=k, distinct_couple=True)
        for j, zeta in enumerate(np.linspace(0, 1, 5)):
            found = report_of(gbb.Environment(problem, gbb.instances.with_zeta(M, zeta)))
            gamma[k, j], epsilon[k, j], alpha_2[k, j] = found.gamma, found.epsilon, found.alpha_2
    assert (gamma[:, 0] == 0).all()
    # At zeta = 0 two fifths of the edges pay nothing, and alpha_2 = 0.6 + epsilon.
    assert alpha_2[:, 0] == pytest.approx(0.6 + epsilon[:, 0])
    assert 0.15 < epsilon[:, 0].mean() < 0.3
    assert (np.diff(epsilon.mean(axis=0)) < 0).all()
    # At zeta = 1 the couple's own edges pay as much as the couple, so nothing is left to gain.
    assert epsilon[:, -1] == pytest.approx(np.zeros(20), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_the_last_line_of_the_proof(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    arms = rng.normal(size=(4, d)) * rng.choice([0.3, 1.0, 2.0])
    settings = {"lam": float(rng.uniform(0.1, 3)), "delta": float(rng.uniform(1e-4, 1))}
    problem = gbb.Problem(
        gbb.Graph.random(6, p=0.8, seed=seed),
        arms,
        sigma=float(rng.uniform(0, 2)),
        S=float(rng.uniform(0.1, 5)),
    )
    T = int(rng.integers(100, 100_000))
    expected = naive.regret_bound(
        sigma=problem.sigma, S=problem.S, L=problem.L, d=d, m=problem.m, T=T, **settings
    )
    assert regret_bound(problem, T, **settings) == pytest.approx(expected, rel=1e-12)
    env = gbb.Environment(problem, np.eye(d))
    signed = bool(env.reward_table.min() < 0)
    expected += (
        signed
        * problem.L
        * problem.S
        * problem.m
        * critical_covariance_bound(problem, T, **settings)
    )
    assert report_of(env, **settings).regret_bound(T) == pytest.approx(expected, rel=1e-12)


def test_the_bound_by_hand():
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2), sigma=0.0, S=3.0)
    # m = 2, d^2 = 4, L = 1, (LS)^2 = 9, radius sqrt(4) * 3 = 6, T m L^2 / lam = 4.
    learning = np.sqrt(32 * 8 * 2 * 4 * 9 * np.log(2)) * 6
    # ceil(4 log2(4 / 0.5)) = 12 rounds of parallel cost.
    assert regret_bound(problem, 8, lam=4.0, delta=0.5) == pytest.approx(learning + 3 * 2 * 12)


@given(
    graph=graphs(max_n=4),
    arms=arm_sets(max_K=3, max_d=2),
    lam=st.sampled_from([0.1, 1.0, 5.0]),
    seed=st.integers(0, 999),
    rounds=st.integers(1, 8),
)
def test_the_critical_covariance_count_edge_by_edge(graph, arms, lam, seed, rounds):
    problem = gbb.Problem(graph, arms)
    allocations = np.random.default_rng(seed).integers(problem.K, size=(rounds, problem.n))
    count = critical_covariance_count(problem, allocations, lam=lam)
    assert count == naive.critical_covariance_count(arms, graph.edges, allocations, lam)
    assert count <= critical_covariance_bound(problem, rounds, lam=lam, delta=1.0)


def test_the_critical_covariance_breaks_early_and_not_late():
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(2))
    allocations = np.tile([0, 0, 0, 0], (6, 1))
    # Round 1 takes the weight of z_00 from 1 to 13, round 2 to 25 < 2 * 13.
    assert critical_covariance_count(problem, allocations) == 1
    assert critical_covariance_count(problem, allocations, lam=12.0) == 0
    both = np.vstack([allocations, np.tile([1, 1, 1, 1], (2, 1))])
    assert critical_covariance_count(problem, both) == 2


def test_a_report_without_positive_rewards_has_no_alphas():
    env = gbb.Environment(gbb.Problem(gbb.Graph.circle(3), np.eye(2)), -np.eye(2) - 1)
    found = report_of(env)
    assert found.optimum.value < 0
    for value in (found.gamma, found.epsilon, found.alpha_1, found.alpha_1_sharp, found.alpha_2):
        assert np.isnan(value)


def test_a_known_optimum_is_used():
    env = gbb.Environment(gbb.Problem(gbb.Graph.circle(5), np.eye(2)), np.ones((2, 2)))
    best = solve(env.problem, env.M_star)
    assert report_of(env, optimum=best).optimum is best


class TestAssumptions:
    def environment(self, M, **options):
        return gbb.Environment(gbb.Problem(gbb.Graph.circle(3), np.eye(2) * 2, **options), M)

    def test_all_hold(self):
        checks = check_assumptions(self.environment(np.ones((2, 2)), S=2.0))
        assert [check.holds for check in checks] == [True] * 4
        assert [check.value for check in checks] == pytest.approx([4, 2, 4, 4])
        assert [check.limit for check in checks] == pytest.approx([4, 2, 0, 8])

    def test_each_failure_has_its_numbers(self):
        env = self.environment([[-1.0, 0.0], [0.0, 5.0]], S=2.0)
        norms, frobenius, lowest, highest = report_of(env).assumptions
        assert norms.holds
        assert (frobenius.holds, frobenius.limit) == (False, 2.0)
        assert frobenius.value == pytest.approx(np.sqrt(26))
        assert (lowest.holds, lowest.value, lowest.limit) == (False, -4.0, 0.0)
        assert (highest.holds, highest.value, highest.limit) == (False, 20.0, 8.0)
        assert "Frobenius" in frobenius.rule


PROBLEM = gbb.Problem(gbb.Graph.circle(3), np.eye(2))


@pytest.mark.parametrize("bound", [regret_bound, critical_covariance_bound])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"T": 0}, "`T` to be a whole number >= 1, but got 0"),
        ({"T": 5, "lam": 0}, "`lam` to be a finite number > 0"),
        ({"T": 5, "delta": 2}, r"`delta` to be a finite number > 0 and <= 1, but got 2\.0"),
    ],
)
def test_bad_settings_of_the_bounds_are_refused(bound, options, message):
    with pytest.raises(gbb.InputError, match=message):
        bound(PROBLEM, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: report(
                gbb.Environment(PROBLEM, np.eye(2)), cut=gbb.cuts.greedy(gbb.Graph.star(5))
            ),
            "`cut` to cut the problem's graph",
        ),
        (
            lambda: critical_covariance_count(PROBLEM, [[0, 1]]),
            r"`allocations` to have shape \(T, 3\), an allocation a round, but got \(1, 2\)",
        ),
        (
            lambda: critical_covariance_count(PROBLEM, [[0, 1, 2]]),
            "`allocation` to hold numbers from 0 to 1, but got 2",
        ),
        (lambda: critical_covariance_count(PROBLEM, [[0, 1, 1]], lam=0), "`lam` to be a finite"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(gbb.InputError, match=message):
        call()
