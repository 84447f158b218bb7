"""Simulated rounds side by side: each is a program of its own, so that threads do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gbb._support.progress import Advance

WORKERS = 2


def run_all(
    work: Callable[[Any], Any], items: Sequence[Any], advance: Advance, steps: int = 1
) -> Iterator[Any]:
    """``work`` on every item in a few threads, in order; each takes ``steps``."""
    pool = ThreadPoolExecutor(WORKERS)
    try:
        for found in pool.map(work, items):
            advance(steps)
            yield found
    finally:
        pool.shutdown(cancel_futures=True)
