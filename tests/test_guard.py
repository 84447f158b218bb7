"""Thompson sampling behind a guard: what it plays, what it promises, and what it is told wrongly."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
import naive
from gbb.policies import GuardedThompson, JointOFUL, ThompsonSampling
from gbb.theory import guaranteed_alpha, regret_bound, regret_bound_sharp, report
from indices import objective_of
from strategies import environments, tenths
from test_allocation_policies import edges_of, index, instance, seen

GUARDS = st.one_of(
    st.builds(lambda beta: {"beta": beta}, tenths(0, 1)),
    st.builds(lambda c: {"c": c}, st.sampled_from([0.0, 0.5, 3.0])),
)


def slack_of(policy, rounds):
    """``1 - beta_t`` in the next round."""
    return 1.0 - policy.beta if policy.c is None else min(1.0, policy.c / np.sqrt(rounds + 1))


@given(env=environments(), rounds=st.integers(0, 12), guard=GUARDS, seed=st.integers(0, 9))
def test_what_is_drawn_is_played_if_it_is_optimistic_enough(env, rounds, guard, seed):
    check_choice(env, rounds, guard, seed)


@pytest.mark.parametrize("arms", [None, np.eye(4)], ids=["general", "one-hot"])
def test_some_draws_pass_and_others_are_stopped(arms):
    env = instance(gbb.Graph.complete(5), arms=arms)
    cases = itertools.product((1, 6, 40), ({"beta": 0.97}, {"beta": 0.7}, {"c": 1.0}), range(5))
    passed = [check_choice(env, *case) for case in cases]
    assert passed.count(True) > 2
    assert passed.count(False) > 2


def check_choice(env, rounds, guard, seed):
    """ThompsonSampling, then JointOFUL from the same generator, and the guard between them.

    Whether the draw passes; None where rounding decides.
    """
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    policy, state = GuardedThompson(problem, cut=cut, **guard), seen(env, rounds)
    slack, terms = slack_of(policy, rounds), index(policy, state)
    chosen = policy.select(state, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    drawn = ThompsonSampling(problem, cut=cut).select(state, rng)
    best = JointOFUL(problem, cut=cut, lam=policy.learner.prior(problem)[1]).select(state, rng)

    def value(arms):
        return naive.index_of(problem.arms, edges_of(problem), arms, **terms)

    floor, size = best.value - slack * abs(best.value), 1e-9 * (1.0 + abs(best.value))
    assert chosen.value == pytest.approx(value(chosen.allocation), rel=1e-8, abs=1e-9)
    assert chosen.value >= floor - size
    if slack == 0.0:
        assert chosen.value == pytest.approx(best.value, rel=1e-8, abs=1e-9)
    passes = None
    if abs(value(drawn.allocation) - floor) > size:
        passes = bool(value(drawn.allocation) > floor)
        np.testing.assert_array_equal(chosen.allocation, (drawn if passes else best).allocation)
        assert chosen.couple == (drawn if passes else best).couple
    if slack == 1.0 and best.value >= 0.0 and value(drawn.allocation) > size:
        np.testing.assert_array_equal(chosen.allocation, drawn.allocation)
    couples = itertools.product(range(problem.K), repeat=2)
    couple = max(value(cut.allocation(each)) for each in couples)  # all that the proof asks for
    assert chosen.value >= couple - slack * abs(couple) - size
    return passes


@given(env=environments(nonnegative=True), seed=st.integers(0, 99), guard=GUARDS)
def test_the_regret_stays_under_the_bound(env, seed, guard):
    """Theorem 4.1's, for the (beta alpha_2)-regret, or with what a guard that fades costs."""
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    policy = GuardedThompson(problem, cut=cut, **guard)
    best = gbb.optimum.solve(problem, env.M_star)
    lam = policy.learner.prior(problem)[1]
    known = report(env, cut=cut, optimum=best, lam=lam, delta=policy.delta)
    found = gbb.simulate(env, policy, rounds=60, seed=seed, optimum=best)
    share = 1.0 if policy.beta is None else policy.beta
    assert float(found.alpha[0]) == pytest.approx(share * known.alpha_2)
    bound = np.array([known.regret_bound(t) for t in range(1, 61)])
    extra = (policy.c or 0.0) * np.sqrt(np.arange(1, 61)) * problem.m * problem.L * problem.S
    assert (found.alpha_regret.values <= bound + 2.0 * extra).all()


@pytest.mark.parametrize("guard", [{"beta": 0.9}, {"c": 1.0}])
def test_a_guard_keeps_its_promise_whatever_is_drawn(guard):
    """Draws that are far too wide play at random, and lose more than the bound allows."""
    problem, T = gbb.Problem(gbb.Graph.complete(2), np.eye(2), sigma=0.1, S=1.5), 20_000
    env, cut = gbb.Environment(problem, [[0.0, 1.0], [1.0, 0.0]]), gbb.cuts.greedy(problem.graph)
    policy = GuardedThompson(problem, cut=cut, v=1e4, **guard)
    policies = [ThompsonSampling(problem, cut=cut, v=1e4), policy]
    found = gbb.simulate(env, policies, rounds=T, seed=1, record=[T])
    wild, guarded = found.alpha_regret.values.ravel()
    lam = policy.learner.prior(problem)[1]
    bound = regret_bound_sharp(problem, T, lam=lam, radius="symmetric")
    bound += 2.0 * guard.get("c", 0.0) * np.sqrt(T) * problem.m * problem.L * problem.S
    assert guarded <= bound < wild


