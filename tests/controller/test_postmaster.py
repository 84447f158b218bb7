"""The server's first process is killed while others write: nothing acknowledged is lost."""

import multiprocessing
import os
import signal
import time
from collections import Counter
from subprocess import SubprocessError

import pytest
from test_processes import rewards_of

from control import replayed, same_state, small
from gbb.controller import Controller, StorageError
from postgres_server import running_server

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLS = int(os.environ.get("GBB_CRASH_KILLS", "200")) // 70
WRITERS = 3


def insist(call, *args):
    """Call until there is an answer."""
    while True:
        try:
            return call(*args)
        except StorageError:
            time.sleep(0.1)


def write(url, stop, queue):
    """Ask and tell, and give what was acknowledged."""
    acknowledged = []
    controller = insist(Controller.open, url)
    while not stop.is_set():
        trial = insist(controller.ask).id
        acknowledged.append(("ask", trial))
        insist(controller.tell, trial, rewards_of(trial))
        acknowledged.append(("tell", trial))
    queue.put(acknowledged)


def kill_and_start(server):
    """SIGKILL, and a new start once the killed server's other processes have gone."""
    os.kill(server.get_pid(), signal.SIGKILL)
    for _ in range(60):
        time.sleep(0.5)
        try:
            server.ensure_postgres_running()
        except SubprocessError:
            continue
        try:
            Controller.open(server.get_uri()).close()
        except StorageError:
            continue
        return
    raise AssertionError("the server does not start again")


def test_a_killed_postmaster_loses_nothing_acknowledged():
    context = multiprocessing.get_context("fork")
    stop, queue = context.Event(), context.Queue()
    with running_server() as server:
        url = server.get_uri()
        Controller.create(url, small(), seed=1).close()
        writers = [context.Process(target=write, args=(url, stop, queue)) for _ in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(KILLS):
                time.sleep(1.0)
                kill_and_start(server)
            time.sleep(1.0)
            stop.set()
            acknowledged = [each for _ in writers for each in queue.get(timeout=120)]
        finally:
            for writer in writers:
                writer.kill()
        with Controller.open(url) as controller:
            logged = Counter((e.kind, e.trial_id) for e in controller.history(("ask", "tell")))
            assert set(logged.values()) == {1}
            assert set(acknowledged) <= set(logged)
            assert len(acknowledged) > 20 * KILLS
            told = {trial for kind, trial in logged if kind == "tell"}
            assert told == {trial for kind, trial in acknowledged if kind == "tell"}
            assert controller.check().events == controller.status()["events"]
            assert same_state(replayed(controller), controller._log.state)
