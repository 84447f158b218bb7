"""Servers that are killed under clients that retry: nothing is lost, nothing happens twice."""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from control import plain, small, url_of
from gbb.client import Client
from gbb.controller import Controller

KILLS = int(os.environ.get("GBB_SERVE_KILLS", "3"))
"""How often a server is killed; 100 times in the long version."""

CLIENTS = 8
PROBLEM = small(named=True)


def rewards_of(trial: int) -> np.ndarray:
    return np.random.default_rng(trial).normal(size=PROBLEM.m)


class Clients:
    """Clients, each in a thread of its own, until they are told to stop; what was acknowledged."""

    def __init__(self, urls: list[str]) -> None:
        self.acknowledged: list[tuple[str, int]] = []
        self.failures: list[BaseException] = []
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(urls[i % len(urls)], i))
            for i in range(CLIENTS)
        ]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in self._threads)

    def _run(self, url: str, number: int) -> None:
        rng = random.Random(number)
        try:
            with Client(url, "farm", patience=100.0) as client:
                while not self._stop.is_set():
                    self._round(client, rng)
        except BaseException as error:
            self.failures.append(error)

    def _round(self, client: Client, rng: random.Random) -> None:
        trial = client.ask()
        self._note("ask", trial.id)
        if rng.random() < 0.2:
            client.fail(trial, "storm")
            self._note("fail", trial.id)
            return
        if rng.random() < 0.3:
            other = client.next(trial, rewards_of(trial.id))
            self._note("tell", trial.id)
            self._note("ask", other.id)
            trial = other
        client.tell(trial, rewards_of(trial.id))
        self._note("tell", trial.id)

    def _note(self, kind: str, trial: int) -> None:
        self.acknowledged.append((kind, trial))


def check_log(url: str, clients: Clients) -> None:
    """The log has what was acknowledged and no more, and is that of calls without interruption."""
    assert not clients.failures, clients.failures
    with Controller.open(url, "farm") as controller:
        controller.check()
        entries = controller.history(["ask", "tell", "fail"])
        kept = [(entry.kind, entry.trial_id) for entry in entries]
        assert sorted(kept) == sorted(clients.acknowledged)
        assert len(set(kept)) == len(kept)
        assert {entry.by for entry in entries} == {"local"}
        state = controller._log.state
    asked = [entry.content["allocation"] for entry in entries if entry.kind == "ask"]
    again = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Controller.create(url_of(Path(folder)), PROBLEM, seed=5) as other,
    ):
        for kind, trial in kept:
            if kind == "ask":
                again.append(other.ask().allocation)
            elif kind == "tell":
                other.tell(trial, rewards_of(trial))
            else:
                other.fail(trial, "storm")
        uninterrupted = other._log.state
    assert again == asked
    for name in ("rng", "rounds", "trials"):
        assert getattr(state, name) == getattr(uninterrupted, name)
    for name in ("memory", "record"):
        assert plain(getattr(state, name)) == plain(getattr(uninterrupted, name))


def kill_often(forks, url: str, servers: int = 1) -> None:
    """Kill one server after the other, while clients ask and tell."""
    running = [forks.start(url) for _ in range(servers)]
    try:
        Client.create(running[0].url, PROBLEM, seed=5, name="farm").close()
        rng = random.Random(KILLS)
        with Clients([server.url for server in running]) as clients:
            for number in range(KILLS):
                time.sleep(rng.uniform(0.05, 0.4))
                place = number % servers
                running[place].kill()
                running[place] = forks.start(url, running[place].port)
            time.sleep(0.3)
        check_log(url, clients)
        assert len(clients.acknowledged) > CLIENTS
    finally:
        for server in running:
            server.stop()


def test_a_killed_server_loses_nothing_and_does_nothing_twice(forks, tmp_path):
    kill_often(forks, f"sqlite:///{tmp_path / 'farm.db'}")


def test_the_same_on_postgresql(forks, postgres_url):
    kill_often(forks, postgres_url)


def test_two_servers_on_one_postgresql(forks, postgres_url):
    kill_often(forks, postgres_url, servers=2)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_that_was_lost_on_the_way_is_given_again(forks, tmp_path, when):
    """The connection breaks before the server has read a request, or after it has done it."""
    lost = []
    with (
        forks.serving(f"sqlite:///{tmp_path / 'farm.db'}") as server,
        Client.create(server.url, PROBLEM, name="farm") as client,
    ):
        attempt = client._wire._attempt

        def lose(*given):
            if len(lost) < 3:
                lost.append(given)
                if when == "after":
                    attempt(*given)
                raise ConnectionResetError(104, "Connection reset by peer")
            return attempt(*given)

        client._wire._attempt = lose
        assert client.ask().id == 1
        assert len(lost) == 3
        assert client.status()["trials"] == 1
        keys = {given[3]["Idempotency-Key"] for given in lost}
        assert len(keys) == 1
