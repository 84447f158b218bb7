"""The power goes at any moment: what was acknowledged is there, and nothing is half there."""

import os
import shutil

import numpy as np
import pytest
from power import Disk

import gbb
from control import environment, replayed, same_state, small, url_of
from gbb.controller import Controller, StorageError
from gbb.controller.log import database, log

CUTS = int(os.environ.get("GBB_POWER_CUTS", "200"))
ROUNDS = 60


def record(folder):
    """Rounds on a recorded disk, and the state after each event."""
    folder.mkdir()
    disk, env, rng = Disk(folder), environment(small()), np.random.default_rng(0)
    states = {}
    with disk.recording():
        controller = Controller.create(url_of(folder), small(), seed=3)

        def heard():
            states[controller._log.state.seq] = controller._log.state
            disk.hear(str(controller._log.state.seq))

        heard()
        for turn in range(ROUNDS):
            trial = controller.ask()
            heard()
            controller.tell(trial, env.draw(1, trial.arms, rng))
            heard()
            if turn == ROUNDS // 2:  # the write-ahead file goes, and comes again
                controller._log.store.database.release()  # connections come and go
        controller.close()
    return disk, states


def cut(disk, states, after, count):
    """How many acknowledged events ``count`` cuts lose; what is there must be as it was."""
    first = next(place for place, step in enumerate(disk.steps) if step.kind == "heard")
    rng, lost, early = np.random.default_rng(1), 0, 0
    for turn, place in enumerate(rng.integers(first + 1, len(disk.steps) + 1, size=count)):
        shutil.rmtree(after, ignore_errors=True)
        after.mkdir()
        for name, data in disk.after_a_cut(int(place), rng).items():
            (after / name).write_bytes(data)
        heard = max(int(step.file) for step in disk.steps[:place] if step.kind == "heard")
        try:
            controller = Controller.open(url_of(after))
        except (gbb.InputError, StorageError):
            lost += heard
            continue
        with controller:
            state = controller._log.state
            assert same_state(state, states[state.seq])
            assert turn % 10 or same_state(replayed(controller), state)
            lost += max(0, heard - state.seq)
            early += state.seq < max(states)
            controller.ask()  # it goes on
    assert lost or early > count // 2  # the cuts were cuts
    return lost


def test_a_power_cut_at_any_moment_loses_nothing_acknowledged(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 25)
    disk, states = record(tmp_path / "disk")
    assert cut(disk, states, tmp_path / "after", CUTS) == 0


def test_a_create_that_was_cut_off_can_be_made_again(tmp_path):
    disk, states = record(tmp_path / "disk")
    first = next(place for place, step in enumerate(disk.steps) if step.kind == "heard")
    rng = np.random.default_rng(2)
    for place in range(0, first, 2):
        after = tmp_path / f"after {place}"
        after.mkdir()
        for name, data in disk.after_a_cut(place, rng).items():
            (after / name).write_bytes(data)
        try:
            controller = Controller.open(url_of(after))
        except gbb.InputError as error:  # none is there, and nothing is damaged
            said = str(error)
            controller = Controller.create(url_of(after), small(), seed=3)
        else:
            said = ""
        assert not said or "to lead to a controller" in said or "Cannot tell which" in said
        with controller:
            assert controller.ask().arms.tolist() == states[2].open[1].allocation.tolist()


def test_the_cuts_find_a_program_that_does_not_wait_for_the_disk(tmp_path, monkeypatch):
    def hasty(self):
        connection = waits(self)
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    waits = database.Sqlite._connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database.Sqlite, "_connect", hasty)
        disk, states = record(tmp_path / "disk")
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 25)
    assert cut(disk, states, tmp_path / "after", 20) > 0
