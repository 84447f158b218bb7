"""While modules are loaded, an interrupt is one line and the end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

INTERRUPTED = 130
GOODBYE = "interrupted; nothing half-written is left."


@contextmanager
def loading() -> Iterator[None]:
    """Within it, Ctrl-C leaves at once: an exception could get lost in a half-loaded library.

    Where interrupts are ignored or handled by somebody else, or in another thread, nothing changes.
    """
    usual = signal.default_int_handler
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _leave(*_: object) -> NoReturn:
    os.write(2, f"gbb: {GOODBYE}\n".encode())
    os._exit(INTERRUPTED)
