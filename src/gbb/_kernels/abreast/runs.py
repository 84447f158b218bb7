"""What runs side by side share, and what each carries along."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.index.search import TIE
from gbb._kernels.jit import kernel
from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

Lane = int | np.integer
"""A place in an array; one without a sign costs no question whether it counts from the end."""

NEAR = 1.01 * TIE
"""Values that are closer than this, relatively, are looked at one by one."""

HUGE = 1e200
"""Where the product of what determinants grew by is turned into its logarithm."""


class Couples(NamedTuple):
    """Constants of the runs. Couples (a, b) are numbered ``a * K + b``.

    In regimes the only thing that differs is what a couple pays.

    Attributes
    ----------
    w, w1, w2
        The couple (a, b) has objective ``w q_ab + w1 q_aa + w2 q_bb`` with the pairs ``q_ab = (z_ab +
        z_ba) / 2``.
    mirrored
        Whether (a, b) and (b, a) have the same objective, so that they tie.
    arms
        The two arms of each couple (K^2 x 2).
    pair
        Number of each unordered pair of arms (K x K).
    steps
        The three pairs that each couple plays: across, inside V1 and inside V2 (K^2 x 3).
    pays
        What each couple pays in expectation in every regime: across, inside V1, inside V2, and in all
        (regimes x K^2 x 4); one regime where there are no contexts.
    edges
        Directed edges across, inside V1 and inside V2.
    adaptive
        Whether the radius follows the log-determinant; otherwise it is given round by round.
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
    pays: FloatArray
    edges: FloatArray
    adaptive: bool
    sigma: float
    spread: float
    offset: float


class Runs(NamedTuple):
    """Eight runs, a lane each, or one: what they carry from round to round, apart from their estimates.

    Attributes
    ----------
    plays
        How often each couple was played (regimes x K^2 x lanes).
    total, kept
        Cumulative expected reward of each, and how many rounds have been recorded (one entry).
    log_det, growth
        ``log det(A_sym / lam)`` is ``log_det + log growth``. A has a block for each regime: all that
        regimes share is the radius, by the sum of their log-determinants.
    uniforms, used
        Numbers in [0, 1) that break ties (lanes x so many), and how many of them have been used.
    radius, values, best
        The round's radii, values of all couples (K^2 x lanes), and best couples.
    couple, cumulative
        Couples and cumulative expected rewards of the recorded rounds (rounds x lanes).
    every
        The couples of all rounds of a block, if it has any rows.
    """

    plays: IntArray
    total: FloatArray
    kept: IntArray
    log_det: FloatArray
    growth: FloatArray
    uniforms: FloatArray
    used: IntArray
    radius: FloatArray
    values: FloatArray
    best: FloatArray
    couple: IntArray
    cumulative: FloatArray
    every: IntArray


class Stretch(NamedTuple):
    """Rounds that are played in one call.

    Attributes
    ----------
    first
        The number of the first of them.
    noise, scales
        Unit noise across, inside V1 and inside V2 (rounds x 3 x lanes), and what each is multiplied by.
    radii
        The radius of each round, where it is given.
    regime
        That of each round, the same in all runs.
    recorded
        Which rounds of the run are kept.
    """

    first: int
    noise: FloatArray
    scales: FloatArray
    radii: FloatArray
    regime: NDArray[np.uint64]
    recorded: IntArray


@kernel(forceinline=True)
def find_radii(couples: Couples, runs: Runs, given: float) -> None:
    """The confidence radius of this round, in every run."""
    for lane in range(runs.radius.size):
        if couples.adaptive:
            log_det = runs.log_det[lane] + np.log(runs.growth[lane])
            runs.radius[lane] = couples.sigma * np.sqrt(log_det + couples.spread) + couples.offset
        else:
            runs.radius[lane] = given


@kernel(forceinline=True)
def grow(logs: FloatArray, growths: FloatArray, lane: Lane, factor: float) -> None:
    """A determinant grew by so much; its logarithm is ``logs + log growths``."""
    growth = growths[lane] * factor
    if growth > HUGE:
        logs[lane] += np.log(growth)
        growth = 1.0
    growths[lane] = growth


@kernel(forceinline=True)
def have_uniforms(runs: Runs) -> bool:
    """Whether every run has a number left to break a tie with."""
    most = 0
    for lane in range(runs.used.size):
        most = max(most, runs.used[lane])
    return bool(most < runs.uniforms.shape[1])


@kernel(forceinline=True)
def next_uniform(runs: Runs, lane: int) -> float:
    """A number in [0, 1) of this run's own."""
    found = runs.uniforms[lane, runs.used[lane]]
    runs.used[lane] += 1
    return float(found)


@kernel()
def break_ties(runs: Runs, lane: int) -> None:
    """The best couple of a run by all values; those within 1e-12 of the largest, relatively, tie."""
    values, size = runs.values, runs.plays.shape[1]
    best = values[lane]
    for p in range(1, size):
        best = max(best, values[p * WIDTH + lane])
    floor = best - TIE * abs(best)
    ties = 0
    for p in range(size):
        ties += values[p * WIDTH + lane] >= floor
    left = int(next_uniform(runs, lane) * ties) if ties > 1 else 0
    for p in range(size):
        if values[p * WIDTH + lane] >= floor:
            if left == 0:
                runs.best[lane] = p
                return
            left -= 1


@kernel(forceinline=True)
def settle(couples: Couples, runs: Runs, near: int) -> None:
    """Break the ties of all runs; ``near`` has a bit for each whose two best values are close."""
    K = couples.pair.shape[0]
    for lane in range(WIDTH):
        if (near >> lane) & 1:
            break_ties(runs, lane)
        elif couples.mirrored:
            p = int(runs.best[lane])
            a, b = couples.arms[p, 0], couples.arms[p, 1]
            if a != b and next_uniform(runs, lane) >= 0.5:
                runs.best[lane] = b * K + a


@kernel(forceinline=True)
def keep(runs: Runs, recorded: IntArray, t: int) -> None:
    """Write round t down if it is recorded."""
    k = runs.kept[0]
    if k < recorded.size and recorded[k] == t:
        for lane in range(runs.total.size):
            runs.couple[k, lane] = int(runs.best[lane])
            runs.cumulative[k, lane] = runs.total[lane]
        runs.kept[0] = k + 1


@kernel(forceinline=True)
def count(couples: Couples, runs: Runs, lane: Lane, g: Lane, p: Lane, t: int) -> None:
    """A run has played couple p in round t of the stretch, which is of regime g."""
    runs.plays[g, p, lane] += 1
    runs.total[lane] += couples.pays[g, p, np.uint64(3)]
    if runs.every.shape[0] > 0:
        runs.every[t, lane] = p
