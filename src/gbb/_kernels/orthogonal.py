"""Rounds of a couple policy on orthogonal arms, where A is diagonal on the edge-arms."""

from __future__ import annotations

import numpy as np
from numba import njit

from gbb._checks import FloatArray, IntArray
from gbb._kernels.choose import pick
from gbb._kernels.rounds import Plan, Tally, keep, radius_of, respond


@njit(cache=True, nogil=True, fastmath={"contract"})
def fill_values(
    plan: Plan, mu: FloatArray, var: FloatArray, own: FloatArray, radius: float, values: FloatArray
) -> None:
    """Optimistic value of every couple.

    ``v = w (z_ab + z_ba) + w1 z_aa + w2 z_bb`` and different pairs are uncorrelated, so variances
    add; ``mu`` and ``var`` are those of the mean edge-arm ``(z_ab + z_ba) / 2`` (K x K), and ``own``
    repeats their diagonals in a row each.
    """
    K = mu.shape[0]
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    for a in range(K):
        shift = w1 * own[0, a]
        shift2 = w1 * w1 * own[1, a]
        for b in range(K):
            variance = w * w * var[a, b] + shift2 + w2 * w2 * own[1, b]
            values[a, b] = w * mu[a, b] + shift + w2 * own[0, b] + radius * np.sqrt(variance)
        scale = w + w1 + w2
        values[a, a] = scale * own[0, a] + radius * abs(scale) * np.sqrt(own[1, a])


@njit(cache=True, nogil=True)
def play_orthogonal(
    plan: Plan,
    tally: Tally,
    norm2: FloatArray,
    first: int,
    noise: FloatArray,
    radii: FloatArray,
    recorded: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(noise)`` rounds, the first of them number ``first``, in O(K^2) each.

    ``norm2`` holds the squared norm of every mean edge-arm ``(z_ab + z_ba) / 2`` (K x K). For
    orthogonal arms ``var = norm2 / (lam + norm2 weight)`` and ``mu = norm2 total / (lam + norm2
    weight)``, with the pair's number of observations and sum of rewards, whatever other pairs did.
    """
    K = plan.R.shape[0]
    values = np.empty((K, K))
    flat = values.reshape(K * K)
    own = np.empty((2, K))
    steps = np.empty((3, 2), dtype=np.int64)
    seen = np.empty((2, 3))
    precision = plan.lam + norm2 * (tally.N + tally.N.T + np.diag(-np.diag(tally.N)))
    moment = norm2 * (tally.Y + tally.Y.T + np.diag(-np.diag(tally.Y)))
    mu = moment / precision
    var = norm2 / precision
    for a in range(K):
        own[0, a], own[1, a] = mu[a, a], var[a, a]
    for i in range(noise.shape[0]):
        fill_values(plan, mu, var, own, radius_of(plan, tally, radii[i]), values)
        p = pick(flat, rng)
        count = respond(plan, tally, p, noise[i], steps, seen)
        for j in range(count):
            a, b = steps[j, 0], steps[j, 1]
            before = precision[a, b]
            after = before + norm2[a, b] * seen[0, j]
            moment[a, b] += norm2[a, b] * seen[1, j]
            precision[a, b] = after
            mu[a, b] = moment[a, b] / after
            var[a, b] = norm2[a, b] / after
            if a == b:
                own[0, a], own[1, a] = mu[a, a], var[a, a]
            else:
                moment[b, a], precision[b, a] = moment[a, b], after
                mu[b, a], var[b, a] = mu[a, b], var[a, b]
            if plan.adaptive:
                tally.scalars[1] += np.log(after / before)
        keep(plan, tally, recorded, first + i, p)
