"""Pages of long answers."""

from __future__ import annotations

from gbb._support import checks
from gbb.serve.api.operations import Given

MOST = 1000
"""The most rows of a page."""


def limit_of(given: Given, usual: int) -> int:
    """How many rows a page has."""
    return checks.integer("limit", given.values.get("limit", usual), low=1, high=MOST)


def offset_of(given: Given) -> int:
    """How many rows were there before."""
    return checks.integer("offset", given.values.get("offset", 0), low=0, high=1 << 40)
