"""What runs are measured by: optima that are wrong are not silent, and shares of nothing are none."""

import time
import warnings

import numba
import numpy as np
import pytest

import gbb
from gbb._support.budget import Budget
from gbb.environment import BoundWarning
from gbb.optimum import Optimum, solve
from gbb.policies import FixedAllocation, ImprovedOFUL, UniformRandom

GRAPH = gbb.Graph.complete(4)
PROBLEM = gbb.Problem(GRAPH, np.eye(3), S=4.0)
ENV = gbb.Environment(PROBLEM, np.diag([1.0, 2.0, 3.0]))


def test_compiling_does_not_spend_a_time_limit():
    budget = Budget(0.5)

    @numba.njit
    def slow(x):
        total = 0.0
        for i in range(10):
            total += np.linalg.norm(np.sin(x) * i)
        return total

    start = time.perf_counter()
    slow(np.ones(3))
    took = time.perf_counter() - start
    assert took > 0.2  # or this tests nothing
    assert budget.elapsed < took / 2
    before = budget.elapsed
    time.sleep(0.05)
    assert budget.elapsed - before >= 0.049


def unproven(arm, *, proven=False):
    value = ENV.expected_reward([arm] * 4)
    return Optimum(np.full(4, arm), value, 100.0, proven, "guess")


def test_what_is_played_raises_an_optimum_that_was_not_proven():
    policies = [
        FixedAllocation(PROBLEM, allocation=[2] * 4),
        ImprovedOFUL(PROBLEM, cut=gbb.cuts.greedy(GRAPH)),
    ]
    with pytest.warns(
        UserWarning, match=r"earned 36 a round where .* pays 24; the optimum is raised"
    ):
        found = gbb.simulate(ENV, policies, rounds=5, optimum=unproven(1))
    known = gbb.simulate(ENV, policies, rounds=5, optimum=solve(PROBLEM, ENV.M_star))
    assert found.attrs["optimum"] == 36.0
    assert found.attrs["optimum_proven"] == 0
    for name in ("fraction", "regret", "alpha_regret", "alpha"):
        assert np.array_equal(found[name], known[name]), name
    assert float(found["fraction"].max()) <= 1.0


def test_rounds_that_are_not_recorded_raise_it_too():
    class Improves(FixedAllocation):
        """The best for nine rounds, the worst in the tenth."""

        def init(self):
            return 0

        def update(self, state, choice, rewards):  # noqa: ARG002
            return state + 1

        def select(self, state, rng):  # noqa: ARG002
            return gbb.policies.Choice(np.full(4, 0 if state % 10 == 9 else 2))

    policy = Improves(PROBLEM, allocation=[2] * 4)
    with pytest.warns(UserWarning, match="the optimum is raised to what was earned"):
        found = gbb.simulate(
            ENV, policy, rounds=20, record=[10, 20], optimum=unproven(1), method="reference"
        )
    assert float(found["expected_reward"].max()) < 24 < found.attrs["optimum"]


def test_a_proven_optimum_that_is_exceeded_is_an_error():
    policy = FixedAllocation(PROBLEM, allocation=[2] * 4)
    with pytest.raises(gbb.InputError, match=r"`optimum` to be .*, but got 24 where .* earned 36"):
        gbb.simulate(ENV, policy, rounds=5, optimum=unproven(1, proven=True))


def test_rounding_of_large_sums_exceeds_no_optimum():
    """Arms of very different norms lose 10^8 in one round, and the best pays 7."""
    problem = gbb.Problem(GRAPH, [[1.0, 0.0], [0.0, 1e4]], feedback="agent")
    env = gbb.Environment(problem, [[0.61, -0.76], [0.12, -0.17]])
    policy = gbb.policies.EpsilonGreedy(problem, cut=gbb.cuts.greedy(GRAPH), epsilon=0.3)
    for how in ({"method": "reference"}, {"edge_noise": True}):
        found = gbb.simulate(env, policy, rounds=80, seed=0, workers=1, **how)
        assert float(found.fraction.max()) == pytest.approx(1.0)


@pytest.mark.parametrize("M", [-np.ones((3, 3)), np.zeros((3, 3))])
def test_there_are_no_fractions_of_an_optimum_that_is_not_positive(M):
    found = gbb.simulate(gbb.Environment(PROBLEM, M), UniformRandom(PROBLEM), rounds=5)
    assert np.isnan(found["fraction"]).all()
    assert np.isfinite(found["regret"]).all()


