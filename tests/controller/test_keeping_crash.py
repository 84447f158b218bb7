"""Killed while it imports, backs up, restores, renames, copies or deletes: all of it or nothing."""

import itertools
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

from control import replayed, same_state, small, url_of
from gbb.controller import Controller, restore
from gbb.controller.log.backup import Backup
from gbb.controller.log.store import Store, list_studies

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLS = int(os.environ.get("GBB_KEEPING_KILLS", "12"))
ROUNDS = 40


def table() -> pd.DataFrame:
    """Rounds of one link each, under the keys 0 to 39."""
    rng = np.random.default_rng(0)
    played, paid = rng.integers(3, size=(ROUNDS, 2)).T, rng.normal(size=ROUNDS)
    columns = {"source": 0, "target": 1, "source_arm": played[0], "target_arm": played[1]}
    return pd.DataFrame({"key": range(ROUNDS), **columns, "reward": paid})


def keep(url: str, folder, start: int) -> None:
    """Everything that there is to do, over and over."""
    rounds, backup, other = table(), folder / "backup.jsonl", f"sqlite:///{folder / 'other.db'}"
    for k in itertools.count(start):
        with Controller.open(url, find_name(url)) as controller:
            controller.import_rounds(rounds, prefix=f"{k}-")
            controller.rename(f"main-{k}")
            controller.backup(backup)
            with controller.copy(f"copy-{k}") as twin:
                twin.delete(twin.name)
        for name in names_in(other) if (folder / "other.db").exists() else ():
            with Controller.open(other, name) as old:
                old.delete(name)
        restore(backup, other)


def names_in(url: str) -> list[str]:
    store = Store(url, create=True)
    try:
        with store.database.read() as connection:
            return sorted(list_studies(connection))
    finally:
        store.close()


def find_name(url: str) -> str:
    """The one that is no copy."""
    return next(name for name in names_in(url) if name.startswith("main"))


def kill_after(url: str, folder, start: int, delay: float) -> None:
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(go, b"x")
            keep(url, folder, start)
        finally:
            os._exit(1)
    os.close(go)
    os.read(ready, 1)
    os.close(ready)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL  # and no error before


def test_nothing_half_is_left(tmp_path):
    url, rng = url_of(tmp_path), np.random.default_rng(1)
    Controller.create(url, small(), seed=5, name="main").close()
    rounds = 0
    for kill in range(KILLS):
        kill_after(url, tmp_path, 1000 * kill, rng.uniform(0.0, 0.4))
        for place in (url, f"sqlite:///{tmp_path / 'other.db'}"):
            if place != url and not (tmp_path / "other.db").exists():
                continue
            for name in names_in(place):
                with Controller.open(place, name) as controller:
                    state = controller._log.state
                    controller.check()
                assert state.rounds % ROUNDS == 0
                assert len(state.keys) == state.rounds
        with Controller.open(url, find_name(url)) as controller:
            assert controller._log.state.rounds >= rounds
            rounds = controller._log.state.rounds
        for left in names_in(url):
            if left.startswith("copy"):
                Controller.open(url, left).delete(left)
        if (tmp_path / "backup.jsonl").exists():
            assert Backup(tmp_path / "backup.jsonl").names()
    with Controller.open(url) as controller:
        assert same_state(replayed(controller), controller._log.state)
    assert rounds > 0
