"""A radio network as a system that policies are played in."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray
from gbb.applications.radio.network import CHANNELS, Network
from gbb.problem import Problem

SIGMA = 0.5
"""Reports are shares, between 0 and 1, and so 1/2-sub-Gaussian whatever their law (Hoeffding)."""


class RadioSystem:
    """Cells choose their channels, and report what shares of their rates they keep.

    What a round is worth is its throughput in Mb/s, which the reports only stand for.
    """

    def __init__(self, network: Network) -> None:
        names = [f"channel {number}" for number in range(1, CHANNELS + 1)]
        bound = float(CHANNELS)  # CHANNELS^2 entries of at most 1
        self.network = network
        self.problem = Problem(
            network.graph, np.eye(CHANNELS), sigma=SIGMA, S=bound, arm_names=names
        )

    def expected(self, t: int, allocation: ArrayLike) -> float:  # noqa: ARG002
        """What all users get together, in Mb/s."""
        return self.network.throughput(self.problem.allocation(allocation))

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """What every cell reports about each of its neighbours."""
        return self.network.reports(self.problem.allocation(allocation), rng)
