"""What runs know of their pairs: one covariance of all, renewed from what was played now and then."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.abreast.factor import factor
from gbb._kernels.abreast.runs import Couples, Lane, Runs, grow
from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

SHRINK = 1e-5
"""Factorise afresh when a variance has shrunk by this since the last time: 16 digits minus 5."""

RENEWED = 1 << 14
"""After so many rounds everything is factorised afresh, so that rounding cannot drift."""


class Pairs(NamedTuple):
    """What is known of the pairs in every regime and every lane.

    Attributes
    ----------
    mu, paid
        Mean of every pair, and the sum of its rewards (regimes x (pairs x lanes)).
    H
        Their covariance (regimes x (entries x lanes)).
    base
        Their variances when it was last factorised, times SHRINK.
    log_det, growth
        As of ``Runs``, of each regime's block of A (regimes x lanes).
    entry
        Number of the entry ``H_st`` (pairs x pairs).
    spots
        Flat places in H of what a couple's variance is made of: of its pairs s, a and b, the entries ss,
        aa, bb, sa, sb and ab (6 x couples).
    features
        The pairs q_s in orthonormal coordinates of the symmetric block.
    lam
        The ridge regulariser.
    columns
        The columns of H of the three pairs that are played (3 x pairs and lanes).
    small
        Rewards, means and entries of H that the three steps are made of (12 x lanes, flat).
    """

    mu: FloatArray
    paid: FloatArray
    H: FloatArray
    base: FloatArray
    log_det: FloatArray
    growth: FloatArray
    entry: NDArray[np.uint64]
    spots: IntArray
    features: FloatArray
    lam: float
    columns: FloatArray
    small: FloatArray


@kernel(forceinline=True)
def pairs_in(pairs: Pairs, g: Lane) -> Pairs:
    """What is known in one regime."""
    return Pairs(
        pairs.mu[g],
        pairs.paid[g],
        pairs.H[g],
        pairs.base[g],
        pairs.log_det[g],
        pairs.growth[g],
        pairs.entry,
        pairs.spots,
        pairs.features,
        pairs.lam,
        pairs.columns,
        pairs.small,
    )


@kernel(allocates=True)
def afresh(couples: Couples, runs: Runs, pairs: Pairs, g: Lane, lane: int) -> None:
    """Mean, covariance and log-determinant of a run in regime g, from all that it played there."""
    size, lanes = pairs.entry.shape[0], runs.total.size
    weight, total = np.zeros(size), np.empty(size)
    for p in range(couples.steps.shape[0]):
        for j in range(3):
            weight[couples.steps[p, j]] += couples.edges[j] * runs.plays[g, p, lane]
    for s in range(size):
        total[s] = pairs.paid[g, s * lanes + lane]
    mu, log_det, white = np.zeros(size), 0.0, pairs.features / np.sqrt(pairs.lam)
    if weight.any():
        R, qy, _, white = factor(pairs.features, weight, total, pairs.lam)
        mu = white @ qy
        for j in range(R.shape[1]):
            log_det += np.log(R[j, j] * R[j, j] / pairs.lam)
    H = white @ white.T
    for s in range(size):
        pairs.mu[g, s * lanes + lane] = mu[s]
        for r in range(s + 1):
            pairs.H[g, int(pairs.entry[s, r]) * lanes + lane] = H[s, r]
        pairs.base[g, s * lanes + lane] = SHRINK * H[s, s]
    pairs.log_det[g, lane], pairs.growth[g, lane] = log_det, 1.0


@kernel()
def add_up(runs: Runs, pairs: Pairs, lane: int) -> None:
    """The log-determinant of a run from those of all regimes."""
    log_det = 0.0
    for g in range(pairs.log_det.shape[0]):
        log_det += pairs.log_det[g, lane] + np.log(pairs.growth[g, lane])
    runs.log_det[lane], runs.growth[lane] = log_det, 1.0


@kernel()
def renew(couples: Couples, runs: Runs, pairs: Pairs) -> None:
    """All estimates afresh."""
    for lane in range(runs.total.size):
        for g in range(pairs.mu.shape[0]):
            afresh(couples, runs, pairs, g, lane)
        add_up(runs, pairs, lane)


@kernel(forceinline=True)
def grow_both(runs: Runs, pairs: Pairs, lane: Lane, factor: float) -> None:
    """The determinant of A grew by so much, and so did that of a regime's block."""
    grow(runs.log_det, runs.growth, lane, factor)
    grow(pairs.log_det, pairs.growth, lane, factor)
