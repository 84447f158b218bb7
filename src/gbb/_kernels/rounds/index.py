"""Rounds of an index policy on any problem: types, weights, rewards in sums, forbidden arms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._kernels.choice.climb import Counted, Ends, Linear, Whitened, climb
from gbb._kernels.choice.linear import fill_pay
from gbb._kernels.choice.links import Links, maybe_explore
from gbb._kernels.learning.triangular import append_rows
from gbb._kernels.rounds.estimates import (
    Diagonal,
    Rule,
    Triangular,
    draw_diagonal,
    draw_triangular,
    fill_tables,
    pay_tuples,
    radius_diagonal,
    radius_triangular,
    refresh_diagonal,
    value_objectives,
    value_tuples,
)
from gbb._support.checks import FloatArray, IntArray


class World(NamedTuple):
    """What a simulated round is made of.

    Attributes
    ----------
    indptr, indices
        The directed edges of every agent.
    types, weights, adds_to
        Of every directed edge: its type, its weight, and the number of the report that it adds to.
    regressor
        The regressor of each edge-arm (K x K).
    R, sigma
        Expected reward of an edge of weight 1 by type and arms (types x K x K), and the noise level.
    """

    indptr: IntArray
    indices: IntArray
    types: IntArray
    weights: FloatArray
    adds_to: IntArray
    regressor: IntArray
    R: FloatArray
    sigma: float


class Run(NamedTuple):
    """What a run carries from round to round, and what it leaves of the recorded rounds.

    Attributes
    ----------
    N, Y
        The record of rewards per edge (types x K x K); not used where rewards come in sums.
    new_N, new_Y
        The same of one round, 0 in between.
    total, kept
        Cumulative expected reward, and how many rounds have been recorded (one entry each).
    reward, cumulative, tuples, allocations
        Of the recorded rounds; ``allocations`` has no rows when they are not asked for.
    """

    N: FloatArray
    Y: FloatArray
    new_N: FloatArray
    new_Y: FloatArray
    total: FloatArray
    kept: IntArray
    reward: FloatArray
    cumulative: FloatArray
    tuples: IntArray
    allocations: IntArray


@compiled()
def play_index(
    rule: Rule,
    world: World,
    links: Links,
    run: Run,
    room: Ends,
    diagonal: Diagonal | None,
    triangular: Triangular | None,
    linear: Linear | None,
    white: Whitened | None,
    counted: Counted | None,
    in_sums: bool,
    by_edge: bool,
    first: int,
    noise: FloatArray,
    radii: FloatArray,
    recorded: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play ``len(radii)`` rounds, the first of them number ``first``.

    A row of ``noise`` holds the unit noise of every number of the report, or as :func:`add_edges` says
    where it is not ``by_edge``. One of ``diagonal`` and
    ``triangular`` is the estimate; without ``linear`` the choice is optimistic.
    """
    K = world.R.shape[1]
    arms = np.empty(links.group.size, dtype=np.int64)
    values = np.empty(rule.tuple_start.size - 1)
    mu = np.empty(rule.regressors)
    total, k = run.total[0], run.kept[0]
    for t in range(radii.size):
        p = -1
        if not maybe_explore(rule.explore, links.bars, K, rng, arms):
            radius = 0.0
            if linear is not None:
                if diagonal is not None:
                    draw_diagonal(diagonal, rule.v, rng, mu)
                if triangular is not None:
                    draw_triangular(triangular, rule.v, rng, mu)
                fill_pay(mu, links.one, links.two, linear.pay)
                pay_tuples(rule, mu, values)
            else:
                radius = radii[t]
                if diagonal is not None:
                    if rule.adaptive:
                        radius = radius_diagonal(rule, diagonal)
                    value_tuples(rule, diagonal, radius, values)
                if triangular is not None:
                    if rule.adaptive:
                        radius = radius_triangular(rule, triangular)
                    value_objectives(triangular, radius, values)
                    if white is not None and rule.starts > 0:
                        fill_tables(triangular, white.tables)
            p, _ = climb(
                links, values, rule.starts, room, linear, white, counted, radius, rng, arms
            )
        if in_sums:
            reward = add_sums(world, triangular, arms, noise, t)
        else:
            reward = add_edges(world, run, diagonal, triangular, arms, by_edge, noise, t)
        total += reward
        if k < recorded.size and recorded[k] == first + t:
            run.reward[k], run.cumulative[k], run.tuples[k] = reward, total, p
            if run.allocations.shape[0] > 0:
                run.allocations[k] = arms
            k += 1
    run.total[0], run.kept[0] = total, k


