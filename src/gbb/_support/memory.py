"""How much memory there is, asked before something large is made."""

from __future__ import annotations

import os

from gbb._support import checks


def check_memory(name: str, value: object, size: float, what: str) -> None:
    """Refuse ``value``, which would make ``what`` of so many bytes, where the machine has fewer."""
    have = total()
    if size > have:
        got = f"{value}: {what} would take about {_shown(size)}"
        rule = f"stay within this machine's memory of {_shown(have)}"
        raise checks.input_error(name, rule, got)


def total() -> float:
    """The bytes of this machine's memory; infinity where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _shown(size: float) -> str:
    """A size in GiB."""
    return f"{size / 2**30:,.0f} GiB"
