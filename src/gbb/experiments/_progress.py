"""How an experiment says how far it has come."""

from __future__ import annotations

from collections.abc import Callable

Advance = Callable[[int], None]
"""Told how many steps were done since the last call."""


def ignore(steps: int) -> None:
    """Show nothing."""


class Counted:
    """Passes steps on and counts them."""

    def __init__(self, advance: Advance) -> None:
        self.advance = advance
        self.done = 0

    def __call__(self, steps: int) -> None:
        """Pass ``steps`` on."""
        self.done += steps
        self.advance(steps)
