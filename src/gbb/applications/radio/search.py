"""The best plan of channels that local search finds on CRRM's own throughput."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gbb._support.checks import IntArray
from gbb._support.progress import Advance, ignore
from gbb.applications.radio.network import Network

GAIN = 1e-12
"""Relative gains below this are rounding."""


def improve(
    network: Network, plan: IntArray, channels: int, rng: np.random.Generator
) -> tuple[IntArray, float]:
    """Cells in random order take the channel that raises the throughput, until none does."""
    best, value = np.array(plan, dtype=np.int64), network.throughput(plan)
    gained = True
    while gained:
        gained = False
        for cell in rng.permutation(len(best)):
            for channel in range(channels):
                trial = best.copy()
                trial[cell] = channel
                reached = network.throughput(trial)
                if reached > value * (1.0 + GAIN):
                    best, value, gained = trial, reached, True
    return best, value


def find_best(
    network: Network,
    starts: Iterable[IntArray],
    channels: int,
    rng: np.random.Generator,
    advance: Advance = ignore,
) -> float:
    """The most throughput, in Mb/s, that a search from each start reaches with so many channels."""
    value = -np.inf
    for start in starts:
        value = max(value, improve(network, start, channels, rng)[1])
        advance(1)
    return float(value)
