"""Where tasks can go: processes or threads of this machine, a Dask cluster, a Slurm cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from importlib import import_module
from pathlib import Path
from typing import Any

from gbb._support import checks
from gbb.simulation.workers import available_cores
from gbb.sweep.finish import MakeExecutor
from gbb.sweep.jobs import JobExecutor

ARRAY = 1000
"""How many jobs of a Slurm cluster are there at once: more than most allow in an array."""

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of an own Dask cluster: it watches itself less, which takes 2 % of a core in place of 8."""


def local(workers: int | None = None, *, threads: bool = False) -> MakeExecutor:
    """Processes of this machine, one for each core, or threads.

    Processes start afresh, not as forks, and Ctrl-C ends them at once.
    """
    count = _count(workers)
    return lambda: ThreadPoolExecutor(count) if threads else Processes(count)


class Processes(ProcessPoolExecutor):
    """A pool that holds few tasks, since all that it holds are tried again when it breaks."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        super().__init__(workers, mp_context=context, initializer=_die_with_the_run)
        self.in_flight = 2 * workers


def _die_with_the_run() -> None:
    """Let Ctrl-C end this process at once, and the end of the run that started it, however it came."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def here() -> Executor:
    """The process that asks, one task after another; Ctrl-C interrupts the one that it does."""
    return _Here()


class _Here(Executor):
    in_flight = 1

    def submit(self, fn: Any, /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def dask(address: str | None = None, *, workers: int | None = None) -> MakeExecutor:
    """A Dask cluster by the address of its scheduler, or one of this machine's own."""
    distributed, dask_config = _require("dask", "distributed"), _require("dask", "dask.config")
    if address is not None:
        _check_address(address)
        return lambda: DaskExecutor(distributed.Client(address))
    own = {"n_workers": _count(workers), "threads_per_worker": 1, "dashboard_address": None}

    def make() -> Executor:
        with dask_config.set(QUIET):
            return DaskExecutor(distributed.Client(**own))

    return make


def _check_address(address: str) -> None:
    """Refuse what cannot be the address of a scheduler, before anything waits for it."""
    scheme, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if scheme in ("", "tcp", "tls") and not (host and port.isdecimal()):
        cure = "The scheduler says it when it starts: tcp://HOST:8786."
        raise checks.input_error("address", "be a scheduler's address", repr(address), cure)


class DaskExecutor(Executor):
    """A client's executor, and the client with it: both end together."""

    def __init__(self, client: Any) -> None:
        self._client, self._executor = client, client.get_executor(pure=False)

    def submit(self, fn: Any, /, *given: Any, **named: Any) -> Future[Any]:
        """Start a task; ``BrokenExecutor`` where the scheduler is gone."""
        try:
            future: Future[Any] = self._executor.submit(fn, *given, **named)
        except Exception as error:
            raise BrokenExecutor(str(error)) from error
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which forgets what this client wanted; its own one ends."""
        if wait and not cancel_futures:
            self._executor.shutdown()
        self._client.close()


def slurm(folder: str | Path, **settings: Any) -> MakeExecutor:
    """A Slurm cluster through submitit, whose logs go to ``folder``; ``settings`` are submitit's.

    ``cluster="local"`` runs the jobs as processes of this machine, by the same way.
    """
    submitit = _require("slurm", "submitit")
    cluster = settings.pop("cluster", None)

    def make() -> Executor:
        executor = submitit.AutoExecutor(folder=str(folder), cluster=cluster)
        executor.update_parameters(**settings)
        return JobExecutor(executor, available_cores() if cluster == "local" else ARRAY)

    return make


def _count(workers: int | None) -> int:
    return available_cores() if workers is None else checks.integer("workers", workers, low=1)


def _require(extra: str, name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        cure = f"Install it: pip install 'graphical-bilinear-bandits[{extra}]'."
        raise checks.conflict(f"This needs the package {name!r}. {cure}") from None
