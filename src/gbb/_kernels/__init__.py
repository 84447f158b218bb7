"""Compiled loops: plain arrays in and out, no knowledge of policies."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def load_on_use(package: str) -> Callable[[str], ModuleType]:
    """A ``__getattr__`` that imports the file asked for: numba takes long to load."""

    def load(name: str) -> ModuleType:
        if find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return load
