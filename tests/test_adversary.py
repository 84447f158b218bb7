"""Matrices that change from round to round, and the policies meant for them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gbb
from gbb.adversary import AdversarialEnvironment, drifting, from_file, switching
from gbb.policies import (
    DiscountedOFUL,
    ExponentialWeights,
    ImprovedOFUL,
    JointOFUL,
    SlidingWindowOFUL,
)

GRAPH = gbb.Graph.path(6)
PLANE = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
PROBLEM = gbb.Problem(GRAPH, PLANE, S=float(np.sqrt(2.0)))
CUT = gbb.cuts.greedy(GRAPH)
TYPED = gbb.Problem(GRAPH, PLANE, S=2.0, edge_types=[0, 0, 1, 1, 0, 1, 0, 0, 1, 1])
TURNS = AdversarialEnvironment(PROBLEM, switching([np.eye(2), -np.eye(2)]), noise="none")


def rounds(*numbers):
    return np.array(numbers)


def test_switching_plays_each_matrix_for_a_period():
    A, B = np.eye(2), np.ones((2, 2))
    found = switching([A, B], period=2)(rounds(1, 2, 3, 4, 5))
    assert np.array_equal(found, [A, A, B, B, A])


def test_drifting_turns_round():
    A, B = np.eye(2), np.ones((2, 2))
    found = drifting(A, B, period=8)(rounds(8, 2, 4, 1))
    assert found == pytest.approx(np.array([A, B, -A, (A + B) / np.sqrt(2)]))


@pytest.mark.parametrize(
    "made", [switching([np.eye(2)]), drifting(np.eye(2), -np.eye(2), period=3)]
)
def test_it_can_be_sent_to_another_process(made):
    env = AdversarialEnvironment(PROBLEM, made)
    env.tables_at(5)  # with what it remembers
    assert np.array_equal(pickle.loads(pickle.dumps(env)).tables_at(5), env.tables_at(5))


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_matrices_come_from_a_file(tmp_path, suffix):
    stack = np.random.default_rng(0).normal(size=(5, 3, 3))
    path = tmp_path / f"matrices{suffix}"
    if suffix == ".npy":
        np.save(path, stack)
    else:
        np.savetxt(path, stack.reshape(5, 9), delimiter=",")
    matrices = from_file(path)
    assert matrices(rounds(2, 5)) == pytest.approx(stack[[1, 4]], rel=1e-15)
    with pytest.raises(gbb.InputError, match=r"`rounds` to be at most 5, the file's, but got 6"):
        matrices(rounds(6))


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(gbb.InputError, match=r"`path` to be one of '\.csv', '\.npy'"):
        from_file(tmp_path / "matrices.txt")
    with pytest.raises(gbb.InputError, match=r"`path` to name a readable file"):
        from_file(tmp_path / "nothing.npy")
    (tmp_path / "odd.csv").write_text("1,2,3\n", encoding="utf-8")
    with pytest.raises(gbb.InputError, match=r"d\^2 numbers in every row, but got 3"):
        from_file(tmp_path / "odd.csv")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: switching(np.eye(2)), r"`matrices` to have 3 dimensions"),
        (lambda: switching(np.zeros((0, 2, 2))), r"`matrices` to hold at least one matrix"),
        (lambda: switching([np.eye(2)], period=0), r"`period` to be a whole number >= 1"),
        (lambda: drifting(np.eye(2), np.eye(3), period=9), r"`second` to have shape \(2, 2\)"),
        (
            lambda: AdversarialEnvironment(PROBLEM, switching([np.eye(3)])),
            r"`matrices` to have shape \(1, 2, 2\), d x d a round",
        ),
        (
            lambda: AdversarialEnvironment(PROBLEM, switching([np.eye(2)]), noise="gausian"),
            r"Did you mean 'gaussian'\?",
        ),
        (lambda: AdversarialEnvironment("path", switching([np.eye(2)])), r"`problem` to be a gbb"),
        (
            lambda: AdversarialEnvironment(TYPED, switching([np.eye(2)])),
            r"`matrices` to have shape \(1, 2, 2, 2\), types x d x d a round",
        ),
        (lambda: drifting(np.ones(2), np.ones(2), period=9), r"`first` to be d x d or types x d"),
        (
            lambda: gbb.simulate(TURNS, [JointOFUL(PROBLEM, cut=CUT)] * 2, rounds=5),
            r"`policies` to have distinct names",
        ),
        (
            lambda: gbb.simulate(
                gbb.Environment(PROBLEM, np.eye(2)), JointOFUL(PROBLEM, cut=CUT), rounds=5, cut=CUT
            ),
            r"`cut` can only be combined with a gbb\.AdversarialEnvironment",
        ),
        (
            lambda: gbb.simulate(
                TURNS,
                JointOFUL(PROBLEM, cut=CUT),
                rounds=5,
                optimum=gbb.optimum.solve(PROBLEM, np.eye(2)),
            ),
            r"`optimum` can only be combined with a gbb\.Environment",
        ),
        (
            lambda: ExponentialWeights(PROBLEM, cut=CUT, rate=0.0),
            r"`rate` to be a finite number > 0",
        ),
        (lambda: DiscountedOFUL(PROBLEM, cut=CUT, gamma=1.1), r"`gamma` to be .* <= 1"),
        (lambda: SlidingWindowOFUL(PROBLEM, cut=CUT, window=0), r"`window` to be a whole number"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(gbb.InputError, match=message):
        call()


def test_the_regret_is_against_the_best_fixed_couple():
    """Couple by couple and round by round, with plain loops."""
    rng = np.random.default_rng(1)
    stack = rng.normal(size=(40, 2, 2))
    env = AdversarialEnvironment(PROBLEM, lambda t: stack[t - 1])
    policy = gbb.policies.UniformRandom(PROBLEM)
    found = gbb.simulate(env, policy, cut=CUT, rounds=40, seed=3)
    earned = found.expected_reward.cumsum("round")
    totals, best_of_rounds = np.zeros(16), 0.0
    for t in range(40):
        frozen = gbb.Environment(PROBLEM, stack[t])
        values = [frozen.expected_reward(CUT.allocation(divmod(couple, 4))) for couple in range(16)]
        totals += values
        best_of_rounds += max(values)
        here, reward = (each.isel(policy=0, run=0, round=t) for each in (found, earned))
        assert float(here.regret + reward) == pytest.approx(totals.max())
        assert float(here.dynamic_regret + reward) == pytest.approx(best_of_rounds)
    assert found.attrs["noise"] == "gaussian"


@pytest.mark.parametrize("feedback", ["edge", "agent", "global"])
@pytest.mark.parametrize("forbid", [False, True])
def test_types_weights_and_allowed_arms_count(feedback, forbid):
    """Every couple and every round as an environment of its own would pay them."""
    rng = np.random.default_rng(2)
    allowed = rng.random((6, 4)) < 0.6 if forbid else np.ones((6, 4), dtype=bool)
    allowed[:, 2] = True
    weights = rng.normal(size=10) * (rng.random(10) < 0.7)
    problem = gbb.Problem(
        GRAPH, PLANE, S=2.0, sigma=0.1, feedback=feedback, allowed=allowed,
        edge_types=TYPED.edge_types, edge_weights=weights,
    )  # fmt: skip
    stack = rng.normal(size=(5, 2, 2, 2))
    env = AdversarialEnvironment(problem, lambda t: stack[t - 1])
    found = env.couple_rewards(CUT, rounds(1, 2, 3, 4, 5))
    policy = gbb.policies.ImprovedOFUL(problem, cut=CUT, radius="complete")
    for t in range(1, 6):
        frozen = gbb.Environment(problem, stack[t - 1])
        for couple in range(16):
            arms = CUT.allocation(divmod(couple, 4))
            playable = np.where(allowed[np.arange(6), arms], arms, allowed.argmax(axis=1))
            assert found[t - 1, couple] == pytest.approx(frozen.expected_reward(playable))
            assert env.expected(t, playable) == frozen.expected_reward(playable)
        drawn = env.draw(t, playable, np.random.default_rng(t))
        assert np.array_equal(drawn, frozen.draw(t, playable, np.random.default_rng(t)))
    played = gbb.simulate(env, policy, rounds=5, keep_allocations=True)
    for t, here in enumerate(played.isel(policy=0, run=0).allocation.values, start=1):
        assert float(played.expected_reward[0, 0, t - 1]) == env.expected(t, here)
        assert allowed[np.arange(6), here].all()
    assert (played.dynamic_regret >= played.regret - 1e-12).all()


def test_policies_of_other_problems_are_refused():
    env = AdversarialEnvironment(PROBLEM, lambda t: np.ones((t.size, 2, 2)))
    twin = gbb.Problem(GRAPH, PLANE, S=PROBLEM.S)
    for policy in (ExponentialWeights(twin, cut=CUT), ImprovedOFUL(TYPED, cut=CUT)):
        with pytest.raises(
            gbb.InputError, match=r"`policies` to play env\.problem, but got another"
        ):
            gbb.simulate(env, policy, rounds=3)


def test_rewards_are_noisy_unless_told_otherwise():
    problem = gbb.Problem(GRAPH, PLANE, S=2.0, sigma=0.5)
    arms, rng = np.zeros(GRAPH.n, dtype=np.int64), np.random.default_rng(0)
    matrices = switching([np.eye(2), -np.eye(2)])
    for settings, sigma in (({}, 0.5), ({"noise": "none"}, 0.0)):
        env = AdversarialEnvironment(problem, matrices, **settings)
        frozen = gbb.Environment(problem, np.eye(2)).expected_edge_rewards(arms)
        off = [env.draw(t, arms, rng) - (frozen if t % 2 else -frozen) for t in range(1, 301)]
        assert np.std(off) == pytest.approx(sigma, rel=0.05)
        assert abs(np.mean(off)) <= 4 * sigma / np.sqrt(np.size(off))


def test_the_couples_are_over_the_policies_own_cut():
    other = gbb.Cut.of(GRAPH, [0, 0, 0, 1, 1, 1])
    stack = np.random.default_rng(0).normal(size=(20, 2, 2))
    env = AdversarialEnvironment(PROBLEM, lambda t: stack[t - 1])
    over_own, over_greedy = (ImprovedOFUL(PROBLEM, cut=c, name=str(c)) for c in (other, CUT))

    def regret(policies, **options):
        return gbb.simulate(env, policies, rounds=20, **options).regret.isel(policy=0).values

    assert np.array_equal(regret(over_own), regret(over_own, cut=other))
    assert not np.allclose(regret(over_own), regret(over_own, cut=CUT))
    assert np.array_equal(regret([over_own, over_greedy]), regret(over_own, cut=CUT))


def test_results_are_saved(tmp_path):
    found = gbb.simulate(TURNS, ExponentialWeights(PROBLEM, cut=CUT), rounds=5, runs=2)
    gbb.save(found, tmp_path / "turns.nc")
    assert gbb.load(tmp_path / "turns.nc").equals(found)


def test_long_runs_are_played_in_blocks(monkeypatch):
    policy = ExponentialWeights(PROBLEM, cut=CUT)
    settings = {"cut": CUT, "rounds": 60, "runs": 2, "record": 7}
    whole = gbb.simulate(TURNS, policy, **settings)
    monkeypatch.setattr("gbb.simulation.baseline.BLOCK", 8)
    assert gbb.simulate(TURNS, policy, **settings).identical(whole)


@pytest.mark.no_cover  # long
def test_following_the_average_loses_every_second_round_and_exponential_weights_do_not():
    policies = [ImprovedOFUL(PROBLEM, cut=CUT), ExponentialWeights(PROBLEM, cut=CUT)]
    found = gbb.simulate(TURNS, policies, cut=CUT, rounds=3000, runs=2, record=[300, 3000])
    slow = found.regret.sel(policy="ImprovedOFUL").mean("run").values
    fast = np.sqrt((found.regret.sel(policy="ExponentialWeights") ** 2).mean("run")).values
    assert slow[1] > 0.25 * PROBLEM.m * 3000
    assert 8 < slow[1] / slow[0] < 12
    assert fast[1] < slow[1] / 10


def test_the_estimates_of_exponential_weights_have_no_bias():
    rng = np.random.default_rng(0)
    problem = gbb.Problem(gbb.Graph.circle(5), rng.normal(size=(3, 2)), S=2.0)
    cut = gbb.cuts.greedy(problem.graph)
    M = rng.normal(size=(2, 2))
    env = gbb.Environment(problem, M, noise="none")
    policy = ExponentialWeights(problem, cut=cut, rate=50.0)
    state = policy.init()
    for _ in range(5):  # away from the uniform weights of the start
        choice = policy.select(state, rng)
        state = policy.update(state, choice, env.draw(1, choice.allocation, rng))
    chances = policy.probabilities(state)
    assert chances.sum() == pytest.approx(1.0)
    assert chances.max() > 0.2
    mean = np.zeros_like(state.total)
    for couple, chance in enumerate(chances):
        arms = divmod(couple, 3)
        choice = gbb.policies.Choice(cut.allocation(arms), arms)
        rewards = env.draw(1, choice.allocation, rng)
        mean += chance * (policy.update(state, choice, rewards).total - state.total)
    half = (M + M.T) / 2
    assert mean == pytest.approx([half[0, 0], np.sqrt(2) * half[0, 1], half[1, 1]])


def test_forgetting_nothing_is_joint_oful():
    env = gbb.Environment(PROBLEM, [[1.0, 0.3], [0.0, -0.5]])
    kinds = [
        JointOFUL(PROBLEM, cut=CUT, name="same"),
        DiscountedOFUL(PROBLEM, cut=CUT, gamma=1.0, name="same"),
        SlidingWindowOFUL(PROBLEM, cut=CUT, window=99, delta=2e-3, name="same"),  # it may yet
    ]
    runs = [
        gbb.simulate(env, policy, rounds=60, seed=2, method="reference", keep_allocations=True)
        for policy in kinds
    ]
    assert np.array_equal(runs[0].allocation, runs[1].allocation)
    assert np.array_equal(runs[0].allocation, runs[2].allocation)


@pytest.mark.no_cover  # long
def test_forgetting_pays_when_the_matrix_drifts():
    first, second = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    arms = np.array([[np.cos(x), np.sin(x)] for x in np.linspace(0, np.pi, 6, endpoint=False)])
    problem = gbb.Problem(GRAPH, arms, sigma=0.3, S=float(np.sqrt(2.0)))
    env = AdversarialEnvironment(problem, drifting(first, second, period=1500), noise="gaussian")
    policies = [
        JointOFUL(problem, cut=CUT),
        DiscountedOFUL(problem, cut=CUT, gamma=0.98),
        SlidingWindowOFUL(problem, cut=CUT, window=50),
    ]
    found = gbb.simulate(env, policies, cut=CUT, rounds=750, record=[750])
    lost = found.dynamic_regret.values.ravel()
    assert lost[1:].max() < 0.5 * lost[0]
