"""Telling and asking in one transaction."""

import pytest

from control import environment, noise_of, replayed, same_state, small, url_of
from gbb import InputError
from gbb.controller import Controller


@pytest.fixture
def controller(tmp_path):
    with Controller.create(url_of(tmp_path), small(), seed=3) as made:
        yield made


def test_next_is_tell_and_ask(controller, tmp_path):
    (tmp_path / "other").mkdir()
    env, rng, same = environment(small()), noise_of(0), noise_of(0)
    with Controller.create(url_of(tmp_path / "other"), small(), seed=3) as other:
        trial, twin = controller.ask(), other.ask()
        for _ in range(20):
            assert trial.arms.tolist() == twin.arms.tolist()
            trial = controller.next(trial, env.draw(1, trial.arms, rng))
            other.tell(twin, env.draw(1, twin.arms, same))
            twin = other.ask()
        assert controller.status()["events"] == other.status()["events"]
    assert same_state(controller._log.state, replayed(controller))


def test_the_same_again_gives_the_same_trial(controller):
    rewards = [0.5] * 12
    first = controller.next(controller.ask(), rewards)
    events = controller.status()["events"]
    again = controller.next(1, rewards)
    assert (again.id, again.arms.tolist()) == (first.id, first.arms.tolist())
    assert controller.status()["events"] == events
    with pytest.raises(InputError, match="already told other `rewards`"):
        controller.next(1, [0.25] * 12)
    controller.fail(first)
    with pytest.raises(InputError, match=r"trial 2, which followed, is closed\. Ask for a trial"):
        controller.next(1, rewards)


def test_with_a_warning_in_between_it_is_the_same_too(controller):
    far = [1e9] * 12
    with pytest.warns(UserWarning, match="12 of 12"):
        first = controller.next(controller.ask(), far)
    assert controller.next(1, far).id == first.id


def test_a_trial_told_before_by_itself_is_followed_by_a_new_one(controller):
    controller.tell(controller.ask(), [0.5] * 12)
    other = controller.ask()
    assert controller.next(1, [0.5] * 12).id == other.id + 1


def test_what_is_refused_asks_for_nothing(controller):
    controller.ask()
    with pytest.raises(InputError):
        controller.next(1, [0.5])
    assert controller.status()["events"] == 2
