"""Pure exploration: certificates that are right, rounds that shrink with the gap."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom

import gbb
import naive
from gbb import identification
from gbb.learning import empty, observe
from gbb.learning.tuples import list_allocations
from gbb.policies import PhasedExploration

GRAPHS = {
    "listed": gbb.Graph.path(4),
    "counts of arms": gbb.Graph.complete(5),
    "triangle and a tail": gbb.Graph.from_edges(
        [[0, 1], [1, 2], [0, 2], [2, 3]], n=5, undirected=True
    ),
}
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def instance(graph, seed, *, K=3, d=2, sigma=0.3, scale=1.0):
    """General arms and a matrix of norm 2 ``scale``; S is 2."""
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(K, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    M = rng.normal(size=(d, d))
    M *= 2.0 * scale / np.linalg.norm(M)
    return gbb.Environment(gbb.Problem(graph, arms, sigma=sigma, S=2.0), M)


def best(env, target, cut):
    if target == "couple":
        return cut.couple_values(env.reward_table).max()
    problem = env.problem
    return naive.best_value(problem.arms, env.M_star, problem.graph.edges.tolist(), problem.n)


def explore(env, policy, *, seed=0, most=200_000):
    rng, noise = (np.random.default_rng([seed, k]) for k in range(2))
    state, seen = policy.init(), []
    while state.couple is None and state.rounds < most:
        choice = policy.select(state, rng)
        seen.append(choice.allocation)
        state = policy.update(state, choice, env.draw(1, choice.allocation, noise))
    return state, np.array(seen)


@every_graph
@pytest.mark.parametrize("target", ["allocation", "couple"])
def test_certificates_fail_no_more_often_than_they_say(graph, target):
    delta, runs, epsilon = 0.2, 60, 0.05
    cut, failures = gbb.cuts.greedy(graph), 0
    for seed in range(runs):
        env = instance(graph, seed)
        found = gbb.identify(env, epsilon=epsilon, delta=delta, target=target, seed=seed)
        assert found.certified
        assert found.listed
        assert found.gap <= epsilon
        earned = env.expected_reward(found.allocation)
        lost = best(env, target, cut) - earned
        failures += lost > found.gap + 1e-9 or not found.low <= earned <= found.high
    assert failures <= binom.ppf(0.999, runs, delta)


@every_graph
def test_stopping_without_the_confidence_would_fail_more_often(graph, monkeypatch):
    """The test above can fail: with a hundredth of the radius it does."""
    monkeypatch.setattr(identification, "_radius", lambda seen, *_: 0.01 * seen.ellipsoid(0.1))
    runs, failures = 60, 0
    for seed in range(runs):
        env = instance(graph, seed, sigma=3.0)
        found = gbb.identify(env, epsilon=0.05, delta=0.2, lam=1e-6, seed=seed)
        lost = best(env, "allocation", None) - env.expected_reward(found.allocation)
        failures += lost > found.gap + 1e-9
    assert failures > binom.ppf(0.999, runs, 0.2)


@every_graph
def test_the_policy_certifies_the_best_couple(graph):
    delta, runs, failures = 0.2, 40, 0
    cut = gbb.cuts.greedy(graph)
    for seed in range(runs):
        env = instance(graph, seed)
        policy = PhasedExploration(env.problem, cut=cut, epsilon=0.1, delta=delta)
        state, _ = explore(env, policy, seed=seed)
        values = cut.couple_values(env.reward_table)
        assert state.gap <= 0.1
        assert state.alive[state.couple]
        failures += values.max() - values[state.couple] > state.gap + 1e-9
        failures += not state.alive[values >= values.max() - 1e-9].any()
        choice = policy.select(state, np.random.default_rng(0))
        assert choice.couple == state.couple
        assert np.array_equal(choice.allocation, cut.allocation(state.couple))
    assert failures <= binom.ppf(0.999, runs, delta)


def test_rounds_grow_with_the_square_of_the_inverse_gap():
    graph, ratios = gbb.Graph.complete(5), []
    for seed in (0, 1, 2, 4, 5, 6, 7):  # two allocations nearly tie with seed 3
        envs = [instance(graph, seed, scale=scale, sigma=1.0) for scale in (1.0, 0.25)]
        near, far = (gbb.identify(env, epsilon=0.0, lam=1e-3) for env in envs)
        assert near.certified
        assert far.certified
        ratios.append(far.rounds / near.rounds)
    # 16 up to the steps between looks (a factor 1.25) and what the logarithm adds.
    assert 13 < np.exp(np.mean(np.log(ratios))) < 24


def test_rounds_fall_as_epsilon_and_delta_are_relaxed():
    env = instance(gbb.Graph.complete(5), 3, sigma=1.0)
    by_epsilon = [gbb.identify(env, epsilon=e).rounds for e in (0.05, 0.5, 5.0)]
    assert sorted(by_epsilon, reverse=True) == by_epsilon
    assert by_epsilon[0] > 4 * by_epsilon[2]
    by_delta = [gbb.identify(env, epsilon=0.3, delta=d).rounds for d in (1e-9, 1e-3, 0.5)]
    assert by_delta[0] > by_delta[1] >= by_delta[2]


class Whole(PhasedExploration):
    """Explores by the design over all arms to the end."""

    def _design(self, alive):  # noqa: ARG002
        return gbb.g_optimal(self.problem.arms).weights


@pytest.mark.no_cover  # long
def test_dropping_arms_saves_rounds_and_keeps_to_what_is_left():
    graph = gbb.Graph.complete(4)
    M = np.diag([0.1, 0.1, 0.1, 0.1, 0.1]) + 0.0
    M[0, 1] = M[1, 0] = 1.0
    M[1, 2] = M[2, 1] = 0.9
    problem = gbb.Problem(graph, np.eye(5), sigma=1.0, S=3.0)
    env, cut = gbb.Environment(problem, M), gbb.cuts.greedy(graph)
    policy = PhasedExploration(problem, cut=cut, epsilon=0.0)
    state, seen = explore(env, policy)
    assert set(state.couple) == {0, 1}
    assert state.alive.sum() == 2  # (0, 1) and (1, 0) pay the same over this cut
    assert set(np.unique(seen[:10])) > {0, 1, 2}
    assert set(np.unique(seen[-10:])) <= {0, 1, 2}
    plain = Whole(problem, cut=cut, epsilon=0.0)
    assert explore(env, plain)[0].rounds > 2 * state.rounds


def test_the_family_has_all_allocations():
    rng = np.random.default_rng(4)
    for graph in GRAPHS.values():
        problem = gbb.Problem(graph, rng.normal(size=(3, 2)))
        family = list_allocations(problem)
        R = rng.normal(size=(3, 3))
        R = R + R.T
        values = family.combine(R[None])
        edges = graph.edges.tolist()
        everyone = itertools.product(range(3), repeat=graph.n)
        expected = {round(sum(R[a[i], a[j]] for i, j in edges), 9) for a in everyone}
        assert {round(float(value), 9) for value in values} == expected
        for index in range(0, len(values), 7):
            arms = family.allocation(index)
            assert arms.shape == (graph.n,)
            assert values[index] == pytest.approx(sum(R[arms[i], arms[j]] for i, j in edges))


def test_many_arms_are_not_listed_when_their_table_is_large():
    """Two agents with 200 arms: 20,100 sums of edge-arms, but of 40,000 edge-arms each."""
    for graph, K in ((gbb.Graph.path(2), 200), (gbb.Graph.path(3), 40)):
        env = instance(graph, 0, K=K)
        tracemalloc.start()
        try:
            found = gbb.identify(env, epsilon=1.0, seed=0)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < 300e6
        assert not found.listed
        assert found.certified
        top = gbb.optimum.solve(env.problem, env.M_star).value
        assert env.expected_reward(found.allocation) >= top - 1.0
    assert list_allocations(instance(gbb.Graph.path(2), 0, K=75).problem) is not None
    wide = gbb.Problem(gbb.Graph.path(3), np.eye(2, 1000))  # the sums have d^2 numbers each
    assert list_allocations(wide) is not None
    wide = gbb.Problem(gbb.Graph.path(5), np.eye(2, 1000))
    assert list_allocations(wide) is None


@pytest.mark.parametrize("check", [1, 5])
def test_the_solvers_bound_is_above_the_listed_one(check):
    for seed in range(5):
        env = instance(gbb.Graph.random(5, p=0.7, seed=seed), seed)
        record = gbb.identify(env, epsilon=0.0, max_rounds=40, seed=seed).record
        seen = gbb.learning.confidence.Confidence(env.problem, record)
        family = list_allocations(env.problem)
        arms, loose = identification.gap_by_solver(seen, 0.1, check, epsilon=np.inf, seconds=5.0)
        # The same radius for both, so that only the triangle inequality is between them.
        radius = identification._radius(seen, 6 * 5, 0.1, check)
        leader = int(np.argmax(family.combine(seen.ridge.means)))
        exact = seen.excess(family.combine, leader, radius).max()
        assert loose >= exact - 1e-9
        assert np.array_equal(arms, family.allocation(leader))
        _, early = identification.gap_by_solver(seen, 0.1, check, epsilon=0.0, seconds=5.0)
        assert early <= loose + 1e-9
        assert (early > 0.0) == (loose > 0.0)


def test_partial_rewards_share_delta_between_the_symmetric_and_the_full_ellipsoid():
    """The phase's end decides which of the two is used, so both must hold: delta / 2 each."""
    env = instance(gbb.Graph.path(4), 0)
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    policy = PhasedExploration(problem, cut=cut, epsilon=0.0, delta=0.1)
    half = np.sqrt(0.5)
    basis = np.array(
        [[1.0, 0, 0], [0, half, 0], [0, half, 0], [0, 0, 1.0]]
    )  # of symmetric matrices
    rng, state, kinds = np.random.default_rng(0), policy.init(), set()
    for t in range(12):
        arms = rng.integers(problem.K, size=problem.n)
        rewards = env.draw(1, arms, rng)
        rewards[problem.m if t < 4 else 1 :] = np.nan  # whole rounds, then one edge
        seen = observe(problem, arms, rewards)
        before, state = state, policy.absorb(state, None, seen)
        if state.phase_end == before.phase_end:
            continue
        known = gbb.learning.confidence.Confidence(problem, state.record)
        kinds.add(known.symmetric)
        A = gbb.Ridge(problem, state.record, 1.0).A
        log_det = np.linalg.slogdet(basis.T @ A @ basis if known.symmetric else A)[1]
        radius = problem.sigma * np.sqrt(log_det + 2.0 * np.log(2.0 / 0.1))
        combine, alive = policy.couples.combine, before.alive.ravel()
        leader = int(np.argmax(np.where(alive, combine(known.ridge.means), -np.inf)))
        excess = known.excess(combine, leader, radius)
        assert state.gap == pytest.approx(excess[alive].max(), rel=1e-9)
    assert kinds == {True, False}


