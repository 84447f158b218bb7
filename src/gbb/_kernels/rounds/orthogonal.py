"""Rounds of a couple policy on orthogonal arms, where A is diagonal on the edge-arms."""

from __future__ import annotations

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.choose import fill_values, pick
from gbb._kernels.rounds.rounds import Block, Plan, Tally, keep, radius_of, respond
from gbb._support.checks import FloatArray


@compiled(inline="always")
def refresh(
    plan: Plan,
    mu: FloatArray,
    var: FloatArray,
    a: int,
    b: int,
    mean: FloatArray,
    width2: FloatArray,
) -> None:
    """Mean and squared width of the couple (a, b) from those of its pairs.

    ``v = w (z_ab + z_ba) + w1 z_aa + w2 z_bb`` and different pairs are uncorrelated, so variances
    add; ``mu`` and ``var`` are those of the mean edge-arm ``(z_ab + z_ba) / 2`` (K x K).
    """
    w, w1, w2 = 2.0 * plan.w, plan.w1, plan.w2
    mean[a, b] = w * mu[a, b] + w1 * mu[a, a] + w2 * mu[b, b]
    if a == b:
        width2[a, b] = (w + w1 + w2) * (w + w1 + w2) * var[a, a]
    else:
        width2[a, b] = w * w * var[a, b] + w1 * w1 * var[a, a] + w2 * w2 * var[b, b]


@compiled(allocates=True)
def play_orthogonal(
    plan: Plan,
    tally: Tally,
    prior: FloatArray,
    block: Block,
    rng: np.random.Generator,
) -> None:
    """Play the rounds of ``block``, in O(K^2) each.

    For orthogonal arms ``var = 1 / (prior + weight)`` and ``mu = total / (prior + weight)`` with the
    pair's number of observations and sum of rewards, whatever other pairs did; ``prior`` is lam over
    the squared norm of the mean edge-arm ``(z_ab + z_ba) / 2`` (K x K; infinite for norm 0).
    """
    first, noise, radii, recorded = block
    K = plan.R.shape[0]
    values, mean, width2 = np.empty(K * K), np.empty((K, K)), np.empty((K, K))
    flat_mean, flat_width2 = mean.reshape(K * K), width2.reshape(K * K)
    steps, seen = np.empty((3, 2), dtype=np.int64), np.empty((2, 3))
    crossed = plan.w1 != 0.0 or plan.w2 != 0.0
    load = prior + (tally.N + tally.N.T - np.diag(np.diag(tally.N)))
    paid = tally.Y + tally.Y.T - np.diag(np.diag(tally.Y))
    mu, var = paid / load, 1.0 / load
    for a in range(K):
        for b in range(K):
            refresh(plan, mu, var, a, b, mean, width2)
    total, k = tally.scalars[0], tally.kept[0]
    for i in range(noise.shape[0]):
        fill_values(flat_mean, flat_width2, radius_of(plan, tally, radii[i]), values)
        p = pick(values, rng)
        count = respond(plan, tally, p, noise, i, steps, seen)
        for j in range(count):
            a, b = steps[j, 0], steps[j, 1]
            before = load[a, b]
            load[a, b] += seen[0, j]
            paid[a, b] += seen[1, j]
            inverse = 1.0 / load[a, b]
            mu[a, b] = paid[a, b] * inverse
            var[a, b] = inverse
            if a != b:
                load[b, a], paid[b, a] = load[a, b], paid[a, b]
                mu[b, a], var[b, a] = mu[a, b], var[a, b]
            if plan.adaptive and np.isfinite(before):
                tally.scalars[1] += np.log(load[a, b] / before)
        a, b = plan.couples[p, 0], plan.couples[p, 1]
        if crossed:
            for c in range(K):
                refresh(plan, mu, var, a, c, mean, width2)
                refresh(plan, mu, var, b, c, mean, width2)
            for c in range(K):
                if c not in (a, b):
                    refresh(plan, mu, var, c, a, mean, width2)
                    refresh(plan, mu, var, c, b, mean, width2)
        else:
            refresh(plan, mu, var, a, a, mean, width2)
            refresh(plan, mu, var, b, b, mean, width2)
            refresh(plan, mu, var, a, b, mean, width2)
            refresh(plan, mu, var, b, a, mean, width2)
        total += plan.payoff[p]
        if k < recorded.size and recorded[k] == first + i:
            k = keep(tally, k, p, total)
    tally.scalars[0], tally.kept[0] = total, k
    tally.mean[:], tally.width2[:] = flat_mean, flat_width2
