"""Rounds that a compiled loop plays in one call."""

from __future__ import annotations

from typing import NamedTuple

from gbb._support.checks import FloatArray, IntArray


class Block(NamedTuple):
    """Rounds that a compiled loop plays in one call.

    Attributes
    ----------
    first
        The number of the first of them.
    noise
        A row of unit noise for each round.
    radii
        The radius of each round, where it is given.
    recorded
        Which rounds of the run are kept.
    """

    first: int
    noise: FloatArray
    radii: FloatArray
    recorded: IntArray
