"""Signals in rows and columns: where the streets are and which way the traffic goes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb import Graph

ENTRANCE = 300.0
"""Metres of street before the first signal."""


@dataclass(frozen=True)
class Grid:
    """Signals in rows and columns, a street of one lane in each direction between neighbours.

    Attributes
    ----------
    columns, rows
        Distances in metres between neighbouring columns and rows.
    through
        Vehicles an hour that cross the grid straight from each entrance.
    turning
        Vehicles an hour that turn right, from each entrance to each street across it.
    minutes
        Simulated minutes that are measured, after three that fill the streets.
    """

    columns: tuple[float, ...] = (350.0, 350.0, 350.0)
    rows: tuple[float, ...] = (350.0, 350.0, 350.0)
    through: float = 360.0
    turning: float = 14.0
    minutes: int = 15

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of signals."""
        return len(self.rows) + 1, len(self.columns) + 1

    @cached_property
    def signals(self) -> list[str]:
        """Names of the signals, row by row."""
        rows, columns = self.shape
        return [f"s{i}-{j}" for i in range(rows) for j in range(columns)]

    @cached_property
    def graph(self) -> Graph:
        """Signals and the streets between them."""
        grid = Graph.grid(*self.shape)
        places = self.places()
        stand = np.array([places[signal] for signal in self.signals])
        return Graph(grid.indptr, grid.indices, tuple(self.signals), stand)

    def places(self) -> dict[str, tuple[float, float]]:
        """Where the signals and the ends of the streets are, in metres."""
        x = np.concatenate([[0.0], np.cumsum(self.columns)])
        y = np.concatenate([[0.0], np.cumsum(self.rows)])
        found = {f"s{i}-{j}": (x[j], y[i]) for i in range(y.size) for j in range(x.size)}
        for i in range(y.size):
            found |= {f"w{i}": (-ENTRANCE, y[i]), f"e{i}": (x[-1] + ENTRANCE, y[i])}
        for j in range(x.size):
            found |= {f"b{j}": (x[j], -ENTRANCE), f"t{j}": (x[j], y[-1] + ENTRANCE)}
        return found

    def routes(self) -> tuple[list[list[str]], list[list[str]]]:
        """Ways straight through the grid, and ways with one right turn."""
        rows, columns = self.shape
        across = [[f"w{i}", *self.signals[i * columns :][:columns], f"e{i}"] for i in range(rows)]
        up = [[f"b{j}", *self.signals[j::columns], f"t{j}"] for j in range(columns)]
        straight = [way for both in (across, up) for one in both for way in (one, one[::-1])]
        turns = []
        for i in range(rows):
            for j in range(columns):
                west, east = across[i][: j + 2], across[i][j + 1 :]
                below, above = up[j][: i + 2], up[j][i + 1 :]
                turns += [
                    west + below[::-1][1:],
                    east[::-1] + above[1:],
                    below + east[1:],
                    above[::-1] + west[::-1][1:],
                ]
        return straight, turns
