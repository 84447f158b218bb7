"""A hexagonal radio network in CRRM: one channel per cell, what its users get and report."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.applications._require import require
from gbb.graph import Graph

CHANNELS = 3
"""Channels that the band is split in: the arms."""

POWER_W = 100.0
"""What a cell transmits on its channel."""

NEIGHBOURS = 1.05
"""Cells are linked up to this multiple of the smallest distance between two of them."""

REPORTS = 5
"""How many of its users a cell asks in a round."""

ERROR_DB = 3.0
"""Standard deviation of a reported power's error, in decibel."""

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def refusals() -> Iterator[None]:
    """Turn CRRM's way of refusing an input, to print and to exit, into an error that says why."""
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            yield
    except SystemExit as stop:
        text = COLOUR.sub("", said.getvalue()).strip() or "no reason given"
        raise InputError(f"CRRM refused its input: {text}") from stop


class Network:
    """Cells on a hexagonal lattice with users scattered over them, simulated by CRRM.

    Every cell transmits on one of three channels. A user hears its own cell and, as interference,
    all other cells on the same channel, neighbours most. Users stay where they are, and which cell
    serves them does not depend on the channels.

    Parameters
    ----------
    cells
        Number of cells, filled in a spiral from the middle: 19 and 37 are whole hexagons.
    users
        Number of users, scattered at random.
    seed
        Where the users stand.
    pathloss
        The name of CRRM's model of how a signal fades with distance.
    """

    def __init__(
        self, cells: int = 19, *, users: int = 500, seed: int = 0, pathloss: str = "UMa"
    ) -> None:
        crrm = require("radio", "CRRM", "CRRM")
        self.cells = checks.integer("cells", cells, low=2)
        with refusals():
            parameters = crrm.Parameters(
                n_cell_locations=self.cells,
                n_ues=checks.integer("users", users, low=1),
                n_subbands=CHANNELS,
                rng_seeds=checks.integer("seed", seed, low=0),
                pathloss_model_name=pathloss,
            )
            self._simulator = crrm.Simulator(parameters)
        self.throughput(np.zeros(self.cells, dtype=np.int64))  # fills in who is served by whom

    @cached_property
    def positions(self) -> FloatArray:
        """Where the cells stand, in km (cells x 2)."""
        metres: FloatArray = np.array(self._simulator.cell_locations.data[:, :2])
        return checks.frozen(metres / 1000.0)

    @cached_property
    def users(self) -> FloatArray:
        """Where the users stand, in km (users x 2)."""
        metres: FloatArray = np.array(self._simulator.ue_locations.data[:, :2])
        return checks.frozen(metres / 1000.0)

    @cached_property
    def serving(self) -> IntArray:
        """Which cell serves each user."""
        return checks.frozen(np.array(self._simulator.a.data, dtype=np.int64))

    @cached_property
    def graph(self) -> Graph:
        """The cells, linked when they are neighbours."""
        x = self.positions
        distance = np.linalg.norm(x[:, None] - x[None], axis=2)
        near = distance < NEIGHBOURS * distance[distance > 0].min()
        links = np.argwhere(np.triu(near, 1))
        return Graph.from_edges(links, n=self.cells, undirected=True, positions=x)

    def throughput(self, allocation: IntArray) -> float:
        """What all users get together, in Mb/s, by CRRM."""
        arms = checks.indices(
            "allocation", allocation, length=self.cells, high=CHANNELS, meaning="a channel per cell"
        )
        power = np.zeros((self.cells, CHANNELS))
        power[np.arange(self.cells), arms] = POWER_W
        with refusals():
            self._simulator.set_power_matrix(power)
            return float(self._simulator.get_UE_throughputs().sum())

    def reports(self, allocation: IntArray, rng: np.random.Generator) -> FloatArray:
        """The share of its rate that cell i keeps if j alone interferes, for every edge (i, j).

            ``sum over users of log2(1 + S / (N + I_j)) / sum over users of log2(1 + S / N)``

        over the users that cell i asks this round, drawn anew: S the power that the user reports of its
        own cell, I_j of cell j on the same channel (0 when j is on another), N the thermal noise. Each
        reported power has an error of its own. A cell without users keeps everything.
        """
        self.throughput(allocation)
        power, noise = self._simulator.rsrp.data, self._simulator.params.noise_power
        source, target = self.graph.sources, self.graph.indices
        asked = self._asked(rng)
        error = 10.0 ** (ERROR_DB / 10.0 * rng.standard_normal((2, self.graph.m, REPORTS)))
        user = asked[source]
        channel = np.asarray(allocation)[source][:, None]
        own = error[0] * power[user, source[:, None], channel]
        other = error[1] * power[user, target[:, None], channel]
        alone = np.log2(1.0 + own / noise).sum(axis=1)
        kept: FloatArray = np.log2(1.0 + own / (noise + other)).sum(axis=1) / alone
        kept[asked[source, 0] < 0] = 1.0
        return kept

    def _asked(self, rng: np.random.Generator) -> IntArray:
        """``REPORTS`` users of every cell, with replacement; -1 where a cell has none."""
        order = np.argsort(self.serving, kind="stable")
        counts = np.bincount(self.serving, minlength=self.cells)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        step = (rng.random((self.cells, REPORTS)) * counts[:, None]).astype(np.int64)
        place = np.minimum(first[:, None] + step, len(order) - 1)
        asked: IntArray = np.where(counts[:, None] > 0, order[place], -1)
        return asked
