"""Discovery: a public module in a family's folder is a member by existing."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from gbb._support.checks import InputError


def modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """The public modules of ``package`` (no leading underscore), with their short names.

    A file that cannot be imported is an :class:`gbb.InputError` that names it and the cause.
    """
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda item: item.name):
        if not info.name.startswith("_"):
            yield info.name, _imported(package, info)


def _imported(package: ModuleType, info: pkgutil.ModuleInfo) -> ModuleType:
    try:
        return importlib.import_module(f"{package.__name__}.{info.name}")
    except Exception as error:
        folder = Path(getattr(info.module_finder, "path", package.__path__[0]))
        found = folder / f"{info.name}.py"
        path = found if found.is_file() else folder / info.name
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"Cannot import {str(path)!r}: {reason}") from error
