"""The directed edges of a round: whose they are, what they play for, and where they are reported."""

from __future__ import annotations

from typing import NamedTuple

from gbb._support.checks import FloatArray, IntArray


class Edges(NamedTuple):
    """The directed edges, agent by agent.

    Attributes
    ----------
    indptr, indices
        The directed edges of every agent.
    types, weights, adds_to
        Of every directed edge, or of each of its entries: its type, its weight, and the number of the
        report that it adds to.
    regressor
        The regressor of each edge-arm (K x K).
    ways
        How many directions of a link are seen in one number, where tables are kept: 1 or 2.
    plain
        Whether all are of one type and weigh 1, as in the paper's problem.
    """

    indptr: IntArray
    indices: IntArray
    types: IntArray
    weights: FloatArray
    adds_to: IntArray
    regressor: IntArray
    ways: float
    plain: bool
