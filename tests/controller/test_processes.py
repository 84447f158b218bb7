"""Many processes on one storage: nothing lost, nothing counted twice, no deadlock."""

import itertools
import multiprocessing
import os
import threading
import time
import traceback
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

from control import context_for, replayed, same_state, small, url_of
from gbb.controller import Controller
from gbb.controller.log import database

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

PROCESSES, ASKS = 8, 10
TELLS = int(os.environ.get("GBB_RACING_TELLS", "1000"))
"""A write that is lost once in 300 is noticed with a probability of 0.96."""

STILL = 300
"""Seconds without a single step of any process after which they count as deadlocked."""

WAIT = 4 * STILL
"""Seconds for which one process may be passed over while others go on."""


def rewards_of(trial, numbers=12):
    """Whole numbers, so that sums are exact in any order."""
    return np.full(numbers, float(trial % 7))


def work(url, tells, step):
    """Ask a few at a time and tell them, now and then twice; give what was acknowledged."""
    told = []
    with Controller.open(url) as controller:
        numbers = controller.problem.observations
        while len(told) < tells:
            count = min(ASKS, tells - len(told))
            known = [context_for(controller.problem, len(told) + k) for k in range(count)]
            trials = controller.ask_many(count, contexts=known)
            for trial in trials[::-1]:
                controller.tell(trial, rewards_of(trial.id, numbers))
                told.append(trial.id)
                step()
                if trial.id % 20 == 0:
                    controller.tell(trial.id, rewards_of(trial.id, numbers))
    return told


def run_one(target, url, args, queue):
    """Report every step, and in the end what came out or what went wrong."""
    try:
        queue.put(("done", target(url, *args, lambda: queue.put(("step", None)))))
    except BaseException:
        queue.put(("failed", traceback.format_exc()))
        raise


def run_workers(url, target, args, count=PROCESSES):
    """What the processes give. They may be as slow as the machine is, but must not stand still."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "WAIT", WAIT)  # a busy machine is no reason to give up
        workers = [
            context.Process(target=run_one, args=(target, url, args, queue)) for _ in range(count)
        ]
        for worker in workers:
            worker.start()
    answers = []
    try:
        while len(answers) < count:
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


def check_processes(url, feedback="edge", tells=TELLS, contexts=None):
    problem = small(feedback=feedback, contexts=contexts)
    policy = "ImprovedOFUL" if contexts is None else "JointOFUL"
    Controller.create(url, problem, policy, seed=4).close()
    told = itertools.chain.from_iterable(run_workers(url, work, (tells // PROCESSES,)))
    assert sorted(told) == list(range(1, tells + 1))
    controller = Controller.open(url)
    state = controller._log.state
    assert (state.rounds, state.trials, len(state.open)) == (tells, tells, 0)
    assert state.record.N.sum() == problem.gram_growth_per_round * tells
    assert state.record.Y.sum() == 12 * sum(trial % 7 for trial in range(1, tells + 1))
    kinds = Counter(entry.kind for entry in controller.history() if entry.kind != "alert")
    assert kinds == {"create": 1, "ask": tells, "tell": tells}
    if contexts is not None:
        asked = Counter(entry.content["context"] for entry in controller.history("ask"))
        assert [12 * asked[name] for name in ("day", "night")] == state.record.N.sum(
            (1, 2)
        ).tolist()
    assert same_state(replayed(controller), state)


@pytest.mark.no_cover  # long
@pytest.mark.parametrize(
    ("feedback", "tells", "contexts"),
    [
        ("edge", TELLS, None),
        ("link", min(TELLS, 160), None),
        ("edge", min(TELLS, 160), "regimes"),
    ],
)
def test_eight_processes_on_one_sqlite_file(feedback, tells, contexts, tmp_path):
    check_processes(url_of(tmp_path), feedback, tells, contexts)


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


class Call(NamedTuple):
    """A call of one process: when it began and ended, and what it was told."""

    kind: str
    began: int
    ended: int
    answer: Any


def act(url, count, step):
    """Calls of all kinds, in an order of the process's own."""
    rng, calls, waiting = np.random.default_rng(os.getpid()), [], []

    def call(kind, function, *args):
        began = time.monotonic_ns()  # one clock for all processes
        answer = function(*args)
        calls.append([kind, began, time.monotonic_ns(), answer])
        step()
        return answer

    with Controller.open(url) as controller:
        for _ in range(count):
            kind = rng.choice(["ask", "tell", "abandon", "status"], p=[0.4, 0.3, 0.1, 0.2])
            if kind == "status":
                call(kind, controller.status)
            elif kind == "ask" or not waiting:
                waiting.append(call("ask", controller.ask).id)
                calls[-1][-1] = waiting[-1]
            else:
                trial = waiting.pop(int(rng.integers(len(waiting))))
                more = (rewards_of(trial),) if kind == "tell" else ()
                call(kind, getattr(controller, kind), trial, *more)
                calls[-1][-1] = trial
    return calls


def check_linearisable(url, count=60):
    """The log is an order of all calls in which each answer is right and none comes before its time."""
    Controller.create(url, small(), "ImprovedOFUL", seed=4).close()
    answers = run_workers(url, act, (count,), count=5)
    calls = [Call(*each) for each in itertools.chain.from_iterable(answers)]
    controller = Controller.open(url)
    entries = [(entry.kind, entry.trial_id) for entry in controller.history()]
    places = {entry: seq for seq, entry in enumerate(entries, 1)}
    writes = [(call.kind, call.answer) for call in calls if call.kind != "status"]
    assert sorted(writes) == sorted(entries[1:])  # each once, and nothing else
    order = []
    for call in calls:
        if call.kind != "status":
            order.append((places[call.kind, call.answer], call.began, call.ended))
            continue
        facts = call.answer
        before = entries[: facts["events"]]
        kinds = Counter(kind for kind, _ in before)
        assert (facts["rounds"], facts["trials"]) == (kinds["tell"], kinds["ask"])
        closed = {trial for kind, trial in before if kind in ("tell", "abandon")}
        asked = [trial for kind, trial in before if kind == "ask"]
        assert facts["open"] == [trial for trial in asked if trial not in closed]
        order.append((facts["events"] + 0.5, call.began, call.ended))
    latest = 0
    for _, began, ended in sorted(order):
        latest = max(latest, began)
        assert ended >= latest  # else it had ended before one that the log has first
    assert same_state(replayed(controller), controller._log.state)


def test_five_processes_see_one_order_of_events(tmp_path):
    check_linearisable(url_of(tmp_path))


def test_a_reader_does_not_wait_for_a_writer_who_waits(tmp_path):
    """Another process holds the storage: who only looks is answered, in the same process too."""
    url = url_of(tmp_path)
    with Controller.create(url, small()) as controller, Controller.open(url) as other:
        with other._log.write():
            writer = threading.Thread(target=controller.ask)
            writer.start()
            time.sleep(0.2)
            reader = threading.Thread(target=controller.status)
            reader.start()
            reader.join(20)
            assert writer.is_alive()
            assert not reader.is_alive()
        writer.join()
        assert len(controller.open_trials()) == 1
