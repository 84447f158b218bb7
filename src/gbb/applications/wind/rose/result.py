"""What everybody earned in a season, and what was learnt, by wind direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.applications.wind.farm import Farm
from gbb.applications.wind.rose.plan import Tables
from gbb.applications.wind.rose.wakes import Wakes

ZERO_YAW, TABLE = "zero yaw", "FLORIS's table"
LEARNER, BLIND, SAFE = "ThompsonSampling", "ThompsonSampling, blind", "Conservative"
FITTED = "fitted to FLORIS"

LAST = 3
"""Gains are measured over the last of so many parts of the series."""


class Season(NamedTuple):
    """Power of the farm in watts of all rounds (seeds x rounds), by who steered it."""

    power: Mapping[str, FloatArray]

    def gain(self, name: str) -> FloatArray:
        """Energy over that of zero yaw, less 1, over the last third (seeds)."""
        own, zero = (self._last(each) for each in (name, ZERO_YAW))
        ratio: FloatArray = own / zero - 1.0
        return ratio

    def share(self, name: str) -> FloatArray:
        """Share of what FLORIS's table gains over zero yaw over the last third (seeds)."""
        own, zero, table = (self._last(each) for each in (name, ZERO_YAW, TABLE))
        share: FloatArray = (own - zero) / (table - zero)
        return share

    def so_far(self, name: str) -> FloatArray:
        """Energy so far over that of zero yaw (seeds x rounds)."""
        own, zero = (np.cumsum(self.power[each], axis=1) for each in (name, ZERO_YAW))
        ratio: FloatArray = own / zero
        return ratio

    def _last(self, name: str) -> FloatArray:
        power = self.power[name]
        total: FloatArray = power[:, -max(1, power.shape[1] // LAST) :].sum(axis=1)
        return total


class Learnt(NamedTuple):
    """Yaw angles by wind direction, at the nominal speed, and what each turbine makes of them.

    Attributes
    ----------
    directions
        Those of FLORIS's table.
    upwind
        In how many wakes each turbine stands (directions x n).
    yaw, power
        By whose angles they are (directions x n), in degrees and watts.
    """

    directions: FloatArray
    upwind: IntArray
    yaw: Mapping[str, FloatArray]
    power: Mapping[str, FloatArray]

    @classmethod
    def find(
        cls, farm: Farm, wakes: Wakes, tables: Tables, angles: Mapping[str, FloatArray]
    ) -> Learnt:
        """The powers of all angles, with those of zero yaw and of FLORIS's table."""
        directions = tables.directions
        yaw = {ZERO_YAW: np.zeros_like(tables.yaw), TABLE: tables.yaw, **angles}
        power = {name: farm.powers(each, directions) for name, each in yaw.items()}
        upwind = np.stack([wakes.upwind(float(each)) for each in directions])
        return cls(directions, upwind, yaw, power)

    def share(self, name: str) -> float:
        """Share of the table's gain, in a wind that comes from all directions alike."""
        own, zero, table = (self.power[each].sum() for each in (name, ZERO_YAW, TABLE))
        return float((own - zero) / (table - zero))

    def by_direction(self, name: str) -> FloatArray:
        """Power of the farm over that of zero yaw, less 1."""
        own, zero = (self.power[each].sum(axis=1) for each in (name, ZERO_YAW))
        gain: FloatArray = own / zero - 1.0
        return gain

    def by_depth(self, name: str) -> FloatArray:
        """What turbines in 0, 1, 2, 3 or more wakes gain, over the power of all with zero yaw."""
        gained = self.power[name] - self.power[ZERO_YAW]
        depth = np.minimum(self.upwind, 3).ravel()
        sums = np.bincount(depth, weights=gained.ravel(), minlength=4)
        return sums.astype(np.float64) / float(self.power[ZERO_YAW].sum())
