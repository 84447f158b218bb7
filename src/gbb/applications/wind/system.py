"""A farm in winds that change from round to round, as a system that policies are played in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray
from gbb.applications._system import SimulatorSystem
from gbb.applications.wind.farm import SPEED, Farm
from gbb.applications.wind.problem import YAWS
from gbb.problem import Problem

JITTER = (2.0, 0.4)
"""Standard deviations of the wind's direction (degrees) and speed (m/s) around the nominal ones."""

RECORDS = 6
"""Ten-minute records in a round: yaw angles are held for an hour, and every record has its own wind."""


class Winds(NamedTuple):
    """The winds of every round (rounds x records), and what a free-standing turbine makes of them."""

    directions: FloatArray
    speeds: FloatArray
    free: FloatArray

    @classmethod
    def draw(cls, farm: Farm, rounds: int, rng: np.random.Generator) -> Winds:
        """Winds that jitter around the farm's nominal one."""
        shape = (rounds, RECORDS)
        directions = farm.direction + JITTER[0] * rng.standard_normal(shape)
        speeds = SPEED + JITTER[1] * rng.standard_normal(shape)
        return cls(directions, speeds, farm.free_stream(speeds.ravel()).reshape(shape))


class Hour(NamedTuple):
    """One round: what the turbines report, and their mean power in watts."""

    rewards: FloatArray
    power: FloatArray


class WindSystem(SimulatorSystem[Hour]):
    """Turbines choose their yaw, and report their power.

    Every turbine reports its mean power over the records, each divided by what a turbine in the free
    stream makes of that record's wind speed: an operator with a mast can do that. Nothing is corrected
    for the wind's direction.
    """

    def __init__(self, farm: Farm, winds: Winds, problem: Problem) -> None:
        super().__init__(problem)
        self.farm, self.winds = farm, winds

    def simulate(self, t: int, arms: tuple[int, ...]) -> Hour:
        """The records of round ``t`` in FLORIS."""
        directions, speeds, free = (each[t - 1] for each in self.winds)
        yaw = np.tile(YAWS[list(arms[: self.farm.n])], (RECORDS, 1))
        records = self.farm.powers(yaw, directions, speeds)
        told = (records / free[:, None]).mean(axis=0)
        return Hour(np.append(told, 0.0), records.mean(axis=0))  # the wind reports nothing
