"""Rounds of an index policy on any problem: types, weights, rewards in sums, forbidden arms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gbb._kernels.choice.climb import Room
from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.diagonal import Diagonal, refresh_diagonal
from gbb._kernels.choice.edges import Edges
from gbb._kernels.choice.factors import Triangular
from gbb._kernels.choice.index import choose_index
from gbb._kernels.choice.information import Information
from gbb._kernels.choice.linear import Linear
from gbb._kernels.choice.links import Links
from gbb._kernels.choice.numbers import Numbers, learn_numbers, remember
from gbb._kernels.choice.rule import Rule
from gbb._kernels.choice.whitened import Whitened
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import append_rows
from gbb._kernels.rounds.rounds import Block
from gbb._support.checks import FloatArray, IntArray


class World(NamedTuple):
    """What a simulated round is made of.

    Attributes
    ----------
    edges
        The directed edges.
    R, sigma
        Expected reward of an edge of weight 1 by type and arms (types x K x K), and the noise level;
        where both directions of a link are seen in one number, R is their mean.
    in_turn
        Whether the noise of edge-arms stands in the order in which a round comes to them, and not by
        type and edge-arm.
    """

    edges: Edges
    R: FloatArray
    sigma: float
    in_turn: bool


class Run(NamedTuple):
    """What a run carries from round to round, and what it leaves of the recorded rounds.

    Attributes
    ----------
    arms
        The allocation of the round.
    N, Y
        The record of rewards per edge (types x K x K); not used where rewards come in sums.
    new_N, new_Y, touched
        The same of one round, 0 in between, and which entries are not.
    total, kept
        Cumulative expected reward, and how many rounds have been recorded (one entry each).
    reward, cumulative, tuples, allocations
        Of the recorded rounds; ``allocations`` has no rows when they are not asked for.
    """

    arms: IntArray
    N: FloatArray
    Y: FloatArray
    new_N: FloatArray
    new_Y: FloatArray
    touched: IntArray
    total: FloatArray
    kept: IntArray
    reward: FloatArray
    cumulative: FloatArray
    tuples: IntArray
    allocations: IntArray


class Setting(NamedTuple):
    """All that is played, and by what.

    One of ``diagonal``, ``triangular`` and ``numbers`` is the estimate, ``linear``, one of ``white`` and
    ``counted``, or both what :func:`choose_index` searches on.

    Attributes
    ----------
    learner
        The factor that rounds are taken into and draws made from: ``triangular``, or what that is made
        from round by round.
    information
        What a choice among the allocations of many draws takes.
    in_sums
        Whether rounds report sums over edges.
    by_edge
        Whether a block's noise is that of every number of the report; else it is as :func:`add_edges`
        says.
    """

    rule: Rule
    links: Links
    room: Room
    world: World
    run: Run
    diagonal: Diagonal | None
    triangular: Triangular | None
    numbers: Numbers | None
    learner: Triangular | None
    linear: Linear | None
    information: Information | None
    white: Whitened | None
    counted: Counted | None
    in_sums: bool
    by_edge: bool


@kernel(allocates=True)
def play_index(*given: Any) -> None:
    """As :func:`play_rounds`, to be called from Python."""
    play_rounds(*given)


@kernel(forceinline=True)
def play_rounds(setting: Setting, block: Block, rng: np.random.Generator) -> None:
    """Play the rounds of ``block``."""
    for t in range(block.radii.size):
        play_round(setting, block, t, rng)


@kernel(inline="always")
def play_round(setting: Setting, block: Block, t: int, rng: np.random.Generator) -> None:
    """Play round t of ``block``, and keep it if it is to be kept."""
    rule, world, run, counted = setting.rule, setting.world, setting.run, setting.counted
    diagonal, numbers, learner = setting.diagonal, setting.numbers, setting.learner
    first, noise, radii, recorded = block
    arms = run.arms
    p, _ = choose_index(
        rule,
        setting.links,
        setting.room,
        diagonal,
        setting.triangular,
        learner,
        numbers,
        setting.linear,
        setting.information,
        setting.white,
        counted,
        radii[t],
        first + t - 1.0,
        rng,
        arms,
    )
    if setting.in_sums:
        reward = add_sums(rule, world, learner, arms, noise, t)
    else:
        by_edge = setting.by_edge
        reward = add_edges(rule, world, run, diagonal, counted, learner, numbers, by_edge, noise, t)
    run.total[0] += reward
    k = run.kept[0]
    if k < recorded.size and recorded[k] == first + t:
        run.reward[k], run.cumulative[k], run.tuples[k] = reward, run.total[0], p
        for i in range(arms.size if run.allocations.shape[0] > 0 else 0):
            run.allocations[k, i] = arms[i]
        run.kept[0] += 1


@kernel(forceinline=True)
def add_edges(
    rule: Rule,
    world: World,
    run: Run,
    diagonal: Diagonal | None,
    counted: Counted | None,
    triangular: Triangular | None,
    numbers: Numbers | None,
    by_edge: bool,
    noise: FloatArray,
    t: int,
) -> float:
    """Learn from a round that reports every edge, or every link; returns its expected reward.

    ``noise[t]`` is that of every number when ``by_edge``; otherwise a standard normal for each type and
    edge-arm, or each that is played, which is scaled to the sum over the edges that play it.
    """
    edges, arms, R, sigma = world.edges, run.arms, world.R, world.sigma
    indptr, indices, types, weights = edges.indptr, edges.indices, edges.types, edges.weights
    new_N, new_Y, K, ways = run.new_N, run.new_Y, R.shape[1], edges.ways
    reward, count = 0.0, 0
    plain = edges.plain and not by_edge
    if plain:
        count = count_edges(edges, arms, run)
    for i in range(0 if plain else arms.size):
        a = arms[i]
        for e in range(indptr[i], indptr[i + 1]):
            b, g, w = arms[indices[e]], types[e], weights[e]
            if w * w == 0.0:  # it counts for nothing, and would be listed again and again
                reward += w * R[g, a, b]
                continue
            if new_N[g, a, b] == 0.0:
                run.touched[count] = (g * K + a) * K + b
                count += 1
            new_N[g, a, b] += ways * w * w
            if by_edge:
                reward += w * R[g, a, b]
                told = ways * w * R[g, a, b] + sigma * noise[t, edges.adds_to[e]]
                new_Y[g, a, b] += w * told
            else:
                new_Y[g, a, b] += w
    for j in range(count):
        g, pair = divmod(run.touched[j], K * K)
        a, b = divmod(pair, K)
        weight, paid = new_N[g, a, b], new_Y[g, a, b]
        if plain:
            paid = weight / ways
        if not by_edge:
            reward += paid * R[g, a, b]
            paid = weight * R[g, a, b]
            paid += sigma * np.sqrt(weight) * noise[t, j if world.in_turn else run.touched[j]]
        run.N[g, a, b] += weight
        run.Y[g, a, b] += paid
        new_N[g, a, b] = new_Y[g, a, b] = 0.0
        if diagonal is not None:
            refresh_diagonal(diagonal, counted, run.N, run.Y, g, edges.regressor[a, b])
        if triangular is not None:
            s = g * triangular.features.shape[0] + edges.regressor[a, b]
            triangular.seen[s, 0] += weight
            triangular.seen[s, 1] += paid
        if numbers is not None:
            remember(numbers.now, numbers.gram, numbers.moment, a, b, weight, paid)
            numbers.seen[edges.regressor[a, b], 0] += weight
            numbers.seen[edges.regressor[a, b], 1] += paid
    if triangular is not None:
        append_seen(rule, triangular)
    if numbers is not None:
        for j in range(count):
            a, b = divmod(run.touched[j] % (K * K), K)
            learn_numbers(rule, numbers, edges.regressor[a, b])
    return reward


@kernel(forceinline=True)
def count_edges(edges: Edges, arms: IntArray, run: Run) -> int:
    """Fill ``run.new_N`` and ``run.touched`` where edges are plain; returns how many are touched.

    Each link is counted once, from its lower end; the rows of ``edges.indices`` must be sorted.
    """
    indptr, indices, new_N, K = edges.indptr, edges.indices, run.new_N, run.new_N.shape[1]
    links = 0
    for i in range(arms.size):
        own, e = arms[i], indptr[i + 1] - 1
        while e >= indptr[i] and indices[e] > i:
            other = arms[indices[e]]
            a, b = np.uint64(min(own, other)), np.uint64(max(own, other))
            before = new_N[0, a, b]
            if before == 0.0:
                run.touched[links] = a * np.uint64(K) + b
                links += 1
            new_N[0, a, b] = before + (2.0 * edges.ways if a == b else edges.ways)
            e -= 1
    count = links
    for j in range(links):
        a, b = divmod(run.touched[j], K)
        if a != b:
            new_N[0, b, a] = new_N[0, a, b]
            run.touched[count] = b * K + a
            count += 1
    return count


@kernel(forceinline=True)
def append_seen(rule: Rule, triangular: Triangular) -> None:
    """Update the factors with what a round added to the regressors."""
    features, seen, rows = triangular.features, triangular.seen, triangular.rows
    count, size = features.shape
    for k in range(rule.blocks.size):
        g, used = rule.blocks[k], 0
        for s in range(g * count, (g + 1) * count):
            weight = seen[s, 0]
            if weight > 0.0:
                root = np.sqrt(weight)
                for c in range(size):
                    rows[g, used, c] = root * features[s - g * count, c]
                rows[g, used, size] = seen[s, 1] / root
                seen[s, 0] = seen[s, 1] = 0.0
                used += 1
        triangular.counts[g] = used
    append_rows(triangular.U, rule.blocks, rows, triangular.counts, triangular.scratch)


@kernel(forceinline=True)
def add_sums(
    rule: Rule,
    world: World,
    triangular: Triangular | None,
    arms: IntArray,
    noise: FloatArray,
    t: int,
) -> float:
    """Learn from a round that reports sums over edges; returns its expected reward."""
    reward = 0.0
    if triangular is not None:
        edges = world.edges
        indptr, indices, types, weights = edges.indptr, edges.indices, edges.types, edges.weights
        R, features, rows = world.R, triangular.features, triangular.rows
        size, last = features.shape[1], triangular.U.shape[1]
        count = noise.shape[1]
        rows[:, :, :] = 0.0
        for i in range(arms.size):
            a = arms[i]
            for e in range(indptr[i], indptr[i + 1]):
                b, g, w, o = arms[indices[e]], types[e], weights[e], edges.adds_to[e]
                s = edges.regressor[a, b]
                for c in range(size):
                    rows[0, o, g * size + c] += w * features[s, c]
                rows[0, o, last] += w * R[g, a, b]
        for o in range(count):
            reward += rows[0, o, last]
            rows[0, o, last] += world.sigma * noise[t, o]
        triangular.counts[0] = count
        append_rows(triangular.U, rule.blocks, rows, triangular.counts, triangular.scratch)
    return reward
