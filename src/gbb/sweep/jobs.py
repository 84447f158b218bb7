"""Jobs of a cluster, by submitit, as futures."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Executor, Future
from typing import Any

POLL = 0.5
"""Seconds between two looks at what has become of the jobs."""

PATIENCE = 30.0
"""Seconds that a job waits for others to fill a quarter of an array."""


class JobExecutor(Executor):
    """submitit's jobs as futures: a thread hands them over, an array at a time, and looks after them."""

    def __init__(self, executor: Any, in_flight: int) -> None:
        self._executor, self.in_flight = executor, in_flight
        self._new: list[tuple[Future[Any], Any]] = []
        self._jobs: dict[Future[Any], Any] = {}
        self._last = time.monotonic()
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def submit(self, fn: Any, /, *given: Any, **named: Any) -> Future[Any]:
        """Have a job start with the next array."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            self._new.append((future, (fn, given, named)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Look no longer at jobs, and cancel them if asked to."""
        self._closed.set()
        if wait:
            self._thread.join()
        if cancel_futures:
            for job in self._jobs.values():
                job.cancel()

    def _watch(self) -> None:
        while not self._closed.wait(POLL):
            new = self._ready()
            try:
                self._start(new)
            except Exception as error:  # Slurm takes none: they failed
                for future, _ in new:
                    future.set_exception(error)
            for future in [future for future, job in self._jobs.items() if job.done()]:
                job = self._jobs.pop(future)
                failed = job.exception()
                if failed is None:
                    future.set_result(job.result())
                else:
                    future.set_exception(failed)

    def _ready(self) -> list[tuple[Future[Any], Any]]:
        """The new jobs, if they are many or have waited long: every array is a call of the cluster's."""
        with self._lock:
            few = len(self._new) < self.in_flight // 4 and self._jobs
            if few and time.monotonic() - self._last < PATIENCE:
                return []
            new, self._new, self._last = self._new, [], time.monotonic()
            return new

    def _start(self, new: list[tuple[Future[Any], Any]]) -> None:
        if not new:
            return
        with self._executor.batch():
            jobs = [self._executor.submit(fn, *given, **named) for _, (fn, given, named) in new]
        self._jobs |= {future: job for (future, _), job in zip(new, jobs, strict=True)}