@compiled()
def add_edges(
    world: World,
    run: Run,
    diagonal: Diagonal | None,
    triangular: Triangular | None,
    arms: IntArray,
    by_edge: bool,
    noise: FloatArray,
    t: int,
) -> float:
    """Learn from a round that reports every edge; returns its expected reward.

    ``noise[t]`` is that of every edge when ``by_edge``; otherwise a standard normal for each type and
    edge-arm, which is scaled to the sum over the edges that play it.
    """
    indptr, indices, types, weights = world.indptr, world.indices, world.types, world.weights
    R, sigma, index, N, Y = world.R, world.sigma, world.regressor, run.N, run.Y
    new_N, new_Y, K = run.new_N, run.new_Y, R.shape[1]
    count = index.max() + 1 if diagonal is None else diagonal.first.size
    reward = 0.0
    for i in range(arms.size):
        a = arms[i]
        for e in range(indptr[i], indptr[i + 1]):
            w = weights[e]
            if w == 0.0:
                continue
            b, g = arms[indices[e]], types[e]
            paid = w * R[g, a, b]
            reward += paid
            new_N[g, a, b] += w * w
            if by_edge:
                new_Y[g, a, b] += w * (paid + sigma * noise[t, e])
    for i in range(arms.size):
        a = arms[i]
        for e in range(indptr[i], indptr[i + 1]):
            b, g = arms[indices[e]], types[e]
            weight = new_N[g, a, b]
            if weight == 0.0:  # no weight, or counted already
                continue
            if by_edge:
                paid = new_Y[g, a, b]
            else:
                paid = weight * R[g, a, b] + sigma * np.sqrt(weight) * noise[t, (g * K + a) * K + b]
            N[g, a, b] += weight
            Y[g, a, b] += paid
            new_N[g, a, b] = new_Y[g, a, b] = 0.0
            if diagonal is not None:
                refresh_diagonal(diagonal, N, Y, g, index[a, b])
            if triangular is not None:
                s = g * count + index[a, b]
                triangular.seen[s, 0] += weight
                triangular.seen[s, 1] += paid
    if triangular is not None:
        features, seen = triangular.features, triangular.seen
        rows, counts = triangular.rows, triangular.counts
        size = features.shape[1]
        for g in range(triangular.U.shape[0]):
            used = 0
            for s in range(count):
                weight = seen[g * count + s, 0]
                if weight > 0.0:
                    root = np.sqrt(weight)
                    for c in range(size):
                        rows[g, used, c] = root * features[s, c]
                    rows[g, used, size] = seen[g * count + s, 1] / root
                    seen[g * count + s, 0] = seen[g * count + s, 1] = 0.0
                    used += 1
            counts[g] = used
        append_rows(triangular.U, rows, counts, triangular.scratch)
    return reward


@compiled()
def add_sums(
    world: World, triangular: Triangular | None, arms: IntArray, noise: FloatArray, t: int
) -> float:
    """Learn from a round that reports sums over edges; returns its expected reward."""
    reward = 0.0
    if triangular is not None:
        indptr, indices, types, weights = world.indptr, world.indices, world.types, world.weights
        R, features, rows = world.R, triangular.features, triangular.rows
        size, last = features.shape[1], triangular.U.shape[1]
        count = noise.shape[1]
        rows[:, :, :] = 0.0
        for i in range(arms.size):
            a = arms[i]
            for e in range(indptr[i], indptr[i + 1]):
                b, g, w, o = arms[indices[e]], types[e], weights[e], world.adds_to[e]
                s = world.regressor[a, b]
                for c in range(size):
                    rows[0, o, g * size + c] += w * features[s, c]
                rows[0, o, last] += w * R[g, a, b]
        for o in range(count):
            reward += rows[0, o, last]
            rows[0, o, last] += world.sigma * noise[t, o]
        triangular.counts[0] = count
        append_rows(triangular.U, rows, triangular.counts, triangular.scratch)
    return reward
