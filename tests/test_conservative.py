"""The conservative wrapper keeps its promise, lets the policy inside learn, and changes little."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
from gbb.learning import Ridge, empty, observe
from gbb.learning.radius import confidence_radius, delta_after
from gbb.learning.record import regressors
from gbb.policies import Choice, Conservative, Learned, RecordPolicy
from gbb.policies._accounts import (
    Missing,
    add_exactly,
    deviation,
    min_reward,
    noise_scale,
    step_toward,
    way_home,
)
from gbb.policies.conservative import EVENTS

GRID = gbb.Graph.grid(3, 4)
TABLE = np.array([[0.1, 0.1, 0.7], [0.1, 0.6, 0.3], [1.0, 0.9, 0.7]])


def general(**settings) -> gbb.Problem:
    defaults = {"sigma": 0.3, "S": 2.0}
    return gbb.Problem(GRID, np.eye(3), **(defaults | settings))


PROBLEMS = {
    "the paper's": general(),
    "types": general(edge_types=np.arange(GRID.m) % 2),
    "weights": general(edge_weights=np.linspace(0.5, 1.5, GRID.m)),
    "per link": general(feedback="link", sigma=0.5),
    "per agent": general(feedback="agent", sigma=0.5),
    "in all": general(feedback="global"),
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def environment(problem: gbb.Problem) -> gbb.Environment:
    matrices = np.array([TABLE * scale for scale in (1.0, 0.8)[: problem.types]])
    return gbb.Environment(problem, matrices)


def play(env, policy, rounds, seed):
    """Expected reward and allocation of every round, and the last state."""
    rng, noise = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    state, values, plans = policy.init(), np.empty(rounds), []
    for t in range(rounds):
        choice = policy.select(state, rng)
        state = policy.update(state, choice, env.draw(1, choice.allocation, noise))
        values[t] = env.expected_reward(choice.allocation)
        plans.append(choice.allocation)
    return values, np.array(plans), state


def worst(values, reward):
    """The smallest ratio, over time, of what was earned to what the baseline would have."""
    return float((np.cumsum(values) / (reward * np.arange(1, len(values) + 1))).min())


def inside(name, problem):
    return gbb.policies.build(name, problem, cut=gbb.cuts.greedy(GRID), horizon=100)


def baseline_of(env):
    """All on the second arm but one: no couple, and not the best."""
    plan = np.ones(GRID.n, dtype=np.int64)
    plan[0] = 2
    return plan, env.expected_reward(plan)


# The promise


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize("known", [True, False], ids=["reward known", "reward estimated"])
@pytest.mark.parametrize("name", ["JointOFUL", "UniformRandom", "ThompsonSampling"])
def test_the_promise_holds_in_every_round_of_every_run(name, known, limit):
    problem = PROBLEMS["the paper's"]
    env = environment(problem)
    plan = gbb.optimum.solve(problem, TABLE).allocation.copy()
    plan[5] = 1  # nearly the best there is: whoever explores loses
    reward = env.expected_reward(plan)
    for seed in range(4):
        policy = Conservative(
            problem,
            policy=inside(name, problem),
            baseline=plan,
            eps=0.1,
            baseline_reward=reward if known else None,
            floor=0.0,
            max_changes=limit,
            delta=0.05,
        )
        values, plans, state = play(env, policy, 150, seed)
        assert worst(values, reward) >= 0.9
        assert state.ledger.away.rounds > 0  # it did not only play the baseline
        assert state.ledger.away.rounds + state.ledger.at_baseline.rounds == 150
        assert worst(play(env, inside("UniformRandom", problem), 150, seed)[0], reward) < 0.8
        if limit is not None:
            before = np.vstack([plan, plans[:-1]])
            assert (plans != before).sum(axis=1).max() <= limit


@every_problem
@pytest.mark.parametrize("known", [True, False], ids=["reward known", "reward estimated"])
def test_the_promise_holds_on_any_problem(problem, known):
    env = environment(problem)
    plan, reward = baseline_of(env)
    for seed in range(3):
        policy = Conservative(
            problem,
            policy=inside("JointOFUL", problem) if problem.is_paper_problem else None,
            baseline=plan,
            eps=0.08,
            baseline_reward=reward if known else None,
            floor=0.0,
            max_changes=3,
        )
        values, _, state = play(env, policy, 120, seed)
        assert worst(values, reward) >= 0.92
        assert state.ledger.away.rounds > 0


@pytest.mark.no_cover  # long
def test_noise_that_all_share_breaks_the_promise_unless_it_is_declared():
    graph, M = gbb.Graph.grid(4, 4), np.array([[0.6, 0.3], [0.3, 0.0]])
    problem = gbb.Problem(graph, np.eye(2), sigma=1.0, S=2.0, feedback="agent")
    reward, broken = 0.6 * graph.m, {}
    for shared in (False, True):
        broken[shared] = 0
        for seed in range(12):
            inner = gbb.policies.UniformRandom(problem)
            policy = Conservative(
                problem,
                policy=inner,
                eps=0.1,
                baseline_reward=reward,
                floor=0.0,
                delta=0.05,
                shared_noise=shared,
            )
            rng, noise = np.random.default_rng(seed), np.random.default_rng([seed, 1])
            state, values = policy.init(), []
            for _ in range(300):
                choice = policy.select(state, rng)
                arms = choice.allocation
                means = regressors(problem, arms) @ M.ravel(order="F")
                values.append(means.sum())
                state = policy.update(state, choice, means + noise.standard_normal())
            broken[shared] += worst(np.array(values), reward) < 0.9
            assert state.ledger.away.rounds > 20
    assert broken[True] == 0
    assert broken[False] >= 3  # far more often than delta: the assumption is needed


ONE_WAY = {"edge": "weights that are 0", "agent": "an agent without weights"}


@pytest.mark.parametrize("feedback", ONE_WAY, ids=ONE_WAY.values())
def test_a_floor_is_not_credited_to_numbers_that_are_known_to_be_zero(feedback):
    graph = gbb.Graph.path(6)
    forward = graph.sources < graph.indices
    problem = gbb.Problem(
        graph,
        np.eye(2),
        sigma=0.1,
        S=2.0,
        edge_weights=forward.astype(float),
        feedback=feedback,
    )
    env = gbb.Environment(problem, np.array([[1.0, 0.5], [0.5, 0.5]]))
    assert problem.report.nonzero.sum() == 5
    low = Ridge(problem, empty(problem), 1.0)
    assert min_reward(low, 100.0, np.ones(6, dtype=np.int64), 0.5) == 2.5
    assert min_reward(low, 100.0, np.ones(6, dtype=np.int64), -0.5) == -2.5
    for seed in range(4):
        inner = gbb.policies.UniformRandom(problem)
        policy = Conservative(problem, policy=inner, eps=0.05, floor=0.5, baseline_reward=5.0)
        values, _, state = play(env, policy, 150, seed)
        assert worst(values, 5.0) >= 0.95
        assert state.ledger.away.rounds > 0


def test_numbers_that_cannot_pay_are_left_out_of_the_sums():
    graph = gbb.Graph.from_edges([[0, 1]], n=3, undirected=True)
    problem = gbb.Problem(graph, np.eye(2), feedback="agent")
    assert problem.report.nonzero.tolist() == [True, True, False]
    policy = Conservative(problem, floor=0.0)
    state = policy.update(policy.init(), Choice(policy.baseline), np.array([1.0, 2.0, 40.0]))
    assert sum(state.ledger.at_baseline.rewards) == 3.0
    pair = gbb.Problem(gbb.Graph.path(2), np.eye(2))
    assert deviation(problem, 7, 0.1) == deviation(pair, 7, 0.1)
    assert gbb.Problem(graph, np.eye(2), feedback="global").report.nonzero.tolist() == [True]


@pytest.mark.no_cover  # long
def test_a_promise_that_may_fail_often_still_fails_rarely():
    """Over 200 short runs with delta = 0.2, and with noise that matters, few may fail."""
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), sigma=1.0, S=2.0)
    env = gbb.Environment(problem, np.array([[1.0, 0.2], [0.2, 0.1]]))
    plan = np.zeros(3, dtype=np.int64)
    failed = 0
    for seed in range(200):
        policy = Conservative(
            problem, policy=gbb.policies.UniformRandom(problem), eps=0.3, floor=0.1, delta=0.2
        )
        values, _, _ = play(env, policy, 40, seed)
        failed += worst(values, env.expected_reward(plan)) < 0.7
    assert failed <= 0.2 * 200


def test_one_round_at_the_floor_is_affordable_exactly_when_it_was_saved_for():
    """eps n r = (1 - eps) r pays for a round that may earn nothing: n = 1 / eps - 1 rounds."""
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), sigma=0.0, S=100.0)
    env = gbb.Environment(problem, np.array([[1.0, 0.0], [0.0, 0.0]]))
    other = gbb.policies.FixedAllocation(problem, allocation=[1, 1, 1])
    policy = Conservative(problem, policy=other, eps=0.1, baseline_reward=4.0, floor=0.0)
    values, _, _ = play(env, policy, 12, 0)
    assert values.tolist() == [4.0] * 9 + [0.0] + [4.0] * 2


def test_it_goes_no_further_than_it_can_afford_to_return():
    """No noise, and nothing is paid away from the baseline: a long way home costs as much as out."""
    problem = gbb.Problem(gbb.Graph.complete(8), np.eye(2), sigma=0.0, S=100.0)
    env = gbb.Environment(problem, np.array([[1.0, 0.0], [0.0, 0.0]]))
    reward = env.expected_reward(np.zeros(8, dtype=np.int64))
    for name in ("FixedAllocation", "UniformRandom"):
        far = {"allocation": np.ones(8, dtype=np.int64)} if name == "FixedAllocation" else {}
        policy = Conservative(
            problem,
            policy=gbb.policies.build(name, problem, **far),
            eps=0.2,
            baseline_reward=reward,
            floor=0.0,
            max_changes=1,
        )
        values, plans, state = play(env, policy, 120, 0)
        assert worst(values, reward) >= 0.8 - 1e-12
        assert (np.diff(plans, axis=0) != 0).sum(axis=1).max() == 1
        assert state.ledger.away.rounds > 10


# Learning


@pytest.mark.parametrize("limit", [None, 1, 3])
def test_the_policy_inside_gets_through(limit):
    problem = PROBLEMS["the paper's"]
    env = environment(problem)
    plan, reward = baseline_of(env)
    best = gbb.optimum.solve(problem, TABLE).value
    assert reward < 0.75 * best
    policy = Conservative(problem, baseline=plan, eps=0.05, floor=0.0, max_changes=limit)
    values, _, _ = play(env, policy, 400, 0)
    assert values[-50:].mean() >= 0.98 * best
    assert worst(values, reward) >= 0.95
    assert worst(play(env, policy.policy, 400, 0)[0], reward) < 0.95  # alone it broke the promise


def test_a_log_teaches_without_counting():
    problem = PROBLEMS["the paper's"]
    env = environment(problem)
    plan, reward = baseline_of(env)
    policy = Conservative(problem, baseline=plan, eps=0.05, baseline_reward=reward, floor=0.0)
    rng = np.random.default_rng(0)
    state = policy.init()
    for _ in range(300):
        arms = rng.integers(3, size=problem.n)
        seen = observe(problem, arms, env.draw(1, arms, rng))
        state = policy.absorb(state, None, seen)
    assert state.ledger.away.rounds == state.ledger.at_baseline.rounds == 0
    assert isinstance(state.inner, Learned)
    assert state.inner.rounds == 300
    choice = policy.select(state, rng)  # at once something better than the baseline
    assert env.expected_reward(choice.allocation) > 1.2 * reward
    first = policy.select(policy.init(), rng)
    assert np.array_equal(first.allocation, plan)


INNER = sorted(
    name
    for name in gbb.policies.names()
    if issubclass(gbb.policies.find(name), RecordPolicy) and name != "Conservative"
)


@pytest.mark.parametrize("name", INNER)
def test_any_policy_that_learns_from_records_can_be_held_back(name):
    problem = PROBLEMS["the paper's"]
    env = environment(problem)
    plan, reward = baseline_of(env)
    for limit in (None, 1):
        policy = Conservative(
            problem,
            policy=inside(name, problem),
            baseline=plan,
            eps=0.2,
            floor=0.0,
            max_changes=limit,
        )
        assert policy.controllable == policy.policy.controllable
        values, _, state = play(env, policy, 60, 1)
        assert worst(values, reward) >= 0.8
        assert getattr(state.inner, "rounds", 60) == 60  # it learns from the baseline's rounds too


@pytest.mark.parametrize("name", ["ExponentialWeights", "Conservative"])
def test_a_policy_that_needs_its_own_rounds_or_keeps_accounts_is_refused(name):
    problem = PROBLEMS["the paper's"]
    with pytest.raises(gbb.InputError, match=f"`policy` to learn from records and.*{name}"):
        Conservative(problem, policy=inside(name, problem))


def test_its_settings_build_it_again():
    problem = PROBLEMS["the paper's"]
    plan, _ = baseline_of(environment(problem))
    policy = Conservative(
        problem, policy=inside("GuardedThompson", problem), baseline=plan, eps=0.5
    )
    again = Conservative(problem, **gbb.policies.settings(policy))
    found = gbb.policies.settings(again)
    assert found.pop("baseline").tolist() == plan.tolist()
    assert all(
        found[name] is getattr(policy, name) or found[name] == getattr(policy, name)
        for name in found
    )
    assert again.cut is policy.policy.cut
    assert replace(policy, eps=0.2).policy is policy.policy
    assert np.array_equal(pickle.loads(pickle.dumps(policy)).baseline, plan)


# Missing and late rewards


@pytest.mark.parametrize("confidence", ["symmetric", "complete"])
@pytest.mark.parametrize("known", [True, False], ids=["reward known", "reward estimated"])
def test_with_missing_and_late_rewards_the_promise_fails_rarely(known, confidence):
    """Noise that matters, delta = 0.2, and an M* that the order of two arms matters to.

    Rounds stay open, fail, are partial or not played; in every other run most links lose a direction.
    """
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), sigma=1.0, S=2.0)
    env = gbb.Environment(problem, np.array([[1.0, 0.3], [0.1, 0.1]]))
    reward, eps, failed, gone, sets = env.expected_reward([0, 0, 0]), 0.3, 0, 0, set()
    backward = problem.graph.sources > problem.graph.indices
    for seed in range(100):
        policy = Conservative(
            problem,
            policy=gbb.policies.UniformRandom(problem),
            eps=eps,
            floor=0.1,
            delta=0.2,
            confidence=confidence,
            baseline_reward=reward if known else None,
        )
        rng, noise = np.random.default_rng(seed), np.random.default_rng([seed, 1])
        state, waiting, earned, lowest = policy.init(), {}, [], np.inf
        for t in range(1, 41):
            choice = policy.select(state, rng)
            state = policy.on_ask(state, t, choice)
            if noise.random() < 0.1:
                state = policy.on_close(state, t, choice, None)
                continue
            earned.append(env.expected_reward(choice.allocation))
            lowest = min(lowest, np.sum(earned) / (reward * len(earned)))
            waiting[t + int(noise.integers(4)), t] = choice
            for due, trial in [key for key in waiting if key[0] <= t]:
                old = waiting.pop((due, trial))
                rewards = env.draw(1, old.allocation, noise)
                share = noise.choice([0.0, 0.5, 1.0], p=[0.1, 0.3, 0.6])
                rewards[noise.random(problem.m) > share] = np.nan
                if seed % 2:
                    rewards[backward & (noise.random(problem.m) < 0.8)] = np.nan
                state = policy.on_close(state, trial, old, rewards)
                state = policy.absorb(state, old, observe(problem, old.allocation, rewards))
        failed += lowest < 1.0 - eps
        gone += state.ledger.away.rounds
        sets.add(policy._promise(state)[1].symmetric)
    assert failed <= 0.2 * 100
    assert gone > 100  # it does not just sit at the baseline
    assert sets == ({True, False} if confidence == "symmetric" else {False})


def test_rewards_of_one_direction_are_enough_to_get_away():
    """No link is seen in both directions: the set in all dimensions says what may be risked."""
    problem = general(sigma=0.1)
    env, rng = environment(problem), np.random.default_rng(2)
    policy = Conservative(problem, baseline=baseline_of(env)[0], eps=0.3, floor=0.0)
    state, backward = policy.init(), problem.graph.sources > problem.graph.indices
    for _ in range(60):
        choice = policy.select(state, rng)
        rewards = env.draw(1, choice.allocation, rng)
        rewards[backward] = np.nan
        state = policy.update(state, choice, rewards)
    account = state.ledger.away
    assert account.rounds > 5
    assert account.observed == 0  # a direction counts with the other one only
    assert state.ledger.missing.size == account.rounds * problem.m
    assert policy.report(state)["left"] >= 0.0
    _, seen, radius = policy._promise(state)
    ridge = Ridge(problem, state.record, policy.lam)
    assert not seen.symmetric
    delta = delta_after(1, policy.delta / EVENTS)
    assert radius == confidence_radius(ridge, delta, shrinking=True)


def test_what_is_reported_and_retracted_leaves_nothing_behind():
    problem = PROBLEMS["weights"]
    policy = Conservative(problem, confidence="complete", floor=0.0)
    rng, state = np.random.default_rng(0), policy.init()
    choices = [Choice(rng.integers(3, size=problem.n)) for _ in range(6)]
    for trial, choice in enumerate(choices):
        state = policy.on_ask(state, trial, choice)
    for trial in rng.permutation(6):
        rewards = rng.normal(size=problem.m) * 10.0 ** rng.integers(-30, 30)
        rewards[rng.random(problem.m) < 0.3] = np.nan
        closed = policy.on_close(state, trial, choices[trial], rewards)
        again = policy.on_reopen(closed, trial, choices[trial], rewards)
        assert again.ledger[1:3] == state.ledger[1:3]
        assert again.ledger.missing.size == state.ledger.missing.size
        assert again.ledger.missing.weights == pytest.approx(state.ledger.missing.weights)
        absent = policy.on_close(state, trial, choices[trial], None)
        assert (
            policy.on_reopen(absent, trial, choices[trial], None).ledger[1:3] == state.ledger[1:3]
        )


def test_relearning_keeps_the_accounts():
    problem = PROBLEMS["the paper's"]
    policy = Conservative(problem, policy=inside("ThompsonSampling", problem), floor=0.0)
    _, _, state = play(environment(problem), policy, 30, 0)
    again = policy.relearn(state, state.record.discount(0.5), rounds=30)
    assert again.ledger is state.ledger
    assert again.record.N.sum() == again.inner.record.N.sum() == 0.5 * state.record.N.sum()


# Baselines


def test_a_baseline_that_pays_less_than_nothing_is_all_that_is_played():
    problem = gbb.Problem(gbb.Graph.path(4), np.eye(2), sigma=0.1, S=2.0)
    env = gbb.Environment(problem, np.array([[-1.0, 0.0], [0.0, 1.0]]))
    policy = Conservative(problem, eps=0.5, floor=-1.0)
    values, _, state = play(env, policy, 60, 0)
    assert policy.baseline_bounds(state)[1] < 0.0
    assert (values[5:] == env.expected_reward(policy.baseline)).all()


def test_the_bounds_on_the_baseline_hold_what_it_pays():
    problem = PROBLEMS["per agent"]
    env = environment(problem)
    plan, reward = baseline_of(env)
    policy = Conservative(problem, baseline=plan, delta=0.1)
    assert policy.baseline_bounds(policy.init()) == (0.0, np.inf)
    rng = np.random.default_rng(0)
    state, widths = policy.init(), []
    for _ in range(200):
        state = policy.update(state, Choice(plan), env.draw(1, plan, rng))
        least, most = policy.baseline_bounds(state)
        assert least <= reward <= most
        widths.append(most - least)
    assert widths[-1] < widths[0] / 5


def test_a_baseline_by_name_and_the_first_allowed_arm():
    names = [f"turbine {i}" for i in range(3)]
    graph = gbb.Graph.from_edges(
        [[names[0], names[1]], [names[1], names[2]]], names=names, undirected=True
    )
    allowed = [[False, True], [True, True], [True, True]]
    problem = gbb.Problem(graph, np.eye(2), arm_names=["off", "on"], allowed=allowed)
    assert Conservative(problem).baseline.tolist() == [1, 0, 0]
    given_names = dict(zip(names, ["on", "off", "on"], strict=True))
    assert Conservative(problem, baseline=given_names).baseline.tolist() == [1, 0, 1]
    with pytest.raises(
        gbb.InputError, match="`baseline` to play allowed arms, but got arm 0 at agent 'turbine 0'"
    ):
        Conservative(problem, baseline=[0, 0, 0])


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"eps": 0.0}, "`eps` to be a finite number > 0 and <= 1, but got 0"),
        ({"eps": 1.5}, "`eps` to be a finite number > 0 and <= 1, but got 1.5"),
        ({"baseline_reward": -1.0}, "`baseline_reward` to be a finite number >= 0, but got -1"),
        ({"floor": np.nan}, "`floor` to be a finite number"),
        ({"max_changes": 0}, "`max_changes` to be a whole number >= 1, but got 0"),
        (
            {"confidence": "paper"},
            "`confidence` to be one of 'complete', 'symmetric', but got 'paper'",
        ),
        (
            {"policy": "JointOFUL"},
            "`policy` to be a policy for the same problem, but got 'JointOFUL'",
        ),
        ({"shared_noise": "no"}, "`shared_noise` to be True or False, but got 'no'"),
        ({"delta": 0.0}, "`delta`"),
        ({"lam": 0.0}, "`lam`"),
    ],
)
def test_bad_settings_are_named(settings, text):
    with pytest.raises(gbb.InputError, match=text):
        Conservative(PROBLEMS["the paper's"], **settings)


def test_a_policy_of_another_problem_and_a_radius_that_is_not_valid_are_refused():
    other = gbb.policies.UniformRandom(general())
    with pytest.raises(gbb.InputError, match="`policy` to be a policy for the same problem"):
        Conservative(PROBLEMS["the paper's"], policy=other)
    with pytest.raises(gbb.InputError, match="Pass radius='complete'"):
        Conservative(PROBLEMS["per agent"], confidence="symmetric")


# What it is made of


def learnt(problem, rounds, seed):
    env, rng, record = environment(problem), np.random.default_rng(seed), empty(problem)
    for _ in range(rounds):
        arms = rng.integers(3, size=problem.n)
        record = record.merge(observe(problem, arms, env.draw(1, arms, rng)))
    return record


@every_problem
@given(
    seed=st.integers(0, 10_000),
    rounds=st.integers(0, 40),
    floor=st.sampled_from([None, 0.0, 0.1, -0.5]),
)
def test_the_lower_bound_is_that_of_a_naive_twin_and_holds(problem, seed, rounds, floor):
    record = learnt(problem, rounds, seed)
    allocation = np.random.default_rng(seed).integers(3, size=problem.n)
    ridge = Ridge(problem, record, 1.0)
    radius = confidence_radius(ridge, 1e-6, shrinking=True)
    bound = min_reward(ridge, radius, allocation, floor)

    q = regressors(problem, allocation)
    if problem.feedback == "edge":
        blocks = [np.zeros((9, 9)) for _ in range(problem.types)]
        moments = np.zeros((problem.types, 9))
        N = record.N.reshape(problem.types, -1)
        Y = record.Y.reshape(problem.types, -1)
        for g in range(problem.types):
            blocks[g] = problem.edge_arms.T @ np.diag(N[g]) @ problem.edge_arms
            moments[g] = Y[g] @ problem.edge_arms
        gram = np.zeros((problem.parameters,) * 2)
        for g, block in enumerate(blocks):
            gram[9 * g : 9 * g + 9, 9 * g : 9 * g + 9] = block
        moment = moments.ravel()
    else:
        gram, moment = record.gram(problem), record.moment(problem)
    inverse = np.linalg.inv(gram + np.eye(len(gram)))
    theta = inverse @ moment

    def bound_of(chosen):
        total = q[chosen].sum(axis=0)
        width = np.sqrt(max(total @ inverse @ total, 0.0))
        return total @ theta - radius * width + (floor or 0.0) * (~chosen).sum()

    everything = np.ones(len(q), dtype=bool)
    if floor is None:
        assert bound == pytest.approx(bound_of(everything), rel=1e-6, abs=1e-6)
    else:
        each = q @ theta - radius * np.sqrt(np.einsum("ei,ij,ej->e", q, inverse, q))
        levels = [each > floor, everything, *(each >= level + 1e-7 for level in each)]
        assert bound >= max(map(bound_of, levels)) - 1e-6  # ties may be split, levels do not
    # Whatever the matrix in the set, nobody pays less than the bound.
    root = np.linalg.cholesky(inverse)
    rng = np.random.default_rng([seed, 1])
    for chosen in (everything, q @ theta > (floor or 0.0), *(rng.random((20, len(q))) < 0.5)):
        worst_way = root.T @ q[chosen].sum(axis=0)
        for u in (worst_way, rng.normal(size=len(theta))):
            other = theta - radius * root @ (u / max(np.linalg.norm(u), 1e-12))
            pays = q @ other
            pays = pays if floor is None else np.maximum(pays, floor)
            assert bound <= pays.sum() + 1e-6
    if floor is None or floor <= 0.0:  # what one number pays is at least 0 here
        assert bound <= environment(problem).expected_reward(allocation) + 1e-9


@every_problem
@pytest.mark.parametrize("floor", [None, 0.1])
def test_what_is_missing_pays_no_less_than_is_counted_for_it(problem, floor):
    """As a naive twin has it, and never more than it pays; told at last, it leaves nothing behind."""
    env, rng = environment(problem), np.random.default_rng(3)
    theta = np.concatenate([M.ravel(order="F") for M in np.atleast_3d(env.M_star.T).T])
    ridge = Ridge(problem, learnt(problem, 60, 3), 1.0)
    radius = confidence_radius(ridge, 1e-3, shrinking=True)
    missing, q, rounds = Missing.none(problem), np.zeros(problem.parameters), []
    for _ in range(5):
        arms = rng.integers(3, size=problem.n)
        which = rng.random(problem.observations) < 0.5
        missing = missing.add(problem, arms, which, 1)
        q += regressors(problem, arms)[which].sum(axis=0)
        rounds.append((arms, which))
    bound, width = missing.min_reward(ridge, radius, floor), float(ridge.width(q[None]).sum())
    middle = q @ np.concatenate([M.ravel(order="F") for M in ridge.M_hats])
    parts = [middle - radius * width, -problem.S * np.linalg.norm(q.reshape(-1, 9), axis=1).sum()]
    parts += [] if floor is None else [floor * missing.size]
    assert bound == pytest.approx(max(parts), rel=1e-9)
    assert bound <= q @ theta
    for arms, which in rounds:
        missing = missing.add(problem, arms, which, -1)
    assert missing.size == 0
    assert not missing.weights.any()


@given(st.lists(st.floats(-1e40, 1e40), max_size=20), st.randoms())
def test_sums_are_exact_in_any_order(numbers, random):
    expansion = ()
    for number in numbers:
        expansion = add_exactly(expansion, number)
    assert math.fsum(expansion) == math.fsum(numbers)
    random.shuffle(numbers)
    for number in numbers:
        expansion = add_exactly(expansion, -number)
    assert expansion == ()


def test_a_floor_never_lowers_the_bound():
    """Every number alone may be below the floor while their sum is known to be far above."""
    problem = gbb.Problem(gbb.Graph.complete(9), np.eye(9), sigma=0.5, S=6.0)
    env = gbb.Environment(problem, np.full((9, 9), 0.6))
    rng, record = np.random.default_rng(0), empty(problem)
    plan, gained = np.arange(9), []
    for t in range(1, 61):
        arms = rng.permutation(9)
        record = record.merge(observe(problem, arms, env.draw(1, arms, rng)))
        ridge = Ridge(problem, record, 1.0, symmetric=True)
        radius = confidence_radius(ridge, 1e-3, shrinking=True)
        without = min_reward(ridge, radius, plan, None)
        bounds = [min_reward(ridge, radius, plan, floor) for floor in (-1.0, 0.0, 0.3)]
        assert bounds == sorted(bounds)
        assert max(without, 0.0) <= bounds[1] + 1e-9
        assert bounds[2] <= env.expected_reward(plan)
        gained.append((t, without))
    assert max(value for t, value in gained if t <= 34) > 20.0


@given(seed=st.integers(0, 10_000))
def test_symmetric_parts_bound_no_less_and_still_hold(seed):
    problem = PROBLEMS["the paper's"]
    record = learnt(problem, 10, seed)
    allocation = np.random.default_rng(seed).integers(3, size=problem.n)
    bounds = []
    for halves in (False, True):
        ridge = Ridge(problem, record, 1.0, symmetric=halves)
        radius = confidence_radius(ridge, 1e-6, shrinking=True)
        bounds.append(min_reward(ridge, radius, allocation, None))
    assert bounds[0] <= bounds[1] <= environment(problem).expected_reward(allocation)


@every_problem
@given(seed=st.integers(0, 10_000), limit=st.integers(1, 6))
def test_a_step_makes_the_changes_that_gain_most(problem, seed, limit):
    rng = np.random.default_rng(seed)
    last, wanted = rng.integers(3, size=(2, problem.n))
    ridge = Ridge(problem, learnt(problem, 5, seed), 1.0)
    step = step_toward(ridge, last, wanted, limit)
    assert (step != last).sum() <= limit
    moved = step != last
    assert np.array_equal(step[moved], wanted[moved])
    if (last != wanted).sum() <= limit:
        assert np.array_equal(step, wanted)
    else:
        arms = last.copy()
        for _ in range(limit):  # by brute force, from the estimate of whole allocations
            values = np.full(problem.n, -np.inf)
            for agent in np.flatnonzero(arms != wanted):
                trial = arms.copy()
                trial[agent] = wanted[agent]
                values[agent] = ridge.total(trial)[0]
            best = int(np.argmax(values))
            arms[best] = wanted[best]
        assert ridge.total(step)[0] == pytest.approx(ridge.total(arms)[0], abs=1e-9)


@given(
    plans=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12),
    limit=st.integers(1, 5),
)
def test_the_way_home_ends_there_in_steps_that_are_small_enough(plans, limit):
    last, home = np.array(plans).T
    way = list(way_home(last, home, limit))
    assert np.array_equal(way[-1], home)
    for before, after in zip([last, *way], way, strict=False):
        assert (before != after).sum() <= limit
    if len(way) > 1:  # the rest of the way is the way of the rest
        again = list(way_home(way[0], home, limit))
        assert all(np.array_equal(a, b) for a, b in zip(way[1:], again, strict=True))


def test_the_deviation_is_exceeded_as_rarely_as_it_says():
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), sigma=0.7)
    rng = np.random.default_rng(0)
    sums = 0.7 * np.cumsum(rng.standard_normal((2000, 300, problem.m)).sum(axis=2), axis=1)
    bound = np.array([deviation(problem, t * problem.m, 0.1) for t in range(1, 301)])
    exceeded = (np.abs(sums) > bound).any(axis=1).mean()
    assert 0.002 < exceeded <= 0.1
    assert deviation(problem, 0, 0.1) == 0.0


def test_shared_noise_exceeds_the_deviation_only_where_it_was_not_declared():
    problem = gbb.Problem(gbb.Graph.grid(3, 3), np.eye(2), sigma=0.7, feedback="agent")
    rng = np.random.default_rng(0)
    sums = 9 * 0.7 * np.cumsum(rng.standard_normal((2000, 300)), axis=1)
    exceeded = {}
    for shared in (False, True):
        scale = noise_scale(problem, shared=shared)
        bound = np.array(
            [deviation(problem, t * problem.observations, 0.1, scale) for t in range(1, 301)]
        )
        exceeded[shared] = (np.abs(sums) > bound).any(axis=1).mean()
    assert 0.002 < exceeded[True] <= 0.1
    assert exceeded[False] > 0.5


@pytest.mark.parametrize("feedback", ["edge", "agent", "global"])
@pytest.mark.parametrize("weights", [False, True])
def test_shared_noise_leaves_the_truth_in_the_set_where_it_was_declared(feedback, weights):
    """Noise alone, M* = 0, the same for all numbers of a round."""
    graph, delta, runs = gbb.Graph.grid(3, 3), 0.1, 200
    some = (np.arange(graph.m) % 3 > 0).astype(float) if weights else None
    problem = gbb.Problem(graph, np.eye(2), sigma=0.5, S=1e-9, feedback=feedback, edge_weights=some)
    missed = {False: 0, True: 0}
    for seed in range(runs):
        rng, record = np.random.default_rng(seed), empty(problem)
        out = {False: False, True: False}
        for _ in range(10):
            arms = rng.integers(2, size=9)
            rewards = np.full(problem.observations, 0.5 * rng.standard_normal())
            record = record.merge(observe(problem, arms, rewards))
            ridge = Ridge(problem, record, 1.0)
            for shared in (False, True):
                scale = noise_scale(problem, shared=shared)
                radius = confidence_radius(ridge, delta, shrinking=True, scale=scale)
                out[shared] |= bool(np.linalg.norm(ridge.theta) > radius)
        for shared in (False, True):
            missed[shared] += out[shared]
    assert missed[True] <= delta * runs
    if feedback == "global":
        assert missed[False] == missed[True]  # one number a round shares with nobody
    else:
        assert missed[False] > 2 * delta * runs
