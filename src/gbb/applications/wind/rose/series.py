"""A wind rose, and winds drawn from it that change as winds do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from gbb._support.checks import FloatArray
from gbb.applications.wind.system import JITTER

FREQUENCY = np.array([5.0, 5.0, 6.0, 8.0, 8.0, 7.0, 9.0, 13.0, 15.0, 12.0, 7.0, 5.0]) / 100.0
"""How often the wind comes from each of twelve sectors of 30 degrees, the first from 0 to 30: mostly
from the south-west, as around the North Sea."""

SCALE = np.array([8.5, 8.0, 8.0, 9.0, 9.0, 9.0, 10.0, 11.0, 11.5, 11.0, 10.0, 9.0])
"""Scale in m/s of the Weibull law, of shape 2, of the speeds from each sector."""

SPEEDS = (6.0, 10.0)
"""Speeds at which yaw angles are set: below, there is little to win, and above, turbines soon make their
rated power in each other's wakes."""

MEMORY = 0.98
"""Correlation of the winds of a round with those of the next: about eight hours."""


class Series(NamedTuple):
    """The wind of every round: what is measured before it, and from where it blew.

    Attributes
    ----------
    measured
        The wind direction that is known before the round, in degrees.
    speeds
        The wind speed in m/s.
    directions
        The direction in FLORIS: as far from the measured one as the wind jitters.
    """

    measured: FloatArray
    speeds: FloatArray
    directions: FloatArray

    @classmethod
    def draw(cls, rounds: int, rng: np.random.Generator, *, memory: float = MEMORY) -> Series:
        """Winds of the rose, each like the one before it."""
        where, how_fast = (ndtr(_wander(rounds, rng, memory)) for _ in range(2))
        steps = np.append(0.0, np.cumsum(FREQUENCY))
        measured = np.interp(where * steps[-1], steps, 30.0 * np.arange(13))
        sector = np.minimum(measured / 30.0, 11).astype(np.int64)
        low, high = (np.exp(-((speed / SCALE[sector]) ** 2)) for speed in SPEEDS)
        speeds = SCALE[sector] * np.sqrt(-np.log(low + how_fast * (high - low)))
        directions = measured + JITTER[0] * rng.standard_normal(rounds)
        return cls(measured, np.clip(speeds, *SPEEDS), directions)


def _wander(rounds: int, rng: np.random.Generator, memory: float) -> FloatArray:
    """Standard normal numbers of which each remembers the one before it."""
    values = rng.standard_normal(rounds)
    for t in range(1, rounds):
        values[t] = memory * values[t - 1] + np.sqrt(1.0 - memory**2) * values[t]
    return values
