"""One BLAS thread: predictable times, the same last bit, no contention for busy cores."""

from __future__ import annotations

import importlib
import os
import threading
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> list[Any]:
    """Return the loaded BLAS libraries, once: finding them takes longer than most work within."""
    importlib.import_module(
        "scipy.linalg.cython_blas"
    )  # compiled loops would load it later, unseen
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _OneThread:
    """Sets the threads of the whole process: the first to enter sets them, the last resets them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                counts = [(library, library.get_num_threads()) for library in _libraries()]
                self._before = [pair for pair in counts if pair[1] not in (1, None)]
                for library, _ in self._before:
                    library.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, count in self._before:
                    library.set_num_threads(count)

    def after_fork(self) -> None:
        """Make a new lock: the thread that held this one does not exist in a forked process."""
        self._lock = threading.Lock()


_GATE = _OneThread()
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_GATE.after_fork)


def one_thread() -> _OneThread:
    """Return a context in which linear algebra uses one thread."""
    return _GATE