@given(env=environments(), seed=st.integers(0, 99), beta=tenths(0, 1))
def test_rewards_of_any_sign_have_a_promise_too(env, seed, beta):
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    policy = GuardedThompson(problem, cut=cut, beta=beta)
    v = float(cut.couple_values(env.reward_table).max())
    found = gbb.simulate(env, policy, rounds=40, seed=seed)
    earned = found.expected_reward.values.cumsum(axis=-1)
    owed = np.arange(1, 41) * (v - (1.0 - beta) * abs(v)) - earned
    settings = {
        "lam": policy.learner.prior(problem)[1],
        "delta": policy.delta,
        "non_negative": False,
    }
    assert (owed <= [regret_bound(problem, t, **settings) for t in range(1, 41)]).all()


def triangle(K):
    """Links between unlike arms pay 1, those between like arms cost 10."""
    M = np.ones((K, K)) - 11.0 * np.eye(K)
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(K), sigma=0.1, S=float(np.linalg.norm(M)))
    return gbb.Environment(problem, M), gbb.cuts.greedy(problem.graph)


def test_no_policy_could_promise_a_share_of_what_is_negative():
    """Two arms on a triangle lose whatever is played: a share of that would be more than can be had."""
    env, cut = triangle(2)
    policy, T = GuardedThompson(env.problem, cut=cut, beta=0.9), 2000
    best = gbb.optimum.solve(env.problem, env.M_star)
    v = float(cut.couple_values(env.reward_table).max())
    assert best.value == v == -16.0
    assert max(v, best.value) < 0.9 * v
    found = gbb.simulate(env, policy, rounds=T, seed=1, optimum=best)
    earned = float(found.expected_reward.sum())
    assert 0.9 * v * T - earned >= 0.1 * 16.0 * T
    assert (v - 0.1 * abs(v)) * T - earned <= 0.0
    assert (found.expected_reward[..., -500:] == -16.0).mean() > 0.99


def test_a_negative_alpha_is_not_promised_by_its_share():
    """Three arms earn 6 on the triangle, and no couple more than -16."""
    env, cut = triangle(3)
    best = gbb.optimum.solve(env.problem, env.M_star)
    plain = guaranteed_alpha(env, "alpha_2", cut=cut, optimum=best)
    assert (best.value, plain) == (6.0, pytest.approx(-16.0 / 6.0))
    policy = GuardedThompson(env.problem, cut=cut, beta=0.75)
    found = gbb.simulate(env, policy, rounds=1, optimum=best)["alpha"].item()
    assert found == pytest.approx(-16.0 / 6.0 * 1.25)
    fading = gbb.simulate(env, GuardedThompson(env.problem, cut=cut, c=3.0), rounds=1, optimum=best)
    assert fading["alpha"].item() == plain


def test_one_estimate_serves_the_draw_and_the_confidence_set():
    """So the prior of ThompsonSampling, and the radius of JointOFUL with that lam."""
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(3), sigma=0.1, S=2.0)
    cut = gbb.cuts.greedy(problem.graph)
    policy, plain = GuardedThompson(problem, cut=cut), ThompsonSampling(problem, cut=cut)
    v, lam = policy.learner.prior(problem)
    assert (v, lam) == plain.learner.prior(problem)
    assert (policy.beta, policy.c) == (0.9, None)
    joint = JointOFUL(problem, cut=cut, lam=lam)
    env = gbb.Environment(problem, np.ones((3, 3)) / 2.0)
    state = seen(env, 7)
    assert objective_of(policy, state).radius == objective_of(joint, state).radius
    assert replace(GuardedThompson(problem, cut=cut, c=2.0), lam=1.0).beta is None


def test_a_guard_lets_most_draws_pass_and_stops_the_rest():
    """In the setting of Figure 2: between the two policies, and unlike either."""
    env = gbb.Environment(
        gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0),
        gbb.instances.absolute_normal(5, seed=3, frobenius=4.0, zeta=0.0, distinct_couple=True),
    )
    cut = gbb.cuts.greedy(env.problem.graph)
    policies = [
        JointOFUL(env.problem, cut=cut),
        *(GuardedThompson(env.problem, cut=cut, beta=x, name=f"{x}") for x in (0.95, 0.8)),
        ThompsonSampling(env.problem, cut=cut),
    ]
    found = gbb.simulate(env, policies, rounds=10_000, runs=4, seed=0, record=[10_000])
    lost = found.regret.mean("run").values.ravel()
    assert (np.diff(lost) < 0.0).all()


PROBLEM = gbb.Problem(gbb.Graph.circle(5), np.eye(3), S=2.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beta": 1.5}, r"`beta` to be a finite number >= 0 and <= 1, but got 1\.5"),
        ({"c": -1.0}, r"`c` to be a finite number >= 0, but got -1"),
        ({"beta": 0.9, "c": 1.0}, r"`beta` and `c` are two guards: give one"),
        ({"starts": 0}, r"`starts` to be a whole number >= 1, but got 0"),
    ],
)
def test_guards_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(gbb.InputError, match=message):
        GuardedThompson(PROBLEM, cut=gbb.cuts.greedy(PROBLEM.graph), **settings)