def test_certifies_where_allocations_cannot_be_listed():
    graph = gbb.Graph.random(14, p=0.4, seed=1)
    runs, failures = 10, 0
    for seed in range(runs):
        env = instance(graph, seed, sigma=0.1)
        found = gbb.identify(env, epsilon=1.0, delta=0.2, seed=seed)
        optimum = gbb.optimum.solve(env.problem, env.M_star)
        assert optimum.proven
        assert found.certified
        assert not found.listed
        failures += optimum.value - env.expected_reward(found.allocation) > found.gap + 1e-9
    assert failures <= binom.ppf(0.999, runs, 0.2)


def test_gives_up_and_says_so():
    env = gbb.Environment(gbb.Problem(gbb.Graph.circle(3), np.eye(2), S=2.0), np.ones((2, 2)))
    found = gbb.identify(env, epsilon=0.0, max_rounds=500)  # all allocations tie
    assert not found.certified
    assert found.rounds == 500
    assert found.gap > 0
    assert found.record.N.sum() == 500 * 6


def test_plays_a_system_of_ones_own():
    env = instance(gbb.Graph.circle(5), 1)
    noise, asked = np.random.default_rng(5), []

    def play(allocation):
        asked.append(allocation)
        return env.draw(1, allocation, noise)

    found = gbb.identify(env.problem, play=play, epsilon=0.5)
    assert found.certified
    assert found.rounds == len(asked)
    assert best(env, "allocation", None) - env.expected_reward(found.allocation) <= found.gap
    assert found.record.N.sum() == env.problem.m * len(asked)


