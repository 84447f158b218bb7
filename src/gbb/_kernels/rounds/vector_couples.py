"""Rounds of a couple policy with a vector of context numbers: edges pay by ``sum_k c_k M_k``.

As without contexts, a couple plays at most four edge-arms and both directions of a pair of arms equally
often, so that symmetric parts decide and no edge is looked at. The regressors of a round are
``c (x) q_s``, with the pairs ``q_s = (z_ab + z_ba) / 2``, in ``C d (d + 1) / 2`` dimensions; for one-hot
arms in C each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._kernels.choice.choose import pick_near
from gbb._kernels.choice.diagonal import value_tuples
from gbb._kernels.choice.factors import Triangular, value_objectives
from gbb._kernels.choice.numbers import Numbers, estimate_numbers, learn_numbers, remember
from gbb._kernels.choice.rule import Rule
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import append_rows
from gbb._kernels.rounds.rounds import Block, Plan, Tally, keep, respond
from gbb._kernels.rounds.vectors import Vectors, multiply_edge_arms
from gbb._support.checks import FloatArray, IntArray


class Space(NamedTuple):
    """The record, and scratch space.

    Attributes
    ----------
    gram, moment
        As of :class:`~gbb._kernels.choice.numbers.Numbers`.
    values
        Of the couples, padded to whole lanes.
    steps, seen
        See :func:`~gbb._kernels.rounds.rounds.respond`.
    """

    gram: FloatArray
    moment: FloatArray
    values: FloatArray
    steps: IntArray
    seen: FloatArray


@kernel(forceinline=True)
def pay(plan: Plan, vectors: Vectors, t: int, a: int, b: int) -> float:
    """Write what edges of arms a and b pay in round t to the plan; returns what the couple does."""
    R = plan.R
    R[0, a, a] = R[0, a, b] = R[0, b, a] = R[0, b, b] = 0.0
    for k in range(vectors.numbers.shape[1]):
        c, own = vectors.numbers[t, k], vectors.R[k]
        R[0, a, a] += c * own[a, a]
        if a != b:
            R[0, a, b] += c * own[a, b]
            R[0, b, a] += c * own[b, a]
            R[0, b, b] += c * own[b, b]
    inside = plan.m1 * R[0, a, a] + plan.m2 * R[0, b, b]
    return float(plan.m12 * (R[0, a, b] + R[0, b, a]) + inside)


@kernel(forceinline=True)
def move_to_record(tally: Tally, now: FloatArray, space: Space, a: int, b: int) -> None:
    """Enter in the record what the tally has of an edge-arm, which is then empty again."""
    if tally.N[0, a, b] > 0:
        paid = tally.Y[0, a, b]
        remember(now, space.gram, space.moment, a, b, float(tally.N[0, a, b]), paid)
        tally.N[0, a, b] = 0
        tally.Y[0, a, b] = 0.0


@kernel(allocates=True)
def play_vector_couples(*given: Any) -> None:
    """As :func:`play_all_vector_couples`, to be called from Python."""
    play_all_vector_couples(*given)


@kernel(inner=True)
def play_all_vector_couples(
    plan: Plan,
    tally: Tally,
    rule: Rule,
    vectors: Vectors,
    numbers: Numbers | None,
    triangular: Triangular | None,
    space: Space,
    block: Block,
    rng: np.random.Generator,
) -> None:
    """Play the rounds of ``block``; one of ``numbers`` and ``triangular`` is the estimate."""
    first, noise, radii, recorded = block
    values, steps, seen = space.values, space.steps, space.seen
    total, k = tally.total[0], tally.kept[0]
    for i in range(noise.shape[0]):
        now = vectors.numbers[i]
        if numbers is not None:
            for c in range(now.size):
                numbers.now[c] = now[c]
            estimate_numbers(numbers, None)
            value_tuples(rule, numbers.mean, numbers.var, radii[i], values)
        if triangular is not None:
            multiply_edge_arms(vectors, i, triangular)
            value_objectives(rule, triangular, radii[i], values)
        p = pick_near(values[: rule.tuples], rng)
        a, b = plan.couples[p, 0], plan.couples[p, 1]
        total += pay(plan, vectors, i, a, b)
        count = respond(plan, tally, 0, p, noise, i, steps, seen)
        for j in range(count):
            s = tally.pair[steps[j, 0], steps[j, 1]]
            if numbers is not None:
                numbers.seen[s, 0], numbers.seen[s, 1] = seen[0, j], seen[1, j]
                learn_numbers(rule, numbers, s)
            if triangular is not None:
                root, size = np.sqrt(seen[0, j]), triangular.features.shape[1]
                for c in range(size):
                    triangular.rows[0, j, c] = root * triangular.features[s, c]
                triangular.rows[0, j, size] = seen[1, j] / root
        if triangular is not None:
            triangular.counts[0] = count
            U, rows, counts = triangular.U, triangular.rows, triangular.counts
            append_rows(U, rule.blocks, rows, counts, triangular.scratch)
        move_to_record(tally, now, space, a, b)
        move_to_record(tally, now, space, b, a)
        move_to_record(tally, now, space, a, a)
        move_to_record(tally, now, space, b, b)
        if k < recorded.size and recorded[k] == first + i:
            k = keep(tally, k, p, total)
    tally.total[0], tally.kept[0] = total, k
