"""Alerts: drift, misfit, rewards out of bounds, a caveat, stale trials; in status and as events."""

import os
import time

import numpy as np
import pytest

import drift_runs
import gbb
from control import drive, environment, replayed, same_state, small, url_of
from gbb.controller import Controller, RewardWarning
from gbb.controller.log import log
from gbb.controller.state.recent import BLOCK, BLOCKS

RUNS = int(os.environ.get("GBB_DRIFT_RUNS", "4"))


@pytest.fixture
def problem():
    return small(named=True)


@pytest.fixture
def controller(problem, tmp_path):
    with Controller.create(url_of(tmp_path), problem, "JointOFUL", seed=1) as made:
        yield made


def in_force(controller):
    return [(alert["kind"], alert["severity"]) for alert in controller.status()["alerts"]]


def said(controller):
    return [(e.content["alert"], e.content["begins"]) for e in controller.history("alert")]


def test_drift_is_found_end_to_end(problem, tmp_path, monkeypatch):
    """Told on SQLite over snapshots, found, in the history, and gone when old rounds are forgotten."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 70)
    controller = Controller.create(url_of(tmp_path), problem, "JointOFUL", seed=1)
    env, rng = environment(problem), np.random.default_rng(0)
    drive(controller, env, rng, 4 * BLOCK + 7)
    assert in_force(controller) == []
    changed = gbb.Environment(problem, -env.M_star)
    drive(controller, changed, rng, 2 * BLOCK)
    assert in_force(controller) == [("drift", "critical")]
    (alert,) = controller.watch()
    assert alert.kind == "drift"
    assert alert.text.startswith("The last ")
    assert said(controller) == [("drift", True)]
    assert same_state(Controller.open(url_of(tmp_path))._log.state, controller._log.state)
    assert same_state(replayed(controller), controller._log.state)
    controller.discount(1e-9)
    drive(controller, changed, rng, BLOCK)
    assert in_force(controller) == []
    assert said(controller) == [("drift", True), ("drift", False)]
    assert same_state(replayed(controller), controller._log.state)
    controller.check()


def test_a_jump_of_half_the_norm_is_found_in_time():
    """All but one of twenty; ``GBB_DRIFT_RUNS=100`` is the long version."""
    delays = [drift_runs.find_jump("JointOFUL", seed, 200) for seed in range(RUNS)]
    assert sum(bool(delay) for delay in delays) >= 0.95 * RUNS, delays


def test_no_drift_is_found_where_there_is_none():
    assert not any(drift_runs.alarms("ImprovedOFUL", seed, 1000) for seed in range(RUNS))


def test_noise_that_a_round_shares_is_no_drift():
    """Weather that moves all links alike, anew every round, and more than the links' own noise."""
    found = 0
    for seed in range(10):
        told, rng = drift_runs.Told("JointOFUL", seed), np.random.default_rng(seed)
        for _ in range(12 * BLOCK):
            arms = rng.integers(2, size=5)
            paid = 1.0 + 2.0 * rng.standard_normal() + rng.standard_normal(20)
            found += told.tell(arms, paid)
    assert found == 0


@pytest.mark.parametrize("feedback", ["agent", "global"])
def test_drift_of_sums_is_found(tmp_path, feedback):
    plant = gbb.Problem(gbb.Graph.complete(4), np.eye(2), sigma=0.1, S=3.0, feedback=feedback)
    M = np.array([[0.6, 0.2], [0.1, 0.4]])
    url = url_of(tmp_path)
    controller = Controller.create(url, plant, "EpsilonGreedy", seed=1, epsilon=1.0)
    rng = np.random.default_rng(0)
    drive(controller, gbb.Environment(plant, M), rng, 2 * BLOCK)
    assert in_force(controller) == []
    drive(controller, gbb.Environment(plant, M * 0.5), rng, 2 * BLOCK)
    assert in_force(controller) == [("drift", "critical")]
    assert same_state(replayed(controller), controller._log.state)


def test_rewards_out_of_bounds_are_an_alert_until_they_are_long_ago(controller, problem):
    rng = np.random.default_rng(0)
    with pytest.warns(RewardWarning):
        controller.tell(controller.ask(), np.full(problem.m, 50.0))
    assert in_force(controller) == [("bounds", "warning"), ("caveat", "warning")]
    first = controller.status()["alerts"][0]
    assert first["text"].startswith("1 of the last 1 rounds told rewards outside the declared")
    assert first["since"].endswith("+00:00")
    assert said(controller) == [("bounds", True), ("caveat", True)]
    drive(controller, environment(problem), rng, BLOCK * (BLOCKS + 1))
    assert ("bounds", "warning") not in in_force(controller)
    assert ("caveat", "warning") in in_force(controller)
    controller.retract(1)
    assert ("caveat", "warning") not in in_force(controller)
    assert ("caveat", False) in said(controller)
    assert same_state(replayed(controller), controller._log.state)


def test_a_retraction_ends_both(controller, problem):
    with pytest.warns(RewardWarning):
        controller.tell(controller.ask(), np.full(problem.m, 50.0))
    controller.retract(1)
    assert in_force(controller) == []
    assert said(controller)[2:] == [("bounds", False), ("caveat", False)]


def test_stale_trials_are_an_alert_until_they_are_closed(controller, problem):
    old = controller.ask()
    time.sleep(0.02)
    assert controller.watch(stale=60.0) == []
    (alert,) = controller.watch(stale=0.01)
    assert (alert.kind, alert.severity) == ("stale", "warning")
    assert alert.text.startswith("Trial 1 not told for too long")
    assert controller.watch(stale=0.01) == [alert]
    assert controller.watch() == [alert]  # still open, and nobody says it is fine
    new = controller.ask()
    controller.tell(old, np.zeros(problem.m))
    assert in_force(controller) == []
    controller.tell(new, np.zeros(problem.m))
    assert said(controller) == [("stale", True), ("stale", False)]
    with pytest.raises(gbb.InputError, match="Expected `stale` to be a finite number >= 0"):
        controller.watch(stale=-1.0)


def test_a_model_that_does_not_fit_is_an_alert(tmp_path):
    """Rewards that depend on the link and not on its arms' product."""
    plant = gbb.Problem(gbb.Graph.complete(4), np.eye(3), sigma=0.5, S=30.0)
    controller = Controller.create(url_of(tmp_path), plant, "UniformRandom", seed=1)
    rng = np.random.default_rng(0)
    tables = 3.0 * rng.standard_normal((plant.m, 3, 3))
    sources, targets = plant.graph.edges.T
    for trial in controller.ask_many(300):
        paid = tables[np.arange(plant.m), trial.arms[sources], trial.arms[targets]]
        controller.tell(trial, paid + 0.5 * rng.standard_normal(plant.m))
    kinds = [alert.kind for alert in controller.watch()]
    assert "misfit" in kinds
    assert "misfit" in [alert.kind for alert in controller.watch()]
    assert said(controller).count(("misfit", True)) == 1
    assert same_state(replayed(controller), controller._log.state)


def test_what_is_new_starts_with_no_alert(controller):
    assert controller.watch() == []
    assert controller.status()["alerts"] == []
    assert controller.status()["events"] == 1
