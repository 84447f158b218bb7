"""Simulated rounds: what was played and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray, IntArray
from gbb.applications.traffic.sumo import Measured


class Rounds(NamedTuple):
    """Simulated rounds: what was played, what it paid, and the vehicle-hours that were lost."""

    allocations: IntArray
    rewards: FloatArray
    loss: FloatArray
    between: FloatArray

    @classmethod
    def of(cls, allocations: ArrayLike, measured: Sequence[Measured]) -> Rounds:
        """The rounds that played ``allocations`` and measured ``measured``."""
        columns = zip(*measured, strict=True)
        rewards, loss, between = (np.array(column) for column in columns)
        return cls(np.asarray(allocations), rewards, loss, between)

    @property
    def size(self) -> int:
        """How many rounds."""
        return len(self.loss)

    def join(self, other: Rounds) -> Rounds:
        """These rounds, then others."""
        return Rounds(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))

    def last(self) -> slice:
        """The last quarter of the rounds."""
        return slice(self.size - max(1, self.size // 4), self.size)


class Live(NamedTuple):
    """The rounds of one learner."""

    name: str
    rounds: Rounds
