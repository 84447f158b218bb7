"""Kernels are slow to load, numba above all: a folder of them loads each file when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def load_on_use(package: str) -> Callable[[str], ModuleType]:
    """A ``__getattr__`` for ``package`` that imports the submodule asked for."""

    def load(name: str) -> ModuleType:
        if find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return load
