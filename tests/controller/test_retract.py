"""A mistyped reward is taken back: the log keeps it, the record is as if it had never been told."""

import itertools

import numpy as np
import pytest

import gbb
from control import drive, environment, plain, replayed, same_state, small, url_of
from gbb.controller import Controller, RewardWarning
from gbb.controller.log import log


@pytest.fixture
def problem():
    return small(named=True)


def story(url, problem, *, typo, name="default", policy="ImprovedOFUL"):
    """Rounds with rewards that leave roundings behind; with ``typo``, one is first told wrongly."""
    settings = {"exploration": 5} if policy.endswith("ExploreThenCommit") else {}
    if policy == "Conservative":
        settings["baseline"] = np.zeros(problem.n, dtype=int)
    controller = Controller.create(url, problem, policy, seed=1, name=name, **settings)
    env, rng = environment(problem), np.random.default_rng(0)
    drive(controller, env, rng, 3)
    trial = controller.ask()
    if typo:
        with pytest.warns(RewardWarning):
            controller.tell(trial, np.full(problem.m, 1e60))
        controller.retract(trial, "a slip")
    other = controller.ask()
    for each in (trial, other):
        controller.tell(each, env.draw(1, each.arms, rng))
    return controller


@pytest.mark.parametrize(
    "policy", [name for name in gbb.policies.names() if gbb.policies.find(name).controllable]
)
def test_nothing_of_what_was_taken_back_is_left(problem, tmp_path, policy):
    """Not even its rounding: 1e60 added and taken off again would wipe out all the rest."""
    url = url_of(tmp_path)
    typed = story(url, problem, typo=True, policy=policy)
    right = story(url, problem, typo=False, name="right", policy=policy)
    one, other = typed._log.state, right._log.state
    assert plain(one.record) == plain(other.record)
    assert plain(one.memory) == plain(other.memory)
    assert (one.rounds, one.trials, one.out_of_bounds_rounds, one.rng) == (5, 5, 0, other.rng)
    assert typed.recommend().caveat is None
    assert typed.recommend().reward == right.recommend().reward
    assert np.array_equal(typed.ask().arms, right.ask().arms)
    assert same_state(replayed(typed), typed._log.state)


def test_the_trial_is_open_again_and_the_history_shows_it(problem, tmp_path):
    controller = Controller.create(url_of(tmp_path), problem)
    trial = controller.ask()
    rewards = np.arange(problem.m) / 7
    controller.tell(trial, rewards)
    controller.retract(trial, "wrong unit")
    (waiting,) = controller.open_trials()
    assert (waiting.id, waiting.round) == (trial.id, trial.round)
    assert waiting.allocation == trial.allocation
    assert controller.status()["rounds"] == 0
    assert controller._log.state.record.N.sum() == 0
    controller.tell(waiting, rewards * 4)
    controller.tell(waiting, rewards * 4)  # the same again changes nothing
    with pytest.raises(gbb.InputError, match="Trial 1 was already told other `rewards`"):
        controller.tell(trial, rewards)
    kinds = [entry.kind for entry in controller.history()]
    assert kinds == ["create", "ask", "tell", "retract", "tell"]
    first, second = controller.history("tell")
    assert [row[2] for row in first.content["rewards"]] == pytest.approx(rewards)
    assert [row[2] for row in second.content["rewards"]] == pytest.approx(rewards * 4)
    (entry,) = controller.history("retract")
    assert entry.trial_id == 1
    assert entry.content == {"of": 3, "closed_by": "tell", "reason": "wrong unit"}


def test_retracting_again_changes_nothing(problem, tmp_path):
    controller = Controller.create(url_of(tmp_path), problem)
    controller.tell(controller.ask(), np.ones(problem.m))
    controller.retract(1)
    before = controller.status()
    controller.retract(1)
    assert controller.status() == before
    controller.ask()
    with pytest.raises(gbb.InputError, match="`trial` to be closed, but got trial 2, which is ope"):
        controller.retract(2)
    with pytest.raises(gbb.InputError, match="one of the 2 trials asked so far, but got unknown"):
        controller.retract(3)
    with pytest.raises(gbb.InputError, match="`trial` to be a whole number"):
        controller.retract("first")


