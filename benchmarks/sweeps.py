"""What executors cost a sweep. Prints Markdown; wants quiet cores.

python benchmarks/sweeps.py overhead [TASKS] [SECONDS]   tasks of 0.1 s on two workers, by executor
python benchmarks/sweeps.py workers [MATRICES]           a sample of the study on one worker and on two
python benchmarks/sweeps.py scheduler [TASKS ...]        what a Dask scheduler keeps in memory
"""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed
import psutil

from gbb.sweep import Sweep, executors, plan, run, work
from gbb.sweep.finish import IN_FLIGHT, Job, finish

STUDY = Path(__file__).parent / "sweeps" / "which-policy.toml"


def burn(seconds: float) -> None:
    """Keep a core busy for so long."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Open(Executor):
    """An executor that stays when it is shut down, so that its start is not measured."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.in_flight = getattr(executor, "in_flight", IN_FLIGHT)

    def submit(self, fn: Any, /, *given: Any, **named: Any) -> Future[Any]:
        """Hand a task on."""
        return self.executor.submit(fn, *given, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stay."""


def cost_of(tasks: int, seconds: float, executor: Executor) -> tuple[float, float]:
    """Wall and CPU seconds of this process and all that it started, for so many tasks."""
    before, started = _used(), time.perf_counter()
    jobs = [Job(str(number), burn, (seconds,)) for number in range(tasks)]
    finish(jobs, lambda: executor, _raise)
    return time.perf_counter() - started, _used() - before


def _used() -> float:
    mine = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (mine, *mine.children(recursive=True)))


def _raise(_job: Job, _value: object, error: BaseException | None) -> None:
    if error is not None:
        raise error


def overhead(tasks: int = 10_000, seconds: float = 0.1) -> None:
    """Tasks that only burn CPU time, against what they burn, once the workers are there."""
    print(f"{tasks:,} tasks of {seconds:g} s on two workers; load {_load()}.\n")
    print("| executor | wall, s | beyond the tasks | CPU beyond the tasks, ms a task | share |")
    print("| --- | --- | --- | --- | --- |")
    for name, make in {"processes": executors.local(2), "Dask": executors.dask(workers=2)}.items():
        executor = Open(make())
        cost_of(20, seconds, executor)
        wall, cpu = cost_of(tasks, seconds, executor)
        cpu = cpu / tasks - seconds
        executor.executor.shutdown()
        print(
            f"| {name} | {wall:.1f} | {100 * (2 * wall / (tasks * seconds) - 1):.1f} % "
            f"| {1e3 * cpu:.2f} | {100 * cpu / seconds:.1f} % |",
            flush=True,
        )
    print(f"\nLoad at the end {_load()}.")


def workers(matrices: int = 6) -> None:
    """A sample of the study, start of the processes included."""
    study = Sweep.read(STUDY)
    sample = dataclasses.replace(study, matrices=matrices, runs=2, task_seconds=1.0)
    share = matrices * 2 / (study.matrices * study.runs)
    print(f"{share:.0%} of the study in {len(plan(sample))} tasks; load {_load()}.\n")
    took = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (2, 1):  # what is compiled by the way is at the cost of two
            started = time.perf_counter()
            found = run(sample, Path(folder) / str(count), make_executor=executors.local(count))
            took[count] = time.perf_counter() - started
            assert found.complete
    print("| workers | seconds | against one |")
    print("| --- | --- | --- |")
    for count in (1, 2):
        print(f"| {count} | {took[count]:.1f} | {took[1] / took[count]:.2f} |")
    print(f"\nLoad at the end {_load()}.")


def scheduler(*counts: int) -> None:
    """Tasks of the study handed to a scheduler without workers."""
    sweep = Sweep.read(STUDY)
    content, task = sweep.to_dict(), plan(sweep)[-1]
    print("| tasks | memory of the scheduler, MB | a task, kB | handed over in, s |")
    print("| --- | --- | --- | --- |")
    for count in counts or (10_000, 100_000):
        with _scheduler() as (process, address), distributed.Client(address) as client:
            empty, started = _resident(process.pid), time.perf_counter()
            executor = client.get_executor(pure=False)
            futures = [executor.submit(work.do, content, task, "out") for _ in range(count)]
            while len(client.run_on_scheduler(_tasks)) < count:
                time.sleep(0.5)
            took, full = time.perf_counter() - started, _resident(process.pid)
            for future in futures:
                future.cancel()
        each = (full - empty) / count
        print(f"| {count:,} | {full / 1e6:.0f} | {each / 1e3:.1f} | {took:.0f} |", flush=True)


def _tasks(dask_scheduler: object = None) -> range:
    return range(len(dask_scheduler.tasks))  # type: ignore[attr-defined]


@contextmanager
def _scheduler() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", *words], stderr=subprocess.DEVNULL
    )
    try:
        yield process, f"tcp://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main() -> None:
    what, *given = sys.argv[1:] or ["workers"]
    match what:
        case "overhead":
            overhead(*(int(each) if each.isdigit() else float(each) for each in given))
        case "workers":
            workers(*map(int, given))
        case "scheduler":
            scheduler(*map(int, given))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
