"""Runs spread over threads; each has its own seed, so the order they finish in does not matter."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from gbb._support import checks, seeds
from gbb._support.threads import one_thread
from gbb.simulation._trace import Trace


class Job(NamedTuple):
    """Runs played together: their seeds, and the loop, called as ``loop(seeds, on_rounds=...)``."""

    seeds: Sequence[np.random.SeedSequence]
    loop: Callable[..., list[Trace]]


class _StoppedError(Exception):
    """Raised inside the workers when the caller has gone."""


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    on_rounds: Callable[[int], None] | None = None,
) -> list[Trace]:
    """All runs' traces, in the order of ``jobs``; an interrupt stops workers at their next block."""
    threads = count_threads(workers)
    stop = threading.Event()

    def step(done: int) -> None:
        if stop.is_set():
            raise _StoppedError
        if on_rounds is not None:
            on_rounds(done)

    def play(job: Job) -> list[Trace]:
        return job.loop([seeds.sequence(seed) for seed in job.seeds], on_rounds=step)

    # Threads inside the linear algebra would spin on these small matrices and slow everybody down.
    with one_thread():
        return [trace for runs in _play_all(play, jobs, threads, stop) for trace in runs]


def _play_all(
    play: Callable[[Job], list[Trace]], jobs: Sequence[Job], threads: int, stop: threading.Event
) -> list[list[Trace]]:
    if threads == 1 or len(jobs) == 1:
        return [play(job) for job in jobs]
    with ThreadPoolExecutor(min(threads, len(jobs))) as pool:
        futures = [pool.submit(play, job) for job in jobs]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures if future.done()]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def count_threads(workers: int | None) -> int:
    """How many threads are asked for: all available cores when left out."""
    return available_cores() if workers is None else checks.integer("workers", workers, low=1)


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
