"""How kernels are compiled: cached on disk, without the interpreter's lock, divisions as in numpy.

Five rules keep the first call short (``docs/developer/design.md`` has their reasons):

1. Three levels: an entry for Python, phases (``forceinline``, one caller), leaves of plain arrays.
2. Plain loops: no numpy function that makes an array, no ``@``, no fancy index, no whole-row assignment.
3. One type for each argument; ``np.uint64`` only as a local index; no literal as an argument.
4. What is not used is None, which numba prunes, and not a flag.
5. ``tests/test_first_call.py`` counts the compiled functions of every policy.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from gbb._support import compiling

HERE = Path(__file__).parent
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

compiling.stopwatch()  # registered before anything is compiled


def kernel(
    *, allocates: bool = False, inner: bool | None = None, **options: Any
) -> Callable[[Kernel], Kernel]:
    """Decorate a function that is compiled when it is first called and kept on disk.

    Parameters
    ----------
    allocates
        Whether it makes arrays or calls kernels that return some. The others do not count references:
        counting costs more than a small search. An entry that takes a generator of random numbers must
        count, or the generator is never released.
    inner
        Whether only kernels call it, as with ``forceinline``, the default. The wrapper that would take
        its arguments from Python is left out: a quarter of the time that a loop takes to compile.
    options
        Further options of :func:`numba.njit`.
    """
    inner = options.get("forceinline", False) if inner is None else inner

    def decorate(function: Kernel) -> Kernel:
        settings = {"nogil": True, "error_model": "numpy", "_nrt": allocates, **options}
        if inner:
            settings |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        compiled: Any = numba.njit(**settings)(function)
        if inner and hasattr(compiled, "_insert"):
            # Without a wrapper a call from Python is a segmentation fault: keep what is compiled out of
            # the table that numba looks calls up in, and raise an error where it would fill it. (With
            # NUMBA_DISABLE_JIT it is a plain function.)
            compiled._insert = lambda *_: None
            compiled._compile_for_args = _refuse_call
        with suppress(RuntimeError):  # no folder can be written, so every process compiles anew
            compiled._cache = KernelCache(function)  # type: ignore[no-untyped-call]
        return cast(Kernel, compiled)

    return decorate


def _refuse_call(*_: Any, **__: Any) -> Any:
    raise TypeError("This kernel is called by kernels alone: declare it with inner=False.")


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, with a file for each signature and no index.

    A file starts with the digest of its content, its signature and the sources of all kernels. The
    sources count because kernels are compiled into their callers, while numba looks at the caller's
    file alone. A file with another digest, be it outdated or damaged, is not even unpickled (it may name
    classes that are gone): the kernel is compiled anew and the file replaced. It is replaced as a whole,
    so processes that compile at the same time do not see each other's halves.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if there is no intact one."""
        target_context.refresh()
        path, key = self._locate(sig, target_context.codegen())
        # Whatever is wrong with a file, compiling is the cure.
        with suppress(Exception):
            content = path.read_bytes()
            data = content[hashlib.sha256().digest_size :]
            if content == _seal(key, data) + data:
                return self._impl.rebuild(target_context, pickle.loads(data))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel if the folder can be written."""
        if self._impl.check_cachable(data):
            path, key = self._locate(sig, data.codegen)
            content = dumps(self._impl.reduce(data))  # type: ignore[no-untyped-call]
            with suppress(OSError):  # read-only or full: compiled again by the next process
                self._impl.locator.ensure_cache_path()
                with self._cache_file._open_for_write(path) as file:
                    file.write(_seal(key, content) + content)

    def _locate(self, sig: Any, codegen: Any) -> tuple[Path, bytes]:
        """Return the file of a signature on this processor, and what it must have been made for."""
        key = repr(self._index_key(sig, codegen)).encode()  # type: ignore[no-untyped-call]
        name = f"{self._impl.filename_base}.{hashlib.sha256(key).hexdigest()[:16]}.nbc"
        return Path(self.cache_path, name), key


def _seal(key: bytes, data: bytes) -> bytes:
    made_by = f"{numba.__version__} {source_digest(HERE)}".encode()
    return hashlib.sha256(b"\n".join([made_by, key, data])).digest()


@cache
def source_digest(folder: Path) -> str:
    """Return a digest of all Python files below ``folder`` (a millisecond for the kernels)."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()
