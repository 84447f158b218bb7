"""Trials that time out if asked to: closed by an event, so that a replay needs no clock."""

import time

import numpy as np
import pytest

import gbb
from control import replayed, same_state, small, url_of
from gbb.controller import Controller
from gbb.controller.log import log


@pytest.fixture
def problem():
    return small(named=True)


@pytest.fixture
def controller(problem, tmp_path):
    with Controller.create(url_of(tmp_path), problem, seed=1) as made:
        yield made


def test_a_trial_that_is_overdue_is_closed_by_the_next_call(controller, problem):
    late, patient = controller.ask(timeout=0.01), controller.ask()
    soon = controller.ask(timeout=3600.0)
    time.sleep(0.02)
    controller.tell(patient, np.ones(problem.m))
    assert [trial.id for trial in controller.open_trials()] == [soon.id]
    (entry,) = controller.history("timeout")
    assert entry.trial_id == late.id
    assert entry.content == {"reason": "timed out after 0.01 s"}
    with pytest.raises(gbb.InputError, match=r"trial 1, which timed out after 0.01 s\. Retract it"):
        controller.tell(late, np.ones(problem.m))
    with pytest.raises(gbb.InputError, match="trial 1, which timed out after"):
        controller.abandon(late)
    controller.fail(late)  # says the same
    assert same_state(replayed(controller), controller._log.state)


def test_its_rewards_are_taken_after_a_retraction(controller, problem):
    late = controller.ask(timeout=0.01)
    time.sleep(0.02)
    controller.watch()
    assert controller.open_trials() == []
    controller.retract(late)
    controller.watch()  # it has all the time there is
    controller.tell(late, np.ones(problem.m))
    assert controller.status()["rounds"] == 1
    assert [e.content["closed_by"] for e in controller.history("retract")] == ["timeout"]
    assert same_state(replayed(controller), controller._log.state)


def test_rewards_that_come_before_anybody_closed_it_are_taken(controller, problem):
    late = controller.ask(timeout=0.01)
    time.sleep(0.02)
    controller.tell(late, np.ones(problem.m))
    assert controller.status()["rounds"] == 1
    assert controller.history("timeout") == []


def test_deadlines_survive_snapshots(problem, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 1)
    controller = Controller.create(url_of(tmp_path), problem, seed=1)
    controller.ask_many(2, timeout=0.5)
    controller.fail(1)
    controller.retract(1)
    again = Controller.open(url_of(tmp_path))
    state = again._log.state
    assert same_state(state, controller._log.state)
    assert state.open[1].deadline is None
    assert state.open[2].deadline == pytest.approx(state.open[2].since + 0.5)
    time.sleep(0.6)
    again.ask()
    assert [trial.id for trial in again.open_trials()] == [1, 3]


def test_wrong_timeouts_are_refused(controller):
    for wrong in (0, -1.0, float("nan"), float("inf"), "soon"):
        with pytest.raises(gbb.InputError, match="Expected `timeout` to be a finite number > 0"):
            controller.ask(timeout=wrong)
    assert controller.status()["events"] == 1
