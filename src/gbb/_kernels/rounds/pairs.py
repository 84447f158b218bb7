"""Rounds of a couple policy by the covariance of the pairs, for few pairs of any shape.

The pair (a, b) stands for the mean edge-arm ``q_s = (z_ab + z_ba) / 2``. Kept are ``mu_s = <q_s,
theta_hat>`` and ``H_st = q_s' A^-1 q_t``: a round is at most three rank-one steps on these, and no
product with A^-1 is needed. Each entry lives at the scale of its own pairs, so arms of very different
norms do not disturb one another.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import fill_values, pick
from gbb._kernels.learning.factor import factor
from gbb._kernels.rounds.rounds import Block, Plan, Tally, by_pair, keep, radius_of, respond
from gbb._support.checks import FloatArray

SHRINK = 1e-5
"""Factorise afresh when a variance has shrunk by this since the last time: 16 digits minus 5."""


@compiled(allocates=True)
def afresh(
    plan: Plan, tally: Tally, features: FloatArray, mu: FloatArray, H: FloatArray, base: FloatArray
) -> None:
    """``mu``, ``H``, their starting variances ``base`` and the log-determinant from the tally."""
    weight, total = by_pair(tally, features.shape[0])
    R, qy, _, white = factor(features, weight, total, plan.lam)
    mu[:] = white @ qy
    H[:, :] = white @ white.T
    logdet = 0.0
    for j in range(R.shape[1]):
        logdet += np.log(R[j, j] * R[j, j] / plan.lam)
    tally.scalars[1] = logdet
    for s in range(mu.size):
        base[s] = H[s, s]


@compiled(fastmath={"contract"})
def observe(
    mu: FloatArray, H: FloatArray, s: int, weight: float, mean: float, column: FloatArray
) -> float:
    """A rank-one step: ``weight`` more observations of pair s with the given mean response.

    Returns the factor ``1 + weight q_s'A^-1 q_s`` by which the determinant of A grows; ``column`` is
    scratch space.
    """
    size = mu.size
    for i in range(size):
        column[i] = H[s, i]
    grown = 1.0 + weight * column[s]
    c = weight / grown
    e = c * (mean - mu[s])
    for i in range(size):
        mu[i] += e * column[i]
    for i in range(size):
        step = c * column[i]
        for j in range(size):
            H[i, j] -= step * column[j]
    H[s, s] = column[s] / grown  # the same number, without cancellation
    return float(grown)


@compiled()
def fill_tables(plan: Plan, tally: Tally, mu: FloatArray, H: FloatArray) -> None:
    """Mean and squared width of every couple, into the tally."""
    K = plan.R.shape[0]
    pair = tally.pair
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    for a in range(K):
        sa = pair[a, a]
        for b in range(K):
            s, sb = pair[a, b], pair[b, b]
            tally.mean[a * K + b] = w * mu[s] + w1 * mu[sa] + w2 * mu[sb]
            variance = (
                w * w * H[s, s]
                + w1 * w1 * H[sa, sa]
                + w2 * w2 * H[sb, sb]
                + 2.0 * (w * (w1 * H[s, sa] + w2 * H[s, sb]) + w1 * w2 * H[sa, sb])
            )
            tally.width2[a * K + b] = max(variance, 0.0)


@compiled(allocates=True)
def play_pairs(
    plan: Plan,
    tally: Tally,
    features: FloatArray,
    block: Block,
    rng: np.random.Generator,
) -> None:
    """Play the rounds of ``block``, in O(K^4) each.

    ``features`` holds the pairs q_s in orthonormal coordinates of the symmetric block.
    """
    first, noise, radii, recorded = block
    K = plan.R.shape[0]
    values = np.empty(K * K)
    steps = np.empty((3, 2), dtype=np.int64)
    seen = np.empty((2, 3))
    count = features.shape[0]
    mu = np.empty(count)
    H = np.empty((count, count))
    base = np.empty(count)
    column = np.empty(count)
    afresh(plan, tally, features, mu, H, base)
    total, k = tally.scalars[0], tally.kept[0]
    for i in range(noise.shape[0]):
        fill_tables(plan, tally, mu, H)
        fill_values(tally.mean, tally.width2, radius_of(plan, tally, radii[i]), values)
        p = pick(values, rng)
        count = respond(plan, tally, p, noise, i, steps, seen)
        for j in range(count):
            s = tally.pair[steps[j, 0], steps[j, 1]]
            mean = seen[1, j] / seen[0, j]
            grown = observe(mu, H, s, seen[0, j], mean, column)
            if plan.adaptive:
                tally.scalars[1] += np.log(grown)
        worn = False
        for s in range(mu.size):
            if H[s, s] < SHRINK * base[s]:
                worn = True
        if worn:
            afresh(plan, tally, features, mu, H, base)
        total += plan.payoff[p]
        if k < recorded.size and recorded[k] == first + i:
            k = keep(tally, k, p, total)
    tally.scalars[0], tally.kept[0] = total, k
    fill_tables(plan, tally, mu, H)