def test_a_matrix_beyond_the_bound_that_the_learner_has_is_said():
    with pytest.warns(
        BoundWarning, match=r"hidden matrix has the Frobenius norm 5, more than `S` = 4"
    ):
        gbb.Environment(PROBLEM, 5.0 * np.eye(3) / np.sqrt(3.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gbb.Environment(PROBLEM, 4.0 * np.eye(3) / np.sqrt(3.0))
    typed = gbb.Problem(GRAPH, np.eye(3), S=4.0, edge_types="source")
    matrices = np.stack([np.eye(3)] * 4)
    gbb.Environment(typed, matrices)
    matrices[2] *= 3.0
    with pytest.warns(BoundWarning, match=r"norm 5\.19615"):
        gbb.Environment(typed, matrices)


def test_a_random_matrix_has_no_norm_above_the_one_asked_for():
    below = 0
    for seed in range(40):
        for zeta in (0.0, 0.5, 1.0):
            M = gbb.instances.absolute_normal(
                3, seed=seed, frobenius=4.0, zeta=zeta, distinct_couple=True
            )
            norm = np.linalg.norm(M)
            assert norm <= 4.0 * (1 + 1e-15)
            below += norm < 3.99
            a, b = gbb.instances.best_couple(M)
            if a != b:
                assert M[a, a] == pytest.approx(zeta * (M[a, b] + M[b, a]) / 2)
    assert below  # it is not raised


def test_a_share_is_proven_where_the_optimum_is_not():
    """The bound is known beforehand: what is proven is less than the share of the best that is known."""
    problem = gbb.Problem(gbb.Graph.random(12, p=0.7, seed=1), np.eye(3), S=9.0)
    env = gbb.Environment(problem, gbb.instances.absolute_normal(3, seed=4, zeta=0.0))
    true = solve(problem, env.M_star)
    bound = solve(problem, env.M_star, method="sdp").upper_bound
    assert true.proven
    best = Optimum(true.allocation, true.value, 1.2 * bound, proven=False, method="guess")
    policies = [UniformRandom(problem), FixedAllocation(problem, allocation=true.allocation)]
    found = gbb.simulate(env, policies, rounds=40, runs=2, record=7, optimum=best)
    totals = 40 * true.value - found.regret.isel(round=-1).values
    assert found["round"].values[-1] == 40
    assert found.proven_fraction.values == pytest.approx(totals / (40 * best.upper_bound))
    assert (found.proven_fraction.values < totals / (40 * true.value)).all()
    whole = gbb.simulate(env, policies, rounds=40, runs=2, seed=0, optimum=true)
    assert whole.proven_fraction.values == pytest.approx(whole.fraction.mean("round").values)
    nothing = gbb.Environment(PROBLEM, -np.eye(3))
    played = gbb.simulate(nothing, UniformRandom(PROBLEM), rounds=3)
    assert np.isnan(played.proven_fraction).all()


def test_a_proven_share_counts_the_bound_of_every_round_with_contexts():
    problem = gbb.Problem(GRAPH, np.eye(2), S=4.0, contexts=gbb.contexts.Regimes(2))
    env = gbb.Environment(problem, [np.eye(2), 3 * np.eye(2)], contexts=[0, 1, 1, 0, 1])
    found = gbb.simulate(env, UniformRandom(problem), rounds=5, runs=2, seed=3)
    earned = found.expected_reward.sum("round").values
    assert found.proven_fraction.values == pytest.approx(earned / (12 * (1 + 3 + 3 + 1 + 3)))


def test_a_loss_is_no_smaller_share_of_the_optimum_than_is_proven():
    """Over the bound a loss would be less than it is; where nothing is earned, nothing is proven."""
    env = gbb.Environment(PROBLEM, np.diag([1.0, -2.0, -3.0]))
    true = solve(PROBLEM, env.M_star)
    loose = Optimum(true.allocation, true.value, 3.0 * true.value, proven=False, method="guess")
    worst = FixedAllocation(PROBLEM, allocation=np.full(PROBLEM.n, 2))
    best = FixedAllocation(PROBLEM, allocation=true.allocation, name="best")
    found = gbb.simulate(env, [worst, best], rounds=4, optimum=loose).proven_fraction.values
    share = env.expected_reward(np.full(PROBLEM.n, 2)) / true.value
    assert share < 0
    assert found[:, 0] == pytest.approx([share, 1 / 3])
    losing = gbb.Environment(PROBLEM, -np.eye(3))
    nothing = Optimum(true.allocation, -1.0 * PROBLEM.m, 5.0, proven=False, method="guess")
    assert np.isnan(gbb.simulate(losing, worst, rounds=4, optimum=nothing).proven_fraction).all()
