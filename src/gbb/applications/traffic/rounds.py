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
        return cls(np.asarray(allocations), *map(np.array, columns))

    @property
    def size(self) -> int:
        """How many rounds."""
        return len(self.loss)

    @property
    def window(self) -> slice:
        """The last quarter of the rounds, over which learners are judged."""
        return slice(self.size - late(self.size), self.size)

    def join(self, other: Rounds) -> Rounds:
        """These rounds, then others."""
        return Rounds(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


def late(rounds: int) -> int:
    """How many rounds are the last quarter."""
    return max(1, rounds // 4)