@pytest.mark.parametrize("kind", ["fail", "abandon"])
def test_giving_up_is_taken_back_too(problem, tmp_path, kind):
    controller = Controller.create(url_of(tmp_path), problem)
    drive(controller, environment(problem), np.random.default_rng(0), 2)
    record = controller._log.state.record
    trial = controller.ask()
    getattr(controller, kind)(trial)
    controller.retract(trial)
    assert plain(controller._log.state.record) == plain(record)
    controller.tell(trial, np.ones(problem.m))
    assert controller.status()["rounds"] == 3
    assert controller.history("retract")[0].content["closed_by"] == kind


@pytest.mark.parametrize("every", [1, 3, 1000])
def test_any_order_over_graphs_discounts_and_snapshots(problem, tmp_path, monkeypatch, every):
    """Tables against a plain sum over what is left, after every combination of retractions."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", every)
    rng = np.random.default_rng(5)
    smaller = gbb.Graph.from_edges([("cell-3", "cell-1")], undirected=True)
    for number, order in enumerate(itertools.permutations([1, 2, 4])):
        controller = Controller.create(url_of(tmp_path), problem, name=f"order-{number}")
        told = {}
        for trial in controller.ask_many(2):
            told[trial.id] = (trial, rng.integers(-7, 8, problem.m).astype(float), 0.25)
            controller.tell(trial, told[trial.id][1])
        controller.discount(0.5)
        controller.abandon(controller.ask())
        controller.replace_graph(smaller)
        trial = controller.ask()
        told[4] = (trial, np.array([3.0, -2.0]), 0.5)
        controller.tell(trial, told[4][1])
        controller.discount(0.5)
        for id in order:
            controller.retract(id)
            del told[id]
            N, Y = np.zeros((3, 3)), np.zeros((3, 3))
            for left, rewards, weight in told.values():
                arms = left.arms
                for (i, j), value in zip(left.graph.edges, rewards, strict=True):
                    N[arms[i], arms[j]] += weight
                    Y[arms[i], arms[j]] += weight * value
            state = controller._log.state
            assert np.array_equal(state.record.N, N)
            assert np.array_equal(state.record.Y, Y)
            again = Controller.open(url_of(tmp_path), f"order-{number}")
            assert same_state(again._log.state, state)
            assert same_state(replayed(controller), state)
        assert sorted(state.open) == [1, 2, 4]
        controller.tell(1, np.ones(problem.m))  # on the graph it was asked on
        controller.tell(4, np.ones(2))
        assert controller._log.state.record.N.sum() == problem.m + 2


@pytest.mark.parametrize("kind", ["fail", "abandon", "tell"])
@pytest.mark.parametrize("policy", ["ImprovedOFUL", "ExploreThenCommit"])
def test_a_trial_opened_again_is_the_trial_that_was_asked(problem, tmp_path, kind, policy):
    """Also after another trial was retracted, which the log without it would not count."""
    settings = {"exploration": 9} if policy == "ExploreThenCommit" else {}
    url = url_of(tmp_path)
    controller = Controller.create(url, problem, policy, seed=1, **settings)
    env, rng = environment(problem), np.random.default_rng(0)
    drive(controller, env, rng, 4)
    first = controller.ask()
    controller.tell(first, np.ones(12))
    controller.retract(first)
    controller.tell(first, np.zeros(12))
    trial = controller.ask()
    asked = controller._log.state.open[trial.id]
    assert trial.round == 6
    for _ in range(2):
        if kind == "tell":
            controller.tell(trial, np.ones(12))
        else:
            getattr(controller, kind)(trial)
        controller.retract(first)  # goes from the record, and not from what the trial was
        controller.tell(first, np.zeros(12))
        controller.retract(trial)
        again = controller._log.state.open[trial.id]
        assert (again.round, again.couple, again.graph) == (asked.round, asked.couple, asked.graph)
        assert np.array_equal(again.allocation, asked.allocation)
        if kind != "tell":
            assert again.setup == asked.setup
    assert same_state(replayed(controller), controller._log.state)
