"""A square wind farm in FLORIS: powers for yaw angles and winds, its own optimiser and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes

from gbb._support.checks import FloatArray
from gbb.applications._require import require

ROTOR, HUB = 126.0, 90.0
"""Rotor diameter and hub height of the NREL 5 MW turbine, FLORIS's default, in metres."""

ALONG, ACROSS = 5.0, 3.0
"""Distance between turbines from west to east and from south to north, in rotor diameters."""

SPEED, TURBULENCE = 8.0, 0.06
"""Nominal wind speed (m/s) and turbulence intensity."""

LARGEST_BATCH = 500
"""The most cases that FLORIS is handed at once: its memory grows with them."""


class Farm:
    """``rows`` x ``rows`` turbines in a wind that comes from ``direction`` degrees.

    Turbine ``r * rows + c`` stands in row r, counted from the west, where the wind of 270 degrees
    comes from.

    Parameters
    ----------
    rows
        Rows of the farm, and turbines in each.
    direction
        The nominal wind direction in degrees; 270 is from the west.
    """

    def __init__(self, rows: int, direction: float) -> None:
        floris = require("wind", "FLORIS", "floris")
        self.rows, self.direction, self.n = rows, direction, rows * rows
        place = np.arange(self.n)
        self.depth = place // rows
        settings = floris.FlorisModel.get_defaults()
        for log in settings["logging"].values():
            log["enable"] = False
        self._model: Any = floris.FlorisModel(settings)
        self.positions = np.column_stack(
            [ALONG * ROTOR * self.depth, ACROSS * ROTOR * (place % rows)]
        )
        self._model.set(layout_x=self.positions[:, 0], layout_y=self.positions[:, 1])
        self._wind: tuple[bytes, bytes] | None = None
        self.free = float(self.free_stream(np.array([SPEED]))[0])

    def powers(
        self,
        yaw: FloatArray,
        directions: FloatArray | None = None,
        speeds: FloatArray | None = None,
    ) -> FloatArray:
        """Power of every turbine in watts (cases x n) for yaw angles in degrees (cases x n).

        The wind is the nominal one unless it is given case by case.
        """
        cases = len(yaw)
        towards = np.full(cases, self.direction) if directions is None else directions
        blowing = np.full(cases, SPEED) if speeds is None else speeds
        result = np.empty((cases, self.n))
        for start in range(0, cases, LARGEST_BATCH):
            part = slice(start, start + LARGEST_BATCH)
            wind = (towards[part].tobytes(), blowing[part].tobytes())
            same, self._wind = wind == self._wind, wind
            result[part] = _run(self._model, yaw[part], towards[part], blowing[part], same=same)
        return result

    def power(self, yaw: FloatArray) -> FloatArray:
        """Power of the farm in watts at the nominal wind, for yaw angles (cases x n)."""
        different, where = np.unique(yaw, axis=0, return_inverse=True)
        total: FloatArray = self.powers(different).sum(axis=1)[where.ravel()]
        return total

    def free_stream(self, speeds: FloatArray) -> FloatArray:
        """Power in watts, at these speeds, of a turbine that faces the wind with none before it."""
        alone = self._model.copy()
        alone.set(layout_x=[0.0], layout_y=[0.0])
        towards = np.full(len(speeds), self.direction)
        return _run(alone, np.zeros((len(speeds), 1)), towards, speeds)[:, 0]

    def influence(self, angles: FloatArray, contexts: FloatArray) -> FloatArray:
        """How far turbine u's yaw moves turbine v's power, at [u, v] as a share of the free stream.

        The range of v's power over the ``angles`` of u with all others held, averaged over
        ``contexts`` (yaw angles, cases x n), at the nominal wind.
        """
        shape = (len(contexts), self.n, len(angles), self.n)
        moved = np.broadcast_to(contexts[:, None, None, :], shape).copy()
        for u in range(self.n):
            moved[:, u, :, u] = angles
        powers = self.powers(moved.reshape(-1, self.n)).reshape(shape)
        ranges: FloatArray = np.ptp(powers, axis=2).mean(axis=0)
        return ranges / self.free

    def serial_refine(self, low: float, high: float) -> FloatArray:
        """Yaw angles (n) between ``low`` and ``high`` from FLORIS's own serial-refine optimiser."""
        (angles,) = self.serial_refine_all(low, high, np.array([self.direction]))
        result: FloatArray = angles
        return result

    def serial_refine_all(self, low: float, high: float, directions: FloatArray) -> FloatArray:
        """The same for each of these wind directions (directions x n), at the nominal speed."""
        name = "floris.optimization.yaw_optimization.yaw_optimizer_sr"
        optimiser = require("wind", "FLORIS", name).YawOptimizationSR
        model = self._nominal(directions=directions)
        search = optimiser(model, minimum_yaw_angle=low, maximum_yaw_angle=high)
        found = search.optimize(print_progress=False)
        angles: FloatArray = np.array(list(found["yaw_angles_opt"]), dtype=np.float64)
        return angles

    def draw(self, yaw: FloatArray, ax: Axes) -> None:
        """Draw the wind speed at hub height and the rotors, with FLORIS's own plotting."""
        flow = require("wind", "FLORIS", "floris.flow_visualization")
        layout = require("wind", "FLORIS", "floris.layout_visualization")
        model = self._nominal(yaw)
        plane = model.calculate_horizontal_plane(height=HUB, x_resolution=160, y_resolution=100)
        with rc_context():  # FLORIS changes matplotlib's settings
            flow.visualize_cut_plane(plane, ax=ax, min_speed=2.0, max_speed=SPEED, clevels=30)
            layout.plot_turbine_rotors(model, ax=ax)

    def _nominal(self, yaw: FloatArray | None = None, directions: FloatArray | None = None) -> Any:
        """A model of its own at the nominal wind, or at winds from other directions."""
        model = self._model.copy()
        towards = np.array([self.direction]) if directions is None else directions
        model.set(
            wind_directions=towards,
            wind_speeds=np.full(len(towards), SPEED),
            turbulence_intensities=np.full(len(towards), TURBULENCE),
            yaw_angles=np.zeros((len(towards), self.n)) if yaw is None else yaw[None, :],
        )
        return model


def _run(
    model: Any, yaw: FloatArray, directions: FloatArray, speeds: FloatArray, *, same: bool = False
) -> FloatArray:
    """Powers in watts (cases x turbines) of one run of FLORIS; ``same`` winds as the run before."""
    if same:  # the yaw angles alone: to set a wind takes FLORIS longer than to compute its powers
        model.set_operation(yaw_angles=yaw)
    else:
        model.set(
            wind_directions=directions,
            wind_speeds=speeds,
            turbulence_intensities=np.full(len(yaw), TURBULENCE),
            yaw_angles=yaw,
        )
    model.run()
    powers: FloatArray = model.get_turbine_powers()
    return powers
