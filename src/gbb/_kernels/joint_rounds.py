"""Rounds of an allocation policy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._checks import FloatArray, IntArray
from gbb._kernels._jit import compiled
from gbb._kernels.joint import Rule, choose


class Run(NamedTuple):
    """What a run carries from round to round, and what it leaves of the recorded rounds.

    Attributes
    ----------
    R, sigma
        Expected edge reward of every edge-arm (K x K), and the noise level.
    N, Y
        The record; N in floating point, as the choice takes it.
    total, kept
        Cumulative expected reward, and how many rounds have been recorded (one entry each).
    reward, cumulative, tuples, allocations
        Of the recorded rounds; ``allocations`` has no rows when they are not asked for.
    """

    R: FloatArray
    sigma: float
    N: FloatArray
    Y: FloatArray
    total: FloatArray
    kept: IntArray
    reward: FloatArray
    cumulative: FloatArray
    tuples: IntArray
    allocations: IntArray


@compiled()
def play_joint(
    rule: Rule,
    run: Run,
    first: int,
    noise: FloatArray,
    by_edge: bool,
    radii: FloatArray,
    recorded: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(radii)`` rounds, the first of them number ``first``.

    A row of ``noise`` holds the unit noise of every edge when ``by_edge``; otherwise a standard normal
    per edge-arm, which is scaled to the sum over the edges that play it.
    """
    K, n = run.R.shape[0], rule.parts.size
    arms = np.empty(n, dtype=np.int64)
    N, Y = np.empty((K, K), dtype=np.int64), np.empty((K, K))
    for t in range(radii.size):
        p, _ = choose(rule, run.N, run.Y, radii[t], rng, arms)
        N[:, :] = 0
        Y[:, :] = 0.0
        if by_edge:
            add_edges(rule, run, arms, noise[t], N, Y)
        else:
            count_edges(rule, arms, p, N)
            for a in range(K):
                for b in range(K):
                    c = N[a, b]
                    Y[a, b] = c * run.R[a, b] + run.sigma * np.sqrt(c) * noise[t, a * K + b]
        reward = 0.0
        for a in range(K):
            for b in range(K):
                run.N[a, b] += N[a, b]
                run.Y[a, b] += Y[a, b]
                reward += N[a, b] * run.R[a, b]
        run.total[0] += reward
        k = run.kept[0]
        if k < recorded.size and recorded[k] == first + t:
            run.reward[k], run.cumulative[k], run.tuples[k] = reward, run.total[0], p
            if run.allocations.shape[0] > 0:
                run.allocations[k] = arms
            run.kept[0] = k + 1


@compiled()
def add_edges(
    rule: Rule, run: Run, arms: IntArray, noise: FloatArray, N: IntArray, Y: FloatArray
) -> None:
    """Count the edges by edge-arm and sum their noisy rewards, in edge order."""
    for i in range(arms.size):
        a = arms[i]
        for e in range(rule.indptr[i], rule.indptr[i + 1]):
            b = arms[rule.indices[e]]
            N[a, b] += 1
            Y[a, b] += run.R[a, b] + run.sigma * noise[e]


@compiled()
def count_edges(rule: Rule, arms: IntArray, p: int, N: IntArray) -> None:
    """Count the edges by edge-arm; in O(k^2) when the allocation is tuple p over the k parts."""
    K, k = N.shape[0], rule.counts.shape[0]
    if p < 0:
        for i in range(arms.size):
            for e in range(rule.indptr[i], rule.indptr[i + 1]):
                N[arms[i], arms[rule.indices[e]]] += 1
        return
    for one in range(k):
        a = (p // K ** (k - 1 - one)) % K
        for other in range(k):
            b = (p // K ** (k - 1 - other)) % K
            N[a, b] += rule.counts[one, other]
