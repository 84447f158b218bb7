"""Compiled loops: plain arrays in and out, no knowledge of policies."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gbb._kernels import cuts as cuts
    from gbb._kernels import pairwise as pairwise


def __getattr__(name: str) -> ModuleType:
    # Importing a module loads numba, which takes long: `_kernels.cuts` waits for its first use.
    if name in {"cuts", "pairwise"}:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
