"""The service: what all requests share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from gbb.serve.access.guard import Guard
from gbb.serve.access.limits import Limits
from gbb.serve.access.tokens import Tokens
from gbb.serve.errors import busy
from gbb.serve.live.events import Hub
from gbb.serve.metrics import Metrics
from gbb.serve.studies import Studies

T = TypeVar("T")

THREADS = 8
"""How many requests that write are worked on at the same time, and how many that only read."""


class Service:
    """The controllers of one storage, who may call them, and who listens.

    Parameters
    ----------
    url
        The storage; it is made if it is not there.
    tokens
        Who may do what; None where everybody on this machine may do everything.
    limits
        How much one may ask for.
    """

    def __init__(
        self, url: str | Path, tokens: Tokens | None = None, limits: Limits | None = None
    ) -> None:
        self.limits = Limits() if limits is None else limits
        self.studies = Studies(url)
        self.guard = Guard(tokens, self.limits)
        self._writing = ThreadPoolExecutor(THREADS, thread_name_prefix="gbb-write")
        self._reading = ThreadPoolExecutor(THREADS, thread_name_prefix="gbb-read")
        self._looking = ThreadPoolExecutor(2, thread_name_prefix="gbb-watch")
        self.hub = Hub(self.studies.find, self._looking, self.limits.listeners)
        self.metrics = Metrics(self.studies)
        self.metrics.listeners.set_function(lambda: self.hub.listening)
        self._waiting = 0

    async def in_thread(self, act: Callable[[], T], *, writes: bool = False) -> T:
        """Do it in a thread, unless too many wait for one; writers that wait keep no reader waiting."""
        if self._waiting >= self.limits.waiting:
            raise busy("Too many requests are waiting. Try again.")
        self._waiting += 1
        try:
            threads = self._writing if writes else self._reading
            return await asyncio.get_running_loop().run_in_executor(threads, act)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Finish what is being done, and close the storage."""
        self.hub.close()
        for threads in (self._writing, self._reading, self._looking):
            threads.shutdown(wait=True)
        self.studies.close()
