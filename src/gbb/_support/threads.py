"""One thread for linear algebra: predictable times, the same last bit, no fight over busy cores."""

from __future__ import annotations

import importlib
import os
import threading
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> list[Any]:
    """The loaded libraries; looking for them takes longer than most of what is computed within."""
    importlib.import_module(
        "scipy.linalg.cython_blas"
    )  # compiled loops would load it later, unseen
    found = ThreadpoolController().select(user_api="blas")
    return list(found.lib_controllers)


class _OneThread:
    """The number of threads is the whole process's: the first in sets it, the last out puts it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                now = [(library, library.get_num_threads()) for library in _libraries()]
                self._before = [
                    (library, count) for library, count in now if count not in (1, None)
                ]
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
        """A thread that held the lock is not there in a forked process."""
        self._lock = threading.Lock()


_GATE = _OneThread()
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_GATE.after_fork)


def one_thread() -> _OneThread:
    """Within it, linear algebra uses one thread; others wait for each other where cores are busy."""
    return _GATE
