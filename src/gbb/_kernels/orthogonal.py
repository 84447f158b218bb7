"""Rounds of a couple policy on orthogonal arms, where A is diagonal on the edge-arms."""

from __future__ import annotations

import numpy as np
from numba import njit

from gbb._checks import FloatArray, IntArray
from gbb._kernels.choose import pick
from gbb._kernels.rounds import Plan, Tally, by_pair, keep, radius_of, respond


@njit(cache=True, nogil=True)
def refresh(
    plan: Plan,
    mu: FloatArray,
    var: FloatArray,
    pair: IntArray,
    a: int,
    b: int,
    mean: FloatArray,
    width: FloatArray,
) -> None:
    """Mean and width of the couple (a, b) from those of its pairs.

    ``v = w (z_ab + z_ba) + w1 z_aa + w2 z_bb`` and the pairs are uncorrelated, so variances add;
    ``mu`` and ``var`` are those of the mean edge-arm ``(z_ab + z_ba) / 2``.
    """
    K = pair.shape[0]
    p = a * K + b
    s = pair[a, b]
    if a == b:
        scale = 2.0 * plan.w + plan.w1 + plan.w2
        mean[p] = scale * mu[s]
        width[p] = abs(scale) * np.sqrt(var[s])
        return
    sa, sb = pair[a, a], pair[b, b]
    mean[p] = 2.0 * plan.w * mu[s] + plan.w1 * mu[sa] + plan.w2 * mu[sb]
    width[p] = np.sqrt(
        4.0 * plan.w * plan.w * var[s] + plan.w1 * plan.w1 * var[sa] + plan.w2 * plan.w2 * var[sb]
    )


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

    ``norm2`` holds the squared norm of every pair's mean edge-arm ``(z_ab + z_ba) / 2``. For orthogonal
    arms ``var = norm2 / (lam + norm2 weight)`` and ``mu = norm2 total / (lam + norm2 weight)``,
    whatever the other pairs did.
    """
    K = plan.R.shape[0]
    mean = np.empty(K * K)
    width = np.empty(K * K)
    values = np.empty(K * K)
    steps = np.empty(3, dtype=np.int64)
    seen = np.empty((2, 3))
    crossed = plan.w1 != 0.0 or plan.w2 != 0.0
    weight, total = by_pair(tally, norm2.size)
    precision = plan.lam + norm2 * weight
    moment = norm2 * total
    mu = moment / precision
    var = norm2 / precision
    for a in range(K):
        for b in range(K):
            refresh(plan, mu, var, tally.pair, a, b, mean, width)
    for i in range(noise.shape[0]):
        radius = radius_of(plan, tally, radii[i])
        for p in range(K * K):
            values[p] = mean[p] + radius * width[p]
        p = pick(values, rng)
        a, b = p // K, p % K
        count = respond(plan, tally, p, noise[i], steps, seen)
        for j in range(count):
            s = steps[j]
            before = precision[s]
            precision[s] += norm2[s] * seen[0, j]
            moment[s] += norm2[s] * seen[1, j]
            var[s] = norm2[s] / precision[s]
            mu[s] = moment[s] / precision[s]
            if plan.adaptive:
                tally.scalars[1] += np.log(precision[s] / before)
        if crossed:
            for c in range(K):
                refresh(plan, mu, var, tally.pair, a, c, mean, width)
                refresh(plan, mu, var, tally.pair, c, a, mean, width)
                refresh(plan, mu, var, tally.pair, b, c, mean, width)
                refresh(plan, mu, var, tally.pair, c, b, mean, width)
        else:
            refresh(plan, mu, var, tally.pair, a, a, mean, width)
            refresh(plan, mu, var, tally.pair, b, b, mean, width)
            refresh(plan, mu, var, tally.pair, a, b, mean, width)
            refresh(plan, mu, var, tally.pair, b, a, mean, width)
        keep(plan, tally, recorded, first + i, p)
