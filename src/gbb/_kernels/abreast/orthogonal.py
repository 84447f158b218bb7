"""Runs on orthogonal arms, where every pair has a mean and a variance of its own.

Couples are valued in lanes, eight runs at once. What was played is taken in run by run.
"""

from __future__ import annotations

from operator import mul as times
from typing import Any

import numpy as np

from gbb._kernels.abreast.runs import Couples, Lane, Runs, Stretch, count, grow
from gbb._kernels.jit import kernel
from gbb._kernels.simd import broadcast as splat
from gbb._kernels.simd import fma as times_plus
from gbb._kernels.simd import load
from gbb._kernels.simd import sqrt as root
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray

SIZE = 4 * WIDTH
"""Numbers of a pair: precision, sum of rewards, mean and variance, each in every run."""
MEAN = 2 * WIDTH
"""Where the means of a pair begin."""


@kernel(forceinline=True)
def value_orthogonal(
    couples: Couples, pairs: FloatArray, a: int, b: int, radius: FloatArray
) -> Any:
    """Optimistic values of the couple (a, b); different pairs are uncorrelated, so variances add."""
    w, w1, w2 = couples.w, couples.w1, couples.w2
    own = couples.pair[a, a] * SIZE + MEAN
    if a == b:
        w = w + w1 + w2
        mean = times(splat(w), load(pairs, own))
        variance = times(splat(w * w), load(pairs, own + WIDTH))
    else:
        other, both = couples.pair[b, b] * SIZE + MEAN, couples.pair[a, b] * SIZE + MEAN
        mean = times(splat(w1), load(pairs, own))
        mean = times_plus(splat(w2), load(pairs, other), mean)
        mean = times_plus(splat(w), load(pairs, both), mean)
        variance = times(splat(w1 * w1), load(pairs, own + WIDTH))
        variance = times_plus(splat(w2 * w2), load(pairs, other + WIDTH), variance)
        variance = times_plus(splat(w * w), load(pairs, both + WIDTH), variance)
    return times_plus(radius, root(variance), mean)


@kernel(forceinline=True)
def learn(pairs: FloatArray, lanes: int, s: Lane, lane: Lane, edges: float, reward: float) -> float:
    """``edges`` more rewards of pair s in a run; returns by what its precision grew."""
    i, w = s * np.uint64(4 * lanes) + lane, np.uint64(lanes)
    precision, paid = pairs[i] + edges, pairs[i + w] + reward
    variance = 1.0 / precision
    grown = 1.0 + edges * pairs[i + np.uint64(3) * w]
    pairs[i], pairs[i + w] = precision, paid
    pairs[i + np.uint64(2) * w], pairs[i + np.uint64(3) * w] = paid * variance, variance
    return float(grown)


@kernel(forceinline=True)
def learn_couple(
    couples: Couples,
    runs: Runs,
    pairs: FloatArray,
    lanes: int,
    lane: Lane,
    stretch: Stretch,
    t: int,
) -> None:
    """A run plays its best couple, and learns from what that pays in the round's regime."""
    p, row = np.uint64(runs.best[lane]), np.uint64(3 * lanes * t) + lane
    g = stretch.regime[t]
    grown = 1.0
    for j in range(np.uint64(3)):
        unit = stretch.noise[row + j * np.uint64(lanes)]
        reward = couples.pays[g, p, j] + stretch.scales[j] * unit
        grown *= learn(pairs, lanes, couples.steps[p, j], lane, couples.edges[j], reward)
    if couples.adaptive:
        grow(runs.log_det, runs.growth, lane, grown)
    count(couples, runs, lane, g, p, t)
