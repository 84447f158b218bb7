"""Discovery: a public module in a family's folder is a member by existing."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """The public modules of ``package`` (no leading underscore), with their short names."""
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda item: item.name):
        if not info.name.startswith("_"):
            yield info.name, importlib.import_module(f"{package.__name__}.{info.name}")
