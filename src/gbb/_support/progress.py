"""How what takes long tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Advance = Callable[[int], None]
"""Told how many steps were done since the last call."""


def ignore(steps: int) -> None:
    """Show nothing."""
