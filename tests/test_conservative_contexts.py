"""The conservative wrapper where what the baseline pays changes with what is known before a round."""

import numpy as np
import pytest

import gbb
from gbb.contexts import EdgeTypes, Regimes
from gbb.learning.radius import confidence_radius, delta_after
from gbb.policies import Choice, Conservative
from gbb.simulation import play

GRAPH = gbb.Graph.grid(2, 3)
SCALES = np.array([1.0, 0.05, 0.4])
TABLE = np.array([[0.1, 0.1, 0.7], [0.1, 0.6, 0.3], [1.0, 0.9, 0.7]])
BASELINE = np.ones(GRAPH.n, dtype=np.int64)


def make(eps=0.2, sigma=0.2, contexts=None, feedback="agent", **settings):
    """A problem of three regimes, one of which pays next to nothing, and a policy held back in it."""
    problem = gbb.Problem(
        GRAPH, np.eye(3), sigma=sigma, S=3.0, feedback=feedback, contexts=contexts or Regimes(3)
    )
    env = gbb.Environment(problem, SCALES[: problem.types, None, None] * TABLE)
    settings = {
        "baseline_reward": lambda regime: env.at(regime).expected_reward(BASELINE),
        "policy": gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(GRAPH)),
        "baseline": BASELINE,
        "floor": 0.0,
        **settings,
    }
    return env, Conservative(problem, eps=eps, **settings)


def pays(env, regimes):
    """What the baseline pays in each of the rounds."""
    return np.array([env.at(int(each)).expected_reward(BASELINE) for each in regimes])


@pytest.mark.parametrize("feedback", ["agent", "edge"])
def test_what_is_kept_is_a_share_of_what_the_baseline_would_have_paid_round_by_round(feedback):
    """The best rounds come last: a promise by the number of rounds would be broken in them."""
    regimes = np.concatenate([np.full(150, 1), np.tile([2, 0], 60)])
    for seed in range(5):
        env, policy = make(feedback=feedback)
        env = env.during(regimes)
        rounds = list(play(env, policy, len(regimes), seed))
        earned = np.cumsum([each.expected for each in rounds])
        assert (earned >= 0.8 * np.cumsum(pays(env, regimes))).all()
        books = policy.report(rounds[-1].state)
        assert books["promised"] == pytest.approx(0.8 * pays(env, regimes).sum())
        assert 0.0 <= books["left"] <= books["earned"] - books["promised"] + 1e-9
        assert 0 < books["away"] < len(regimes)


def test_a_round_away_is_affordable_exactly_when_the_rounds_so_far_have_saved_for_it():
    """With rounds that pay 0.05 of the best one, twenty save as much as one round of the best."""
    env, policy = make(sigma=1e-9)
    rng, state = np.random.default_rng(0), policy.init()
    best, poor = pays(env, [0])[0], pays(env, [1])[0]
    home = Choice(BASELINE)
    for saved in range(200):
        away = policy.at(0).select(state, rng)
        kept = np.array_equal(away.allocation, BASELINE)
        if not kept:  # nothing is known yet: such a round may pay the floor, 0
            assert 0.2 * saved * poor >= 0.8 * best - 1e-9
            break
        assert 0.2 * saved * poor < 0.8 * best
        state = policy.at(1).on_ask(state, saved, home)
    assert not kept


def test_a_round_that_was_not_played_leaves_nothing_behind():
    _, policy = make()
    state = policy.init()
    for trial, (regime, arms) in enumerate([(0, BASELINE), (2, 0 * BASELINE), (1, BASELINE)]):
        state = policy.at(regime).on_ask(state, trial, Choice(arms))
    before = state.ledger
    for regime in (0, 1, 2):
        for arms in (BASELINE, 0 * BASELINE):
            after = policy.at(regime).on_ask(state, 9, Choice(arms))
            back = policy.at(regime).on_close(after, 9, Choice(arms), None)
            assert back.ledger.at_baseline == before.at_baseline
            assert back.ledger.away == before.away


@pytest.mark.parametrize("known", [True, False])
def test_with_one_context_for_all_rounds_choices_are_those_without(known):
    plain = gbb.Problem(GRAPH, np.eye(3), sigma=0.2, S=3.0, feedback="agent")
    alone = gbb.Environment(plain, TABLE)
    reward = alone.expected_reward(BASELINE)
    inner = gbb.policies.ThompsonSampling(plain, cut=gbb.cuts.greedy(GRAPH))
    given = {"baseline": BASELINE, "eps": 0.2, "floor": 0.0}
    policy = Conservative(plain, policy=inner, baseline_reward=reward if known else None, **given)
    expected = list(play(alone, policy, 80, 3))
    env, held = make(contexts=Regimes(1), **({} if known else {"baseline_reward": None}))
    found = list(play(gbb.Environment(env.problem, TABLE).during([0] * 80), held, 80, 3))
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one.choice.allocation, other.choice.allocation)
    assert policy.report(expected[-1].state)["left"] == pytest.approx(
        held.report(found[-1].state)["left"]
    )


