"""What is known before a round: the wind, from which the geometry of all wakes follows.

Edges have features by where a turbine stands in another's wake, so that what is learnt of one pair of
turbines serves every pair and every wind direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.contexts import Contexts
from gbb.graph import Graph
from gbb.problem.edges import EdgeFeatures

ALONG, ACROSS = (3.0, 9.0), (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
"""Nodes of the distance downstream and of the offset across, in rotor diameters, for the turbine whose
wake is the strongest; a matrix for each pair of nodes, and between nodes a mixture of the nearest."""

ALONG_NEXT, ACROSS_NEXT = (5.0, 12.0), (-1.4, -0.7, 0.0, 0.7, 1.4)
"""The same for the turbine whose wake is the next strongest."""

DEPTHS = 2
"""The strongest wake has other matrices where it is the only one, and where there are more upwind."""

FAINT = 0.02
"""A wake weaker than this does not count."""

FIRST = len(ALONG) * len(ACROSS)
MATRICES = 1 + DEPTHS * FIRST + len(ALONG_NEXT) * len(ACROSS_NEXT)
"""One for a turbine in the free stream, and one for each node."""


class Wakes(Contexts):
    """The wind decides which turbines stand in whose wake, where in it, and how much there is to win.

    A context is a pair of the wind direction in degrees (270 is from the west) and its speed in m/s.
    Agents are the turbines and, last, the wind, which has one arm; all of them are linked. A turbine
    with nothing upwind pays by its edge to the wind. Any other pays by its edges to the one or two
    turbines in whose wakes it stands deepest. All features are in proportion to the power of the free
    stream, so that rewards of all rounds add up to energy.

    Parameters
    ----------
    x, y
        Where the turbines stand, towards the east and towards the north, in rotor diameters.
    speeds, powers
        The power curve of a turbine: its power in the free stream at increasing speeds, as a share of
        that at the highest.
    """

    kind = "wakes"
    single = False
    symmetric = False
    max_norm = 1.0

    def __init__(
        self,
        x: Sequence[float],
        y: Sequence[float],
        speeds: Sequence[float],
        powers: Sequence[float],
    ) -> None:
        self.x, self.y, self.speeds, self.powers = (
            checks.array(name, values, ndim=1)
            for name, values in (("x", x), ("y", y), ("speeds", speeds), ("powers", powers))
        )
        self._geometry = lru_cache(maxsize=512)(self._find)

    def count_matrices(self, types: int) -> int:  # noqa: ARG002
        """All that there are."""
        return MATRICES

    def read(self, graph: Graph, context: Any) -> FloatArray:
        """Check a wind direction and speed."""
        n = len(self.x) + 1
        if (graph.n, graph.m) != (n, n * (n - 1)):
            rule = f"link all of {n - 1} turbines and the wind"
            raise checks.input_error("graph", rule, repr(graph))
        row = checks.array("context", context, shape=(2,), meaning="wind direction and speed")
        low, high = self.speeds[[0, -1]]
        checks.real("speed", row[1], low=low, high=high)
        return checks.frozen(np.array([row[0] % 360.0, row[1]]))

    def edges(self, declared: EdgeFeatures, types: int, row: FloatArray) -> EdgeFeatures:  # noqa: ARG002
        """The places of all turbines in each other's wakes."""
        edge, kind, weight = self._geometry(float(row[0]))
        return EdgeFeatures(edge, kind, self.share(row[1]) * weight)

    def share(self, speed: Any) -> Any:
        """The power of the free stream as a share of that at the highest speed."""
        return np.interp(speed, self.speeds, self.powers)

    def name(self, row: FloatArray) -> Any:
        """The wind direction and speed."""
        return tuple(row.tolist())

    def to_dict(self) -> dict[str, Any]:
        """Where the turbines stand, and their power curve."""
        given = {name: getattr(self, name).tolist() for name in ("x", "y", "speeds", "powers")}
        return {"kind": self.kind, **given}

    def strengths(self, direction: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """How strong the wake of u is at v, how far downstream v stands and how far across, at [v, u].

        A Gaussian of the distance between v's rotor and the middle of the wake, which widens with
        the distance downstream, and weakens.
        """
        angle = np.deg2rad(270.0 - direction)
        to, side = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        place = np.stack([self.x, self.y])
        along, across = ((axis @ place)[:, None] - axis @ place for axis in (to, side))
        behind = np.maximum(along, 0.0)
        apart = np.maximum(np.abs(across) - 0.3, 0.0) / (0.43 + 0.03 * behind)
        strength = np.exp(-0.5 * apart**2) / (1.0 + 0.15 * behind)
        return np.where((along > 1.0) & (strength >= FAINT), strength, 0.0), along, across

    def upwind(self, direction: float) -> IntArray:
        """In how many wakes each turbine stands."""
        counts: IntArray = np.count_nonzero(self.strengths(direction)[0], axis=1).astype(np.int64)
        return counts

    def _find(self, direction: float) -> tuple[IntArray, IntArray, FloatArray]:
        """The entries of a round at the highest speed: edges, matrices and weights."""
        strength, along, across = self.strengths(direction)
        n, found = len(self.x), []
        for v in range(n):
            upwind = np.argsort(-strength[v], kind="stable")[: np.count_nonzero(strength[v])]
            if not upwind.size:
                found.append((_edge(n, v, n), 0, 1.0))
            for order, u in enumerate(upwind[:2]):
                mixed = _mix(along[v, u], across[v, u], order, len(upwind))
                found += [
                    (_edge(n, v, int(u)), kind, share) for kind, share in mixed if share > 0.0
                ]
        edges, kinds, weights = zip(*sorted(found), strict=True)
        return np.array(edges), np.array(kinds), np.array(weights)


def _edge(n: int, i: int, j: int) -> int:
    """The number of the directed edge (i, j) where all of n turbines and the wind are linked."""
    return i * n + j - (j > i)


def _mix(along: float, across: float, order: int, upwind: int) -> list[tuple[int, float]]:
    """The matrices of the nodes around a place in a wake, and their shares, which sum to 1."""
    nodes: tuple[Sequence[float], Sequence[float]] = (ALONG_NEXT, ACROSS_NEXT)
    start = 1 + DEPTHS * FIRST
    if order == 0:
        nodes, start = (ALONG, ACROSS), 1 + (min(upwind, DEPTHS) - 1) * FIRST
    return [
        (start + i * len(nodes[1]) + j, one * other)
        for i, one in _between(along, nodes[0])
        for j, other in _between(across, nodes[1])
    ]


def _between(value: float, nodes: Sequence[float]) -> list[tuple[int, float]]:
    """The two nodes around a value, or around the last one that it is beyond, and their shares."""
    inside = min(max(value, nodes[0]), nodes[-1])
    low = min(int(np.searchsorted(nodes, inside, side="right")) - 1, len(nodes) - 2)
    share = float((inside - nodes[low]) / (nodes[low + 1] - nodes[low]))
    return [(low, 1.0 - share), (low + 1, share)]
