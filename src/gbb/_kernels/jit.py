"""How kernels are compiled: cached, without the interpreter's lock, divisions as in numpy."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher

HERE = Path(__file__).parent
PATIENCE = 2.0
"""Seconds of compiling before whoever sits at a terminal is told."""

COMPILING = "gbb: compiling the loops (once; it may take half a minute; gbb warm does it ahead).\n"

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(
    *, allocates: bool = False, inner: bool | None = None, **options: Any
) -> Callable[[Kernel], Kernel]:
    """Decorator that compiles a kernel; kept on disk where some folder for that can be written.

    A kernel that makes no arrays, and calls none that returns any, does not count references either:
    counting them costs more than a small search does. One that Python calls with a generator of random
    numbers must count them too, or the generator is never let go.

    An ``inner`` kernel, as all are that are inlined, is called by other kernels. What would take its
    arguments over from Python is left out: that is a quarter of the time that a loop takes to compile.
    """
    inner = options.get("forceinline", False) if inner is None else inner

    def decorate(function: Kernel) -> Kernel:
        given: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": allocates}
        if inner:
            given |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        compiled = njit(**given, **options)(function)
        if inner and isinstance(compiled, CPUDispatcher):  # not where nothing is compiled
            compiled.__class__ = _Inner
        with suppress(RuntimeError):  # numba found no folder it may write to
            compiled._cache = _Cache(function)
        return cast(Kernel, compiled)

    return decorate


class _Inner(CPUDispatcher):
    """A kernel that other kernels call. Tests may call it from Python, through one made for that."""

    def __call__(self, *given: Any) -> Any:
        if not hasattr(self, "_outer"):

            def outer(*given: Any) -> Any:
                return self(*given)

            self._outer = njit(nogil=True, error_model="numpy")(outer)
        return self._outer(*given)


class _Cache(FunctionCache):
    """Numba's cache of one kernel, outdated when the source of any kernel has changed.

    Numba stamps a cache with the file that the kernel stands in, but kernels call one another across
    files and the callee is compiled into the caller. With the digest of all sources in the version,
    which numba looks at first, it passes over what is outdated without reading on: nothing has to be
    deleted, and a copy of the same sources with other dates is still up to date.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file._version += f" {source_digest(HERE)}"
        self._cache_file._source_stamp = None


@cache
def source_digest(folder: Path) -> str:
    """A digest of all Python files below ``folder`` (a millisecond for the kernels)."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()


class Announcement(event.Listener):
    """Says once, on standard error, that the time goes into compiling."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._depth = 0  # a kernel compiles what it calls within its own compilation
        self._patience = patience

    def on_start(self, found: Any) -> None:  # noqa: ARG002
        """Start the clock, unless it has spoken."""
        self._depth += 1
        if self._depth == 1:
            self._started = time.perf_counter()
            self._clock = threading.Timer(self._patience, sys.stderr.write, [COMPILING])
            self._clock.daemon = True
            if self._patience > 0:
                self._clock.start()

    def on_end(self, found: Any) -> None:  # noqa: ARG002
        """Stop the clock."""
        self._depth -= 1
        if self._depth == 0:
            self._clock.cancel()
            self._patience -= time.perf_counter() - self._started


if sys.stderr is not None and sys.stderr.isatty():
    event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]
