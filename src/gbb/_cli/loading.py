"""An interrupt is one line and the end, whatever it interrupts."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 130
GOODBYE = "interrupted; nothing half-written is left."
COMPILERS = ("numba", "llvmlite")


def handling() -> AbstractContextManager[None]:
    """Within it, Ctrl-C raises KeyboardInterrupt, but leaves at once from within a compiler.

    Where interrupts are ignored or handled by somebody else, or in another thread, nothing changes.
    """
    return _swap(signal.default_int_handler, _interrupt)


def loading() -> AbstractContextManager[None]:
    """Within it, Ctrl-C leaves at once: an exception could get lost in a half-loaded library."""
    return _swap(_interrupt, _leave)


@contextmanager
def _swap(usual: Any, other: Any) -> Iterator[None]:
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    signal.signal(signal.SIGINT, other)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _interrupt(number: int, frame: FrameType | None) -> None:
    caller = frame
    while caller is not None:
        if caller.f_globals.get("__name__", "").partition(".")[0] in COMPILERS:
            _leave()
        caller = caller.f_back
    signal.default_int_handler(number, frame)


def _leave(*_: object) -> NoReturn:
    os.write(2, f"gbb: {GOODBYE}\n".encode())
    os._exit(INTERRUPTED)