def test_links_that_are_down_are_not_missed():
    """An agent without links reports nothing, and what it cannot pay is no part of a round."""
    types = np.where((GRAPH.edges == 0).any(axis=1), -1, 0)
    _, policy = make(contexts=EdgeTypes(3), baseline_reward=lambda _: 1.0)
    now = policy.at(types)
    assert now.problem.report.nonzero.tolist() == [False] + [True] * 5
    paid = np.append(np.nan, np.full(5, 0.3))
    choice = Choice(0 * BASELINE)
    state = now.on_close(now.on_ask(policy.init(), 1, choice), 1, choice, paid)
    assert state.ledger.missing.size == 0
    assert state.ledger.away.observed == 5


@pytest.mark.parametrize("feedback", ["agent", "edge", "link", "global"])
def test_a_round_in_which_every_link_is_down_can_be_played(feedback):
    env, policy = make(contexts=EdgeTypes(3), feedback=feedback, baseline_reward=lambda _: 0.0)
    types = [np.full(GRAPH.m, -1)] * 5
    rounds = list(play(env.during(types), policy, 5, 0))
    assert [each.expected for each in rounds] == [0.0] * 5
    assert policy.report(rounds[-1].state)["left"] == 0.0


def test_what_is_missing_of_one_regime_is_as_uncertain_in_all_others():
    """Regime 0 is known to the last digit, and of regime 1, which pays less than nothing, nothing is."""
    env, policy = make(sigma=1e-6, contexts=Regimes(2), floor=None, feedback="edge")
    env = gbb.Environment(env.problem, np.stack([TABLE, -TABLE]))
    policy = Conservative(
        env.problem, baseline=BASELINE, baseline_reward=lambda regime: 1.0 - regime
    )
    state, rng, there = policy.init(), np.random.default_rng(0), env.during([0])
    for _ in range(200):
        choice = Choice(rng.integers(0, 3, GRAPH.n))
        state = policy.at(0).update(state, choice, there.draw(1, choice.allocation, rng))
    worst = np.full(GRAPH.n, 2)
    later = policy.at(1).on_ask(state, 1, Choice(worst))
    before, after = (policy.at(0).report(each)["earned"] for each in (state, later))
    assert after - before <= env.at(1).expected_reward(worst) < 0.0


def test_the_baseline_is_estimated_by_the_rounds_that_it_played_not_by_their_links():
    _, policy = make(contexts=EdgeTypes(3), feedback="edge", baseline_reward=None)
    everything = np.zeros(GRAPH.m, dtype=int)
    few = np.where(np.arange(GRAPH.m) < 2, 0, -1)
    state = policy.init()
    for _ in range(100):
        state = policy.at(everything).update(state, Choice(BASELINE), np.full(GRAPH.m, 0.5))
    for now in (policy.at(everything), policy.at(few), policy):
        low, high = now.baseline_bounds(state)
        assert low < 0.5 * GRAPH.m < high
    for _ in range(100):
        paid = np.where(np.arange(GRAPH.m) < 2, 0.25 * GRAPH.m, 0.0)
        state = policy.at(few).update(state, Choice(BASELINE), paid)
    low, high = policy.at(few).baseline_bounds(state)
    assert (low + high) / 2 == pytest.approx(0.5 * GRAPH.m)


def test_with_single_directions_the_set_is_in_all_dimensions_in_every_round():
    _, policy = make(feedback="edge")
    rewards = np.where(GRAPH.sources < GRAPH.indices, 1.0, np.nan)
    state = policy.at(1).update(policy.init(), Choice(BASELINE), rewards)
    delta = policy.learner.delta
    for now in (policy.at(0), policy.at(1), policy):
        _, ridge, radius = now._promise(state)
        assert not ridge.symmetric
        least = confidence_radius(ridge, delta_after(1, delta), shrinking=True)
        assert radius == least


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"max_changes": 2}, "`max_changes` cannot be combined with contexts"),
        (
            {"max_changes": 2, "baseline_reward": 1.0},
            "`max_changes` cannot be combined with contexts",
        ),
        ({"baseline_reward": lambda _: -1.0}, "`baseline_reward` to be .*>= 0"),
        ({"baseline_reward": lambda _: "much"}, "`baseline_reward` to be a"),
    ],
)
def test_bad_settings_are_named(settings, text):
    with pytest.raises(gbb.InputError, match=text):
        make(**settings)[1].at(1)


def test_a_function_needs_contexts():
    problem = gbb.Problem(GRAPH, np.eye(3))
    with pytest.raises(gbb.InputError, match="`baseline_reward` to be a number for"):
        Conservative(problem, baseline_reward=lambda _: 1.0)
