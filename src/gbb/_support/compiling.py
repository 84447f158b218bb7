"""How long kernels were compiled, so that no time limit pays for it."""

from __future__ import annotations

import sys
import time
from functools import cache
from typing import Any


def seconds() -> float:
    """Seconds spent compiling since :func:`listen` was first called; 0 before numba is there."""
    return float(listen().seconds) if "numba" in sys.modules else 0.0


@cache
def listen() -> Any:
    """Listen to numba, which is imported for it; ``seconds`` of what is returned is the time so far."""
    from numba.core import event

    class Stopwatch(event.Listener):
        def __init__(self) -> None:
            self._depth, self._total, self._started = 0, 0.0, 0.0

        @property
        def seconds(self) -> float:
            running = time.perf_counter() - self._started if self._depth else 0.0
            return self._total + running

        def on_start(self, found: Any) -> None:  # noqa: ARG002
            if self._depth == 0:
                self._started = time.perf_counter()
            self._depth += 1  # a kernel compiles what it calls within its own compilation

        def on_end(self, found: Any) -> None:  # noqa: ARG002
            self._depth -= 1
            if self._depth == 0:
                self._total += time.perf_counter() - self._started

    watch = Stopwatch()
    event.register("numba:compile", watch)  # type: ignore[no-untyped-call]
    return watch
