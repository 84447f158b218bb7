"""An application says on one line what to install for it."""

from __future__ import annotations

import importlib
from types import ModuleType

from gbb._support.checks import InputError


def require(extra: str, simulator: str, module: str) -> ModuleType:
    """The module of a simulator, or an :class:`gbb.InputError` that names the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        cure = f"pip install 'graphical-bilinear-bandits[{extra}]'"
        raise InputError(
            f"The {extra} demo needs {simulator}, which cannot be imported ({error}). "
            f"Install it with: {cure}."
        ) from error
