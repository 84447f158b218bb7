"""The same bits from any executor, and what broke it is made up for."""

import os
import signal
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

import gbb
from gbb import sweep as sweeps
from gbb.sweep.finish import TRIES, Job, finish
from sweep_cases import FINE, bits, run


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected") / "out"
    run(folder, FINE, sweeps.executors.local(2, threads=True))
    return bits(folder)


def test_the_same_bits_from_processes(expected, tmp_path):
    assert run(tmp_path / "out", FINE, sweeps.executors.local(2)).complete
    assert bits(tmp_path / "out") == expected


def test_the_same_bits_from_any_executor_of_the_standard_library(expected, tmp_path):
    assert run(tmp_path / "out", FINE, lambda: ProcessPoolExecutor(1)).complete
    assert bits(tmp_path / "out") == expected


def test_the_same_bits_from_a_dask_cluster_of_its_own(expected, tmp_path):
    assert run(tmp_path / "out", FINE, sweeps.executors.dask(workers=1)).complete
    assert bits(tmp_path / "out") == expected


def test_the_same_bits_from_jobs(expected, tmp_path):
    make = sweeps.executors.slurm(tmp_path / "jobs", cluster="local", timeout_min=5)
    task = list(expected)[-1]  # a process for each task: one of them will do
    run(tmp_path / "out", FINE, make, only=Path(task).stem)
    assert bits(tmp_path / "out") == {task: expected[task]}


def test_a_job_that_fails_says_why(tmp_path):
    make = sweeps.executors.slurm(tmp_path / "jobs", cluster="local", timeout_min=5)
    told = {}
    finish(
        [Job("bad", int, ("x",))], make, lambda job, _, error: told.update({job.name: str(error)})
    )
    assert "invalid literal" in told["bad"]


def test_a_package_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(gbb.InputError, match=r"submitit.*Install it.*slurm"):
        sweeps.executors.slurm(tmp_path)


def die(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_task_that_kills_its_worker_is_given_up_and_the_others_are_done():
    told = {}
    jobs = [Job(str(number), die, (number,)) for number in range(6)]
    finish(
        jobs, lambda: ProcessPoolExecutor(2), lambda job, _, error: told.update({job.name: error})
    )
    assert isinstance(told.pop("3"), BrokenProcessPool)
    assert told == dict.fromkeys("01245")


class Losing(Executor):
    """Loses everything it is given."""

    def submit(self, *given, **named):  # noqa: ARG002
        future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


class Refusing(Executor):
    """Is broken from the start."""

    def submit(self, *given, **named):  # noqa: ARG002
        raise BrokenProcessPool("gone")


def test_lost_tasks_go_to_a_new_executor_a_few_times():
    executors, told = [Refusing(), *[Losing()] * TRIES], []
    finish([Job("one", int)], lambda: executors.pop(0), lambda *each: told.append(each[2]))
    assert [type(error).__name__ for error in told] == ["CancelledError"]
    assert executors == []
    with pytest.raises(BrokenProcessPool):
        finish([Job("one", int)], Refusing, lambda *_: None)


class Slow(Executor):
    """Ends a job when it holds three."""

    in_flight = 3

    def __init__(self):
        self.held, self.most = [], 0

    def submit(self, fn, /, *given, **named):  # noqa: ARG002
        self.held.append(Future())
        self.most = max(self.most, len(self.held))
        if len(self.held) > 2:
            threading.Timer(0.01, self.held.pop(0).set_result, [None]).start()
        return self.held[-1]


def test_an_executor_holds_no_more_than_it_wants():
    slow, done = Slow(), []
    jobs = [Job(str(number), int) for number in range(8)]
    with pytest.raises(KeyboardInterrupt):  # two are held for ever
        finish(jobs, lambda: slow, lambda job, *_: _stop_after(6, done, job.name))
    assert slow.most == 3


def _stop_after(count, done, name):
    done.append(name)
    if len(done) == count:
        raise KeyboardInterrupt
