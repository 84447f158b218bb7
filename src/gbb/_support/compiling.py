"""The time that numba compiles: no time limit pays for it, and a long wait is explained."""

from __future__ import annotations

import logging
import sys
import threading
import time
from functools import cache
from typing import Any

PATIENCE = 2.0
"""Seconds of compiling after which one line explains the wait."""

COMPILING = "gbb: compiling loops; kept on disk for the next time (`gbb warm` compiles ahead)."


def seconds() -> float:
    """Return the seconds of compiling since :func:`stopwatch` was first called."""
    return float(stopwatch().seconds) if "numba" in sys.modules else 0.0


@cache
def stopwatch() -> Any:
    """Return a listener to numba, which is imported for it, that counts the seconds of compiling."""
    from numba.core import event

    class Stopwatch(event.Listener):
        def __init__(self) -> None:
            self.seconds = 0.0
            self._depth = 0

        def on_start(self, found: Any) -> None:  # noqa: ARG002
            self._depth += 1
            if self._depth == 1:  # a kernel compiles what it calls within its own compilation
                self._started = time.perf_counter()
                # A logger, not print: if logging is not set up, its line goes to standard error, in
                # notebooks too; if it is, the line is in the log.
                warn = logging.getLogger("gbb").warning
                self._timer = threading.Timer(PATIENCE - self.seconds, warn, [COMPILING])
                self._timer.daemon = True
                if self.seconds < PATIENCE:  # else the line was written before
                    self._timer.start()

        def on_end(self, found: Any) -> None:  # noqa: ARG002
            self._depth -= 1
            if self._depth == 0:
                self._timer.cancel()
                self.seconds += time.perf_counter() - self._started

    watch = Stopwatch()
    event.register("numba:compile", watch)  # type: ignore[no-untyped-call]
    return watch
