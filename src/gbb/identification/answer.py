"""What pure exploration answers: an allocation and its certificate."""

from __future__ import annotations

from dataclasses import dataclass

from gbb._support.checks import IntArray
from gbb.learning.record import AnyRecord


@dataclass(frozen=True, eq=False)
class Identification:
    """An allocation and what certifies it.

    Attributes
    ----------
    allocation
        An arm index per agent.
    value
        Its estimated reward a round, over all directed edges.
    low, high
        Bounds on its expected reward.
    gap
        No other allocation (with target ``couple``: no other couple over the cut) pays more than this
        above it.
    epsilon, delta
        ``gap <= epsilon`` was asked for, with probability 1 - delta.
    certified
        Whether it was reached.
    rounds
        How many rounds were played.
    target
        What was looked for.
    listed
        Whether ``gap`` is the largest over all of the confidence set; otherwise it is an upper bound
        on that by the triangle inequality and a solver.
    record
        What was seen.

    Notes
    -----
    With probability at least 1 - delta, ``low``, ``high`` and the gap at every look are right at once.
    """

    allocation: IntArray
    value: float
    low: float
    high: float
    gap: float
    epsilon: float
    delta: float
    certified: bool
    rounds: int
    target: str
    listed: bool
    record: AnyRecord
