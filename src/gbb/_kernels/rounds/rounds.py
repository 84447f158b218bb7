"""What the compiled round loops share: the plan of a run and the tallies they carry along."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray


class Plan(NamedTuple):
    """Constants of a run of a couple policy. Couples (a, b) are numbered ``a * K + b``.

    Attributes
    ----------
    w, w1, w2
        The couple (a, b) has objective ``w (z_ab + z_ba) + w1 z_aa + w2 z_bb``.
    m12, m1, m2
        Directed edges from V1 to V2 (as many run back), inside V1, inside V2.
    R
        Expected edge reward of every edge-arm in every regime (regimes x K x K); one where there are no
        contexts.
    regime
        That of every round of the run.
    couples
        The two arms of every couple (K^2 x 2).
    payoff
        Expected global reward of every couple in every regime (regimes x K^2).
    sigma, lam
        Noise level and ridge regulariser.
    adaptive
        Whether the radius follows the log-determinant; otherwise it is given round by round.
    spread, offset
        The adaptive radius is ``sigma sqrt(log det(A / lam) + spread) + offset``.
    """

    w: float
    w1: float
    w2: float
    m12: int
    m1: int
    m2: int
    R: FloatArray
    regime: IntArray
    couples: IntArray
    payoff: FloatArray
    sigma: float
    lam: float
    adaptive: bool
    spread: float
    offset: float


class Block(NamedTuple):
    """Rounds that a compiled loop plays in one call.

    Attributes
    ----------
    first
        The number of the first of them.
    noise
        A row of unit noise for each round.
    radii
        The radius of each round, where it is given.
    recorded
        Which rounds of the run are kept.
    """

    first: int
    noise: FloatArray
    radii: FloatArray
    recorded: IntArray


class Tally(NamedTuple):
    """What a run carries from round to round, apart from its estimates.

    A round adds to the record of its own regime, and A has a block for each: all that regimes share is
    the radius, by the sum of their log-determinants.

    Attributes
    ----------
    N, Y
        The record: directed edges played with each edge-arm, and the sum of their rewards (regimes x K x
        K).
    pair
        Number of each unordered pair of arms (K x K).
    total, kept
        Cumulative expected reward, and how many rounds have been recorded (one entry each).
    log_det
        ``log det(A_sym / lam)`` of every regime's block.
    mean, width2
        ``<v_p, theta_hat>`` and ``v_p' A^-1 v_p`` of every couple p when the loop last returned (regimes
        x K^2).
    couple, cumulative
        Couple and cumulative expected reward of the recorded rounds.
    """

    N: IntArray
    Y: FloatArray
    pair: IntArray
    total: FloatArray
    kept: IntArray
    log_det: FloatArray
    mean: FloatArray
    width2: FloatArray
    couple: IntArray
    cumulative: FloatArray


@kernel(inline="always")
def radius_of(plan: Plan, tally: Tally, given: float) -> float:
    """The confidence radius of this round."""
    if plan.adaptive:
        return float(plan.sigma * np.sqrt(tally.log_det.sum() + plan.spread) + plan.offset)
    return given


@kernel(inline="always")
def keep(tally: Tally, k: int, p: int, total: float) -> int:
    """Record couple p and the cumulative expected reward as the k-th kept round; returns k + 1."""
    tally.couple[k] = p
    tally.cumulative[k] = total
    return k + 1


@kernel(inline="always")
def add(tally: Tally, g: int, a: int, b: int, count: int, reward: float) -> None:
    """``count`` more edges were played with (a, b) in regime g and paid ``reward`` together."""
    tally.N[g, a, b] += count
    tally.Y[g, a, b] += reward


@kernel(inline="always")
def respond(
    plan: Plan,
    tally: Tally,
    g: int,
    p: int,
    noise: FloatArray,
    t: int,
    steps: IntArray,
    seen: FloatArray,
) -> int:
    """Play couple p in regime g; ``noise[t]`` sums unit noise over the edges 12, 21, 11 and 22.

    Returns how many pairs were observed. The j-th of them is the pair of arms ``steps[j]``; it got
    ``seen[0, j]`` more observations, which paid ``seen[1, j]`` together.
    """
    a, b = plan.couples[p, 0], plan.couples[p, 1]
    R, sigma = plan.R, plan.sigma
    if a == b:
        m = 2 * plan.m12 + plan.m1 + plan.m2
        reward = m * R[g, a, a] + sigma * (noise[t, 0] + noise[t, 1] + noise[t, 2] + noise[t, 3])
        add(tally, g, a, a, m, reward)
        steps[0, 0], steps[0, 1], seen[0, 0], seen[1, 0] = a, a, m, reward
        return 1
    count = 0
    if plan.m12 > 0:
        there = plan.m12 * R[g, a, b] + sigma * noise[t, 0]
        back = plan.m12 * R[g, b, a] + sigma * noise[t, 1]
        add(tally, g, a, b, plan.m12, there)
        add(tally, g, b, a, plan.m12, back)
        steps[0, 0], steps[0, 1] = a, b
        seen[0, 0], seen[1, 0] = 2 * plan.m12, there + back
        count = 1
    if plan.m1 > 0:
        reward = plan.m1 * R[g, a, a] + sigma * noise[t, 2]
        add(tally, g, a, a, plan.m1, reward)
        steps[count, 0], steps[count, 1] = a, a
        seen[0, count], seen[1, count] = plan.m1, reward
        count += 1
    if plan.m2 > 0:
        reward = plan.m2 * R[g, b, b] + sigma * noise[t, 3]
        add(tally, g, b, b, plan.m2, reward)
        steps[count, 0], steps[count, 1] = b, b
        seen[0, count], seen[1, count] = plan.m2, reward
        count += 1
    return count


@kernel(allocates=True)
def by_pair(tally: Tally, g: int, size: int) -> tuple[FloatArray, FloatArray]:
    """Observations of each unordered pair of arms in regime g and the sum of their rewards."""
    weight = np.zeros(size)
    total = np.zeros(size)
    K = tally.N.shape[1]
    for a in range(K):
        for b in range(K):
            weight[tally.pair[a, b]] += tally.N[g, a, b]
            total[tally.pair[a, b]] += tally.Y[g, a, b]
    return weight, total
