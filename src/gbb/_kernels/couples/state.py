"""What runs of couples share, what each carries along, and the steps that all estimates have."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

Index = int | np.integer
"""A position in an array; numba does not ask one without a sign whether it counts from the end."""

TIE = 1e-12
"""Values that are this close to the largest, relatively, tie with it."""

HUGE = 1e200
"""Where a product of growths is turned into its logarithm."""

SHRINK = 1e-5
"""An estimate is worn once a variance has shrunk by this: 16 digits minus 5."""


class Couples(NamedTuple):
    """Constants of the runs. Couples (a, b) are numbered ``a * K + b``.

    A pair is an unordered pair of arms, ``q_ab = (z_ab + z_ba) / 2``. Regimes differ in rewards only.

    Attributes
    ----------
    w, w1, w2
        The couple (a, b) has objective ``w q_ab + w1 q_aa + w2 q_bb``.
    mirrored
        Whether (a, b) and (b, a) have the same objective, so that they tie.
    arms
        The two arms of each couple (K^2 x 2).
    pair
        The number of each pair (K x K).
    steps
        The three pairs that each couple plays: across, inside V1 and inside V2 (K^2 x 3).
    rewards
        The expected reward of each couple across, inside V1, inside V2, and in all (regimes x K^2 x 4).
    edges
        Directed edges across, inside V1 and inside V2.
    adaptive
        Whether the radius follows the log-determinant; otherwise it is known for each round.
    sigma, spread, offset
        The adaptive radius is ``sigma sqrt(log det(A / lam) + spread) + offset``.
    """

    w: float
    w1: float
    w2: float
    mirrored: bool
    arms: IntArray
    pair: IntArray
    steps: NDArray[np.uint64]
    rewards: FloatArray
    edges: FloatArray
    adaptive: bool
    sigma: float
    spread: float
    offset: float


class Runs(NamedTuple):
    """Eight runs, a lane each, or a single one: what they carry along, apart from their estimates.

    Attributes
    ----------
    total, recorded
        Cumulative expected reward of each, and the number of recorded rounds so far (one entry).
    log_det, growth
        ``log det(A_sym / lam)`` is ``log_det + log growth``. A has a block for each regime: all that
        regimes share is the radius, by the sum of their log-determinants.
    uniforms, used
        Numbers in [0, 1) that break ties (lanes x so many), and how many of them have been used.
    radius, top, best
        The round's radii, best values and best couples.
    values, position, couple_at
        The values of couples, where that of each couple stands (plus its lane), and, in a single run,
        the couple at each position. Mirrored couples share a position.
    couple, cumulative
        Couples and cumulative expected rewards of the recorded rounds (rounds x lanes).
    """

    total: FloatArray
    recorded: IntArray
    log_det: FloatArray
    growth: FloatArray
    uniforms: FloatArray
    used: IntArray
    radius: FloatArray
    top: FloatArray
    best: FloatArray
    values: FloatArray
    position: IntArray
    couple_at: IntArray
    couple: IntArray
    cumulative: FloatArray


class Chunk(NamedTuple):
    """Rounds that share one call, unless it returns early.

    Attributes
    ----------
    first
        The number of the first round, counted from 1.
    noise, scales
        Unit noise across, inside V1 and inside V2 (rounds x 3 x lanes, flat), and its three scales.
    radii
        The radius of each round, unless it is adaptive.
    regime
        That of each round, the same in all runs.
    recorded
        Which rounds of the run are recorded.
    """

    first: int
    noise: FloatArray
    scales: FloatArray
    radii: FloatArray
    regime: NDArray[np.uint64]
    recorded: IntArray


@kernel(forceinline=True)
def set_radii(couples: Couples, runs: Runs, radius: float) -> None:
    """Set the confidence radius of this round in every run; ``radius`` unless it is adaptive."""
    for lane in range(runs.radius.size):
        if couples.adaptive:
            log_det = runs.log_det[lane] + math.log(runs.growth[lane])
            radius = couples.sigma * math.sqrt(log_det + couples.spread) + couples.offset
        runs.radius[lane] = radius


@kernel(forceinline=True)
def grow(log_det: FloatArray, growth: FloatArray, lane: Index, factor: float) -> None:
    """Multiply a determinant; a logarithm in every round would cost more than the rest of it."""
    product = growth[lane] * factor
    if product > HUGE:
        log_det[lane] += math.log(product)
        product = 1.0
    growth[lane] = product


@kernel(forceinline=True)
def have_uniforms(used: IntArray, size: int) -> bool:
    """Return whether every run has one of its ``size`` numbers left to break a tie with."""
    enough = True
    for lane in range(used.size):
        enough &= used[lane] < size
    return enough


@kernel(forceinline=True)
def next_uniform(uniforms: FloatArray, used: IntArray, lane: Index) -> Any:
    """Return a run's next number in [0, 1)."""
    used[lane] += 1
    return uniforms[lane, used[lane] - 1]


@kernel()
def break_ties(
    values: FloatArray,
    position: IntArray,
    best: float,
    uniforms: FloatArray,
    used: IntArray,
    lane: int,
) -> int:
    """Return one of the couples whose values tie with the best, at random; mirror images count too."""
    floor, ties, left = best - TIE * abs(best), np.int64(0), np.int64(-1)
    for _ in range(2):  # count them, then pass over those before the chosen one
        for p in range(position.size):
            if values[position[p] + lane] >= floor:
                if left == 0:
                    return p
                left -= 1
                ties += 1
        left = np.int64(next_uniform(uniforms, used, lane) * ties if ties > 1 else 0.0)
    return 0


@kernel(forceinline=True)
def record(couples: Couples, runs: Runs, chunk: Chunk, t: int) -> None:
    """Add up what the best couples earned, and write the round down if it is to be recorded."""
    k, g = runs.recorded[0], chunk.regime[t]
    for lane in range(np.uint64(runs.total.size)):
        runs.total[lane] += couples.rewards[g, np.uint64(runs.best[lane]), np.uint64(3)]
    if k < chunk.recorded.size and chunk.recorded[k] == chunk.first + t:
        for lane in range(runs.total.size):
            runs.couple[k, lane] = np.int64(runs.best[lane])
            runs.cumulative[k, lane] = runs.total[lane]
        runs.recorded[0] = k + 1
