"""The hours of a day: how much traffic each has, and which way it goes."""

from __future__ import annotations

from typing import NamedTuple

from gbb.applications.traffic.streets import Grid
from gbb.applications.traffic.sumo import WARM_UP, Flow

REGIMES = ("morning", "noon", "evening")
"""What the learner is told of the hour."""

BLOCK = 150.0
"""Metres between neighbouring signals: some 10 s of a cycle of 60, so that no plan suits both ways."""


class Hour(NamedTuple):
    """One hour of the day.

    Attributes
    ----------
    clock
        When it begins.
    regime
        What the learner is told.
    vehicles
        That cross the grid straight on each line, both ways together.
    inbound
        The share of them that goes inbound: to the north or to the east.
    """

    clock: int
    regime: str
    vehicles: float
    inbound: float


HOURS = tuple(
    Hour(6 + k, regime, vehicles, inbound)
    for k, (regime, vehicles, inbound) in enumerate(
        [
            ("morning", 600.0, 0.75),
            ("morning", 720.0, 0.75),
            ("morning", 720.0, 0.75),
            ("morning", 600.0, 0.75),
            *[("noon", 540.0, 0.50)] * 5,
            ("evening", 600.0, 0.25),
            ("evening", 720.0, 0.25),
            ("evening", 720.0, 0.25),
            ("evening", 660.0, 0.25),
            ("evening", 540.0, 0.25),
        ]
    )
)
"""From 6 to 20 o'clock: 3 to 1 inbound, then even, then 3 to 1 outbound."""


def make_grid(minutes: int) -> Grid:
    """The grid of the day: short blocks, so that green waves one way do not suit the other."""
    return Grid(columns=(BLOCK,) * 3, rows=(BLOCK,) * 3, minutes=minutes)


def make_flows(grid: Grid, hour: Hour, begin: int = 0, end: int = 86400) -> list[Flow]:
    """The traffic of an hour between two seconds."""
    straight, turns = grid.routes()
    shares = {True: hour.inbound, False: 1.0 - hour.inbound}
    through = [Flow(way, hour.vehicles * shares[way[0][0] in "wb"], begin, end) for way in straight]
    return [*through, *(Flow(way, grid.turning, begin, end) for way in turns)]


def make_day(grid: Grid, seconds: int) -> list[Flow]:
    """The traffic of a whole day whose hours take ``seconds``, the first of them after the warm-up."""
    starts = [0, *(WARM_UP + k * seconds for k in range(1, len(HOURS) + 1))]
    return [
        flow
        for k, hour in enumerate(HOURS)
        for flow in make_flows(grid, hour, starts[k], starts[k + 1])
    ]
