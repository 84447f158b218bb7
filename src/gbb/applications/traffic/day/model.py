"""What the learner makes of the streets: which signals bear on each other, and how."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gbb
from gbb._support.checks import IntArray
from gbb.applications.traffic.day.hours import REGIMES
from gbb.applications.traffic.learner import FEATURES, bound_matrix
from gbb.applications.traffic.streets import Grid
from gbb.applications.traffic.system import OFFSETS
from gbb.contexts import Regimes

KINDS = ("outbound", "inbound", "outbound, two blocks", "inbound, two blocks")
"""Types of directed edges: where the traffic from j to i goes, and how far."""


class Model(NamedTuple):
    """Signals with an edge between those that bear on each other, and the type of every edge."""

    graph: gbb.Graph
    types: IntArray

    def problem(self, arms: str, sigma: float = 1.0, *, regimes: bool = False) -> gbb.Problem:
        """What a learner knows: each signal tells of all its approaches together."""
        X, contexts = FEATURES[arms], Regimes(REGIMES) if regimes else None
        return gbb.Problem(
            self.graph, X, sigma=sigma, S=bound_matrix(X),
            edge_types=self.types, feedback="agent", contexts=contexts,
        )  # fmt: skip


def alternate(grid: Grid) -> IntArray:
    """The double alternate of textbooks, two signals together and the next two half a cycle later.

    It is what suits both ways where a block takes a fifth or a quarter of the cycle.
    """
    rows, columns = (np.arange(size) // 2 for size in grid.shape)
    half: IntArray = OFFSETS.size // 2 * ((rows[:, None] + columns) % 2)
    return half.ravel()


def make_model(grid: Grid, *, reach: int = 2, ways: bool = True) -> Model:
    """Signals on the same line within ``reach`` blocks, with a matrix for each way and distance.

    What a platoon meets at a signal depends on the last signal, and on the one before it.
    """
    rows, columns = grid.shape
    spots = [(i, j) for i in range(rows) for j in range(columns)]
    pairs = [
        (a, b)
        for a, (i, j) in enumerate(spots)
        for b, (up, along) in enumerate(spots[a + 1 :], start=a + 1)
        if (i == up or j == along) and abs(i - up) + abs(j - along) <= reach
    ]
    plain = gbb.Graph.from_edges(pairs, n=len(spots), undirected=True)
    graph = gbb.Graph(plain.indptr, plain.indices, tuple(grid.signals))
    places = np.array(spots)
    steps = (places[graph.edges[:, 0]] - places[graph.edges[:, 1]]).sum(axis=1)
    types = (steps > 0) * ways + (1 + ways) * (np.abs(steps) - 1)
    return Model(graph, types.astype(np.int64))
