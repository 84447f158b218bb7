"""Rounds of an index policy on the paper's problem with orthogonal arms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.links import maybe_explore
from gbb._kernels.choice.pairs import (
    PairRule,
    index_pairs,
    make_workspace,
    radius_rule,
    refresh_pair,
)
from gbb._kernels.choice.pairs_climb import climb_pairs
from gbb._kernels.choice.tuples import fill_digits
from gbb._support.checks import FloatArray, IntArray


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
def play_index_pairs(
    rule: PairRule,
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
    # Unpacked here, since unpacking in a round would cost as much as the round.
    indptr, indices, parts, counts = rule.indptr, rule.indices, rule.parts, rule.counts
    bundle_start, bundle_part = rule.bundle_start, rule.bundle_part
    bundle_count, norm2, lam = rule.bundle_count, rule.norm2, rule.lam
    explore, radius_of = rule.explore, radius_rule(rule)
    work = make_workspace(rule, run.N, run.Y)
    pairs, pay, values = work.pairs, work.pay, work.values
    around, pays = work.around, work.pays
    scratch, chosen, ends = work.scratch, work.chosen, work.ends
    R, sigma, all_N, all_Y = run.R, run.sigma, run.N, run.Y
    K = R.shape[0]
    arms = np.empty(parts.size, dtype=np.int64)
    N, Y = np.zeros((K, K)), np.zeros((K, K))
    total, k = run.total[0], run.kept[0]
    for t in range(radii.size):
        p = -1
        if not maybe_explore(explore, None, K, rng, arms):
            radius = index_pairs(radius_of, pairs, pay, radii[t], rng)
            p, _ = climb_pairs(
                indptr,
                indices,
                parts,
                counts,
                bundle_start,
                bundle_part,
                bundle_count,
                pairs,
                pay,
                radius,
                values,
                around,
                pays,
                scratch,
                chosen,
                ends,
                rng,
                arms,
            )
        if by_edge:
            add_edges(indptr, indices, R, sigma, arms, noise, t, N, Y)
        else:
            count_edges(indptr, indices, counts, arms, p, chosen, N)
        reward = 0.0
        for a in range(K):
            for b in range(K):
                c = N[a, b]
                if c == 0.0:
                    continue
                if not by_edge:
                    Y[a, b] = c * R[a, b] + sigma * np.sqrt(c) * noise[t, a * K + b]
                reward += c * R[a, b]
                all_N[a, b] += c
                all_Y[a, b] += Y[a, b]
                N[a, b] = 0.0
                Y[a, b] = 0.0
                if b <= a:  # every edge has its reverse: (b, a) has been added
                    refresh_pair(pairs, all_N, all_Y, b, a, norm2[a, b], lam)
        total += reward
        if k < recorded.size and recorded[k] == first + t:
            run.reward[k], run.cumulative[k], run.tuples[k] = reward, total, p
            if run.allocations.shape[0] > 0:
                run.allocations[k] = arms
            k += 1
    run.total[0], run.kept[0] = total, k


@compiled()
def add_edges(
    indptr: IntArray,
    indices: IntArray,
    R: FloatArray,
    sigma: float,
    arms: IntArray,
    noise: FloatArray,
    t: int,
    N: FloatArray,
    Y: FloatArray,
) -> None:
    """Count the edges by edge-arm and sum their noisy rewards of round t, in edge order."""
    for i in range(arms.size):
        a = arms[i]
        for e in range(indptr[i], indptr[i + 1]):
            b = arms[indices[e]]
            N[a, b] += 1.0
            Y[a, b] += R[a, b] + sigma * noise[t, e]


@compiled()
def count_edges(
    indptr: IntArray,
    indices: IntArray,
    counts: IntArray,
    arms: IntArray,
    p: int,
    chosen: IntArray,
    N: FloatArray,
) -> None:
    """Count the edges by edge-arm; in O(k^2) when the allocation is tuple p over the k parts."""
    if p < 0:
        for i in range(arms.size):
            for e in range(indptr[i], indptr[i + 1]):
                N[arms[i], arms[indices[e]]] += 1.0
    else:
        fill_digits(p, N.shape[0], chosen)
        for one in range(chosen.size):
            for other in range(chosen.size):
                N[chosen[one], chosen[other]] += counts[one, other]