def test_plays_any_system():
    """The reference loop in place of the compiled one, for what is no gbb.Environment."""
    env = instance(gbb.Graph.circle(5), 1)
    still = gbb.AdversarialEnvironment(env.problem, lambda t: np.stack([env.M_star] * len(t)))
    found = gbb.identify(still, epsilon=0.5)
    assert found.certified
    assert best(env, "allocation", None) - env.expected_reward(found.allocation) <= found.gap
    assert found.record.N.sum() == env.problem.m * found.rounds


def test_the_same_seed_gives_the_same_answer():
    env = instance(gbb.Graph.circle(5), 1)
    one, other, third = (gbb.identify(env, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.record.Y, other.record.Y)
    assert not np.array_equal(one.record.Y, third.record.Y)


def test_without_noise_only_the_regulariser_has_to_fade():
    problem = gbb.Problem(gbb.Graph.circle(4), np.eye(2), sigma=0.0, S=2.0)
    env = gbb.Environment(problem, [[0.0, 1.0], [1.0, 0.2]], noise="none")
    found = gbb.identify(env, epsilon=0.1)
    assert found.certified
    assert found.rounds < 60
    assert env.expected_reward(found.allocation) == 8.0


@pytest.mark.parametrize(
    ("arms", "graph"),
    [
        ([[0.5, -2.0]], gbb.Graph.circle(5)),
        ([[0.5, -2.0]], gbb.Graph.circle(30)),
        ([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], gbb.Graph.star(4)),
        ([[0.0], [1.0]], gbb.Graph.complete(3)),
    ],
)
def test_odd_arms(arms, graph):
    problem = gbb.Problem(graph, arms, sigma=0.5, S=2.0)
    d = problem.d
    env = gbb.Environment(problem, np.eye(d) / d)
    found = gbb.identify(env, epsilon=0.5)
    assert found.certified
    optimum = gbb.optimum.solve(problem, env.M_star).value
    assert optimum - env.expected_reward(found.allocation) <= found.gap + 1e-9
    policy = PhasedExploration(problem, cut=gbb.cuts.greedy(graph), epsilon=0.5)
    assert explore(env, policy)[0].couple is not None


PROBLEM = gbb.Problem(gbb.Graph.circle(4), np.eye(2))
ENV = gbb.Environment(PROBLEM, np.eye(2))


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (3, {}, "`env` to be a gbb.Environment or a gbb.Problem, but got int"),
        (PROBLEM, {}, r"A gbb\.Problem alone cannot be played; pass play=\.\.\. with it"),
        (ENV, {"play": print}, r"`play` can only be combined with a gbb\.Problem"),
        (ENV, {"epsilon": -1.0}, "`epsilon` to be a finite number >= 0, but got -1"),
        (ENV, {"delta": 0.0}, "`delta` to be a finite number > 0 and <= 1, but got 0"),
        (ENV, {"delta": 2.0}, "`delta` to be a finite number > 0 and <= 1, but got 2"),
        (ENV, {"growth": 1.0}, "`growth` to be a finite number > 1, but got 1"),
        (ENV, {"max_rounds": 0}, "`max_rounds` to be a whole number >= 1, but got 0"),
        (ENV, {"lam": 0.0}, "`lam` to be a finite number > 0 and <= 1e\\+100, but got 0"),
        (ENV, {"seconds": 0.0}, "`seconds` to be a finite number > 0, but got 0"),
        (ENV, {"target": "cuple"}, "`target` to be one of .* Did you mean 'couple'"),
        (
            ENV,
            {"cut": gbb.cuts.greedy(PROBLEM.graph)},
            "`cut` can only be combined with target='couple'",
        ),
    ],
)
def test_bad_settings_are_refused(env, options, message):
    with pytest.raises(gbb.InputError, match=message):
        gbb.identify(env, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": -0.1}, "`epsilon` to be a finite number >= 0"),
        ({"delta": 0.0}, "`delta` to be a finite number > 0 and <= 1"),
        ({"lam": 0.0}, "`lam` to be a finite number > 0"),
        ({"growth": 1.0}, "`growth` to be a finite number > 1"),
    ],
)
def test_bad_settings_of_the_policy_are_refused(options, message):
    with pytest.raises(gbb.InputError, match=message):
        PhasedExploration(PROBLEM, cut=gbb.cuts.greedy(PROBLEM.graph), **options)


