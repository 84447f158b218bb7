"""Hours and whole days of traffic in SUMO, where signals change their plans by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.applications._system import SimulatorSystem
from gbb.applications.traffic.day.hours import HOURS, make_day, make_flows, make_grid
from gbb.applications.traffic.sumo import WARM_UP, Measured, Simulator
from gbb.applications.traffic.system import OFFSETS
from gbb.problem import Problem

MANY = 6.0
"""Vehicles held up on a street, at a time and in the mean, that make its reward 0."""


class DayLoss(NamedTuple):
    """Vehicle-hours lost in every hour of a day: on all streets, and between signals."""

    loss: FloatArray
    between: FloatArray


class DaySimulator(Simulator):
    """The hours of a day.

    Parameters
    ----------
    minutes
        Simulated minutes that are measured of an hour that is simulated by itself.
    length
        Simulated minutes that each hour of a whole day takes.
    """

    def __init__(self, minutes: int, length: int = 60) -> None:
        super().__init__(make_grid(minutes))
        self.length = length
        for k, hour in enumerate(HOURS):
            self.write_demand(f"hour{k}", make_flows(self.grid, hour))
        self.write_demand("day", make_day(self.grid, 60 * length))
        self._phases = self.programs()

    def run_hour(self, k: int, plan: IntArray, seed: int) -> Measured:
        """Some minutes of hour ``k`` with one arm per signal, from empty streets; losses by the hour.

        The reward of a signal is the sum over its streets from other signals of ``1 - (vehicles held up
        on it in the mean) / 6``: rewards add up to the vehicle-hours that are lost between signals.
        """
        seconds = 60 * self.grid.minutes
        counted = self.simulate(f"hour{k}", self.shift(OFFSETS[plan]), seconds, seed)[0]
        held = counted.lost / seconds
        rewards = np.zeros(self.grid.graph.n)
        np.add.at(rewards, self.grid.graph.edges[:, 0], 1.0 - held / MANY)
        return Measured(rewards, counted.everywhere / seconds, float(held.sum()))

    def run_day(self, plans: Sequence[IntArray], seed: int) -> DayLoss:
        """A whole day in one run, with a plan for every hour; queues last from hour to hour."""
        seconds = 60 * self.length
        counted = self.simulate(
            "day", self._switch(plans, seconds), seconds, seed, times=len(HOURS)
        )
        everywhere = np.array([each.everywhere for each in counted])
        between = np.array([each.lost.sum() for each in counted])
        return DayLoss(everywhere / seconds, between / seconds)

    def _switch(self, plans: Sequence[IntArray], seconds: int) -> list[str]:
        """Rows of a SUMO file: the signals' programs, and when they change."""
        changes = [k for k in range(1, len(plans)) if (plans[k] != plans[k - 1]).any()]
        rows = []
        for k in (0, *changes):
            offsets = OFFSETS[plans[k]].tolist()
            for signal, offset in zip(self.grid.signals, offsets, strict=True):
                head = f'<tlLogic id="{signal}" type="static" programID="p{k}" offset="{offset}">'
                rows += [head, *self._phases[signal], "</tlLogic>"]
        rows.append('<WAUT refTime="0" id="clock" startProg="p0">')
        rows += [f'<wautSwitch time="{WARM_UP + k * seconds}" to="p{k}"/>' for k in changes]
        rows.append("</WAUT>")
        rows += [f'<wautJunction wautID="clock" junctionID="{s}"/>' for s in self.grid.signals]
        return rows


class DaySystem(SimulatorSystem[Measured]):
    """Signals choose their offsets for an hour; round t is the next hour, with traffic of its own."""

    def __init__(self, simulator: DaySimulator, problem: Problem, seeds: IntArray) -> None:
        super().__init__(problem)
        self.simulator, self.seeds = simulator, seeds

    def context(self, t: int) -> str:
        """What is known of round ``t``: the time of day."""
        return HOURS[(t - 1) % len(HOURS)].regime

    def simulate(self, t: int, arms: tuple[int, ...]) -> Measured:
        """One run of SUMO."""
        return self.simulator.run_hour((t - 1) % len(HOURS), np.array(arms), int(self.seeds[t - 1]))
