"""Names that would run code of the server's machine: nobody may give them from afar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gbb._support import checks
from gbb.controller.types import show

PLACE = re.compile(r"[\w.]+:[\w.]+")
CURE = "Name what the server has: its own, or another package's by its entry point."


def refuse_foreign(values: Mapping[str, Any]) -> None:
    """Refuse policies, cuts and settings that are named as ``package.module:Name``."""
    for field in ("policy", "cut", "settings"):
        for text in _texts(values.get(field)):
            if PLACE.fullmatch(text):
                rule = "have no name of a Python module over the wire"
                raise checks.input_error(field, rule, show(text), CURE)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