def test_bad_rewards_of_ones_own_system_are_refused():
    with pytest.raises(gbb.InputError, match=r"`rewards` to have shape \(8,\)"):
        gbb.identify(PROBLEM, play=lambda arms: np.zeros(3))  # noqa: ARG005


@pytest.mark.parametrize(
    "more", [{"feedback": "global"}, {"edge_weights": np.full(8, 2.0)}, {"edge_types": "source"}]
)
def test_only_the_papers_problem_is_taken(more):
    problem = gbb.Problem(PROBLEM.graph, np.eye(2), **more)
    with pytest.raises(gbb.InputError, match="`env` to be of the paper's problem: one matrix"):
        gbb.identify(problem, play=lambda arms: np.zeros(8))  # noqa: ARG005
    with pytest.raises(
        gbb.InputError, match="`problem` to have one matrix, no weights and rewards"
    ):
        gbb.LowRank(problem, empty(problem), 1)


def test_the_policy_certifies_from_rewards_of_some_edges_only():
    graph, runs, failures = gbb.Graph.path(4), 20, 0
    cut = gbb.cuts.greedy(graph)
    for seed in range(runs):
        env, rng = instance(graph, seed), np.random.default_rng(seed)
        policy = PhasedExploration(env.problem, cut=cut, epsilon=0.3, delta=0.2)
        state = policy.init()
        while state.couple is None:
            choice = policy.select(state, rng)
            lost = rng.choice(6, size=rng.integers(1, 6), replace=False)
            rewards = env.draw(1, choice.allocation, rng)
            rewards[lost] = np.nan
            seen = observe(env.problem, choice.allocation, rewards)
            state = policy.absorb(state, choice, seen)
        values = cut.couple_values(env.reward_table)
        failures += values.max() - values[state.couple] > state.gap + 1e-9
    assert failures <= binom.ppf(0.999, runs, 0.2)


def test_a_controller_that_is_reopened_certifies_the_same_couple(tmp_path):
    env = instance(gbb.Graph.path(4), 2, sigma=0.1)
    asked = []
    for path, reopen in ((tmp_path / "one.db", False), (tmp_path / "two.db", True)):
        url, noise = f"sqlite:///{path}", np.random.default_rng(1)
        controller = gbb.Controller.create(url, env.problem, "PhasedExploration", 3, epsilon=1.0)
        trials = []
        for t in range(60):
            if reopen and t % 9 == 4:
                controller.close()
                controller = gbb.Controller.open(url)
            trial = controller.ask()
            trials.append(trial.allocation)
            controller.tell(trial, env.draw(1, trial.allocation, noise))
        controller.close()
        asked.append(np.array(trials))
    assert np.array_equal(*asked)
    assert (asked[0][-5:] == asked[0][-1]).all()
    assert not (asked[0][:5] == asked[0][-1]).all()
