"""How kernels are compiled: cached, without the interpreter's lock, divisions as in numpy."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

HERE = Path(__file__).parent
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Decorator that compiles a kernel; kept on disk where some folder for that can be written."""

    def decorate(function: Kernel) -> Kernel:
        settings = {"nogil": True, "error_model": "numpy", **options}
        try:
            return cast(Kernel, njit(cache=True, **settings)(function))
        except RuntimeError:  # numba found no folder it may write to
            return cast(Kernel, njit(**settings)(function))

    return decorate


def forget_stale(folder: Path) -> None:
    """Delete compiled kernels when any source beside them has changed.

    Numba looks at the file a kernel stands in only, but kernels call one another across files.
    """
    stamp = folder / "__pycache__" / "kernels.digest"
    sources = sorted(folder.rglob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    try:
        if stamp.is_file() and stamp.read_text() == digest:
            return
        for pattern in ("*.nbi", "*.nbc"):
            for path in folder.rglob(f"__pycache__/{pattern}"):
                path.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest)
    except OSError:  # a read-only installation does not change either
        return


forget_stale(HERE)
