"""Many processes on one storage: nothing lost, nothing counted twice, no deadlock."""

import itertools
import multiprocessing
import os
import traceback
from collections import Counter

import numpy as np
import pytest

from control import replayed, same_state, small, url_of
from gbb.controller import Controller
from gbb.controller.storage import database

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

PROCESSES, ASKS = 8, 10
TELLS = int(os.environ.get("GBB_RACING_TELLS", "2000"))
"""A write that is lost once in 600 is noticed with a probability of 0.96."""

STILL = 300
"""Seconds without a single step of any process after which they count as deadlocked."""

WAIT = 4 * STILL
"""Seconds for which one process may be passed over while others go on."""


def rewards_of(trial):
    """Whole numbers, so that sums are exact in any order."""
    return np.full(12, float(trial % 7))


def work(url, tells, step):
    """Ask a few at a time and tell them, now and then twice; give what was acknowledged."""
    told = []
    with Controller.open(url) as controller:
        while len(told) < tells:
            trials = controller.ask_many(min(ASKS, tells - len(told)))
            for trial in trials[::-1]:
                controller.tell(trial, rewards_of(trial.id))
                told.append(trial.id)
                step()
                if trial.id % 20 == 0:
                    controller.tell(trial.id, rewards_of(trial.id))
    return told


def run_one(target, url, args, queue):
    """Report every step, and in the end what came out or what went wrong."""
    try:
        queue.put(("done", target(url, *args, lambda: queue.put(("step", None)))))
    except BaseException:
        queue.put(("failed", traceback.format_exc()))
        raise


def run_workers(url, target, args):
    """What the processes give. They may be as slow as the machine is, but must not stand still."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "WAIT", WAIT)  # a busy machine is no reason to give up
        workers = [
            context.Process(target=run_one, args=(target, url, args, queue))
            for _ in range(PROCESSES)
        ]
        for worker in workers:
            worker.start()
    answers = []
    try:
        while len(answers) < PROCESSES:
            what, value = queue.get(timeout=STILL)
            assert what != "failed", value
            if what == "done":
                answers.append(value)
        for worker in workers:
            worker.join(STILL)
            assert worker.exitcode == 0
    finally:
        for worker in workers:
            worker.kill()
    return answers


def check_processes(url):
    Controller.create(url, small(), "ImprovedOFUL", seed=4).close()
    told = itertools.chain.from_iterable(run_workers(url, work, (TELLS // PROCESSES,)))
    assert sorted(told) == list(range(1, TELLS + 1))
    controller = Controller.open(url)
    state = controller._log.state
    assert (state.rounds, state.trials, len(state.open)) == (TELLS, TELLS, 0)
    assert state.record.N.sum() == 12 * TELLS
    assert state.record.Y.sum() == 12 * sum(trial % 7 for trial in range(1, TELLS + 1))
    kinds = Counter(entry.kind for entry in controller.history())
    assert kinds == {"create": 1, "ask": TELLS, "tell": TELLS}
    assert same_state(replayed(controller), state)


@pytest.mark.no_cover  # long
def test_eight_processes_on_one_sqlite_file(tmp_path):
    check_processes(url_of(tmp_path))


def race(url, step):
    """All at once: make the same controller, tell the same trial."""
    made = 1
    try:
        Controller.create(url, small(), name="raced").close()
    except ValueError as error:
        made = 0 if "which is there already" in str(error) else -9
    with Controller.open(url, "first") as controller:
        for trial in range(1, 11):
            controller.tell(trial, rewards_of(trial))
            step()
    return made


def check_race(url):
    controller = Controller.create(url, small(), name="first")
    controller.ask_many(10)
    controller.close()
    assert sum(run_workers(url, race, ())) == 1
    again = Controller.open(url, "first")
    assert again.status()["rounds"] == 10
    assert len(again.history("tell")) == 10


def test_racing_for_the_same_thing_has_one_winner(tmp_path):
    check_race(url_of(tmp_path))
