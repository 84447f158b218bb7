"""The farm in all winds: its problem, FLORIS's yaw table, and what zero yaw is known to make."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.applications.wind.farm import ACROSS, ALONG, Farm
from gbb.applications.wind.problem import YAWS, ZERO, features
from gbb.applications.wind.rose.series import SPEEDS
from gbb.applications.wind.rose.wakes import Wakes
from gbb.applications.wind.system import JITTER
from gbb.contexts import Contexts
from gbb.graph import Graph
from gbb.problem import Problem

SIGMA, S = 0.2, 1.1
"""Noise of a turbine's power in a round, and a bound on each matrix, as shares of the highest power.

A wind that jitters by 2 degrees moves one turbine's power by 0.05 of the free stream, but all of them
together: the farm's power varies as if each had 0.2 of its own."""

CURVE = 41
"""At how many speeds the power curve is tabulated."""


def look_at(farm: Farm) -> Wakes:
    """The contexts of a farm: its layout and the power curve of its turbines."""
    speeds = np.linspace(*SPEEDS, CURVE)
    powers = farm.free_stream(speeds)
    place = np.arange(farm.n)
    x, y = ALONG * (place // farm.rows), ACROSS * (place % farm.rows)
    return Wakes(x.tolist(), y.tolist(), speeds.tolist(), (powers / powers[-1]).tolist())


def formulate(farm: Farm, contexts: Contexts) -> Problem:
    """The problem of choosing yaw angles in every wind, when each turbine reports its own power."""
    n = farm.n + 1
    allowed = np.ones((n, len(YAWS)), dtype=np.bool_)
    allowed[-1] = np.arange(len(YAWS)) == ZERO
    return Problem(
        Graph.complete(n),
        features(2),
        sigma=SIGMA,
        S=S,
        arm_names=[f"{yaw:+.0f}" for yaw in YAWS],
        feedback="agent",
        allowed=allowed,
        contexts=contexts,
    )


class Tables(NamedTuple):
    """What is known of the farm by wind direction.

    Attributes
    ----------
    directions
        Wind directions in even steps from 0 to 360 degrees, which is left out.
    yaw
        FLORIS's own yaw angles (directions x n) at the nominal speed, by serial refine.
    zero
        Power of the farm with zero yaw, over that of a turbine in the free stream, by whole degrees,
        averaged over winds that jitter.
    """

    directions: FloatArray
    yaw: FloatArray
    zero: FloatArray

    @classmethod
    def make(cls, farm: Farm, step: float) -> Tables:
        """Half a circle by FLORIS; the farm looks the same when it is turned by the other half."""
        half = np.arange(0.0, 180.0, step)
        yaw = farm.serial_refine_all(float(YAWS[0]), float(YAWS[-1]), half)
        degrees = np.arange(0.0, 180.0)
        zero = farm.powers(np.zeros((180, farm.n)), degrees).sum(axis=1) / farm.free
        apart = np.arange(-180, 180)
        law = np.exp(-0.5 * (apart / JITTER[0]) ** 2)
        around = np.fft.ifft(np.fft.fft(np.tile(zero, 2)) * np.fft.fft(np.roll(law, 180)))
        return cls(
            np.append(half, half + 180.0),
            np.concatenate([yaw, yaw[:, ::-1]]),
            around.real / law.sum(),
        )

    def nearest(self, directions: FloatArray) -> IntArray:
        """The place in the table of each direction."""
        step = 360.0 / len(self.directions)
        places: IntArray = np.rint(directions / step).astype(np.int64) % len(self.directions)
        return places

    def zero_yaw(self, wakes: Wakes) -> Any:
        """What zero yaw pays, as a function of the context: what a farm knows from years of data."""
        degrees, zero = np.arange(361.0), np.append(self.zero, self.zero[0])

        def pays(context: tuple[float, float]) -> float:
            direction, speed = context
            return float(wakes.share(speed) * np.interp(direction, degrees, zero))

        return pays
