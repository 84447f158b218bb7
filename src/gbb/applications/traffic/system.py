"""Traffic lights in SUMO as a system that policies are played in."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import IntArray
from gbb.applications._system import SimulatorSystem
from gbb.applications.traffic.sumo import CYCLE, Measured, Simulator
from gbb.problem import Problem

OFFSETS = np.arange(6) * (CYCLE // 6)
"""The six arms, in seconds."""


class TrafficSystem(SimulatorSystem[Measured]):
    """Signals choose their offsets; round t has the traffic of ``seeds[t - 1]``."""

    def __init__(self, simulator: Simulator, problem: Problem, seeds: IntArray) -> None:
        super().__init__(problem)
        self.simulator, self.seeds = simulator, seeds

    def simulate(self, t: int, arms: tuple[int, ...]) -> Measured:
        """One run of SUMO."""
        return self.simulator.run(OFFSETS[list(arms)], int(self.seeds[t - 1]))
