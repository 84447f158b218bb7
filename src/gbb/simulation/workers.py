"""Runs spread over threads; each has its own seed, so the order they finish in does not matter."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from gbb._support import checks
from gbb._support.progress import Advance, ignore
from gbb._support.threads import one_thread
from gbb.simulation.trace import Trace

Job = Callable[[Advance], list[Trace]]
"""Plays some runs and reports the rounds that are done, chunk by chunk."""


class _StoppedError(Exception):
    """Raised inside the workers when the caller has gone."""


def run_jobs(
    jobs: Sequence[Job], *, workers: int | None = None, on_rounds: Advance = ignore
) -> list[Trace]:
    """Return all runs' traces, in the order of ``jobs``."""
    threads = min(count_threads(workers), len(jobs))
    stop = threading.Event()

    def advance(done: int) -> None:
        # Threads cannot be interrupted: after Ctrl-C each ends with its current chunk of rounds.
        if stop.is_set():
            raise _StoppedError
        on_rounds(done)

    # BLAS threads would spin on these small matrices and slow the workers down.
    with one_thread():
        if threads == 1:
            return [trace for job in jobs for trace in job(advance)]
        with ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(job, advance) for job in jobs]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
                finished = [future.result() for future in futures if future.done()]
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
    return [trace for traces in finished for trace in traces]


def count_threads(workers: int | None) -> int:
    """Return how many threads are asked for: all available cores when left out."""
    return available_cores() if workers is None else checks.integer("workers", workers, low=1)


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
