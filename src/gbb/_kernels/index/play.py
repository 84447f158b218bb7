"""Rounds of an index policy on any problem, and the choice of a single one.

:func:`play_index` is one loop for every estimate, index and kind of context. What a policy does not use
is None, and numba leaves out the lines that ask for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.dense import (
    Dense,
    Reduction,
    Spectrum,
    TupleBounds,
    append_observed,
    bounds_of_objectives,
    draw_dense,
    multiply_edge_arms,
    radius_dense,
    reduce_to_round,
)
from gbb._kernels.index.independent import (
    ByFeatures,
    Independent,
    bounds_of_tuples,
    draw_by_features,
    draw_independent,
    estimate_by_features,
    estimate_regressor,
    learn_by_features,
    mean_of_tuples,
    radius_by_features,
    radius_independent,
)
from gbb._kernels.index.information import Information, decide, keep_sample
from gbb._kernels.index.layout import SEARCHES, STARTS, TUPLES, Layout, Rule, at_row
from gbb._kernels.index.search import (
    GAIN,
    TIE,
    draw_arms,
    largest_size,
    next_start,
    pick_near,
    play_tuple,
)
from gbb._kernels.index.search_counts import (
    CountsSearch,
    count_arms,
    count_tuple,
    improve_counts,
    sum_counts,
)
from gbb._kernels.index.search_dense import DenseSearch, improve_dense, sum_blocks, whiten_tables
from gbb._kernels.index.search_linear import (
    LinearSearch,
    fill_pay,
    gains_of_arms,
    gains_of_tuple,
    improve_linear,
    value_of,
)
from gbb._kernels.jit import kernel
from gbb._kernels.linalg import append_rows, smallest_eigenvalue
from gbb._support.checks import FloatArray, IntArray


class Workspace(NamedTuple):
    """Scratch space of a choice.

    Attributes
    ----------
    optima
        Where each search ended.
    chosen, played
        The arms of the parts, and those of the groups.
    values
        Of the tuples of arms over the parts; padded to whole vectors.
    mu
        What the regressors pay.
    proposed
        The allocation that a guard is to let pass.
    """

    optima: IntArray
    chosen: IntArray
    played: IntArray
    values: FloatArray
    mu: FloatArray
    proposed: IntArray


class World(NamedTuple):
    """What a simulated round is made of.

    Attributes
    ----------
    R, sigma
        Expected reward of an edge of weight 1 by type and arms (types x K x K), and the noise level; if
        both directions of a link are seen in one number, R is their mean.
    matrices, edge_arms
        With a context vector c, R is ``sum c_k matrices[k]`` (C x K x K), and the edge-arms of a round
        are ``c (x) edge_arms`` (K^2 x size); else both are empty.
    noise_by_visit
        Whether the noise of edge-arms stands in the order in which a round comes to them, and not by
        type and edge-arm.
    noise_by_report
        Whether the noise is that of every number of the report.
    """

    R: FloatArray
    sigma: float
    matrices: FloatArray
    edge_arms: FloatArray
    noise_by_visit: bool
    noise_by_report: bool


class EdgeCounts(NamedTuple):
    """The record of rewards per edge, or per link.

    Attributes
    ----------
    N, Y
        How often each edge-arm was observed, and the sum of its rewards (types x K x K).
    new_N, new_Y, touched
        The same of one round, 0 in between, and which entries are not.
    """

    N: FloatArray
    Y: FloatArray
    new_N: FloatArray
    new_Y: FloatArray
    touched: IntArray


class Run(NamedTuple):
    """What a run carries from round to round, and what it leaves of the recorded rounds.

    Attributes
    ----------
    arms
        The allocation of the round.
    value
        What the policy believes it to be worth (one entry).
    total, kept
        Cumulative expected reward, and how many rounds have been recorded (one entry each).
    reward, cumulative, tuples, allocations
        Of the recorded rounds; ``allocations`` has no rows if they are not asked for.
    """

    arms: IntArray
    value: FloatArray
    total: FloatArray
    kept: IntArray
    reward: FloatArray
    cumulative: FloatArray
    tuples: IntArray
    allocations: IntArray


class Rounds(NamedTuple):
    """Rounds that are played in one call.

    Attributes
    ----------
    first
        The number of the first of them.
    radii, offset
        The radius of each round if it does not follow the record; else ``sqrt(lam) ||M*||``, of the
        matrices in play.
    noise
        A row of unit noise for each round.
    context, features
        The row of the layout of each round, and its vector of context numbers (rounds x C).
    recorded
        Which rounds of the run are kept.
    choose_only
        Whether to leave it at the choice: nothing is played or learnt.
    """

    first: int
    radii: FloatArray
    offset: FloatArray
    noise: FloatArray
    context: IntArray
    features: FloatArray
    recorded: IntArray
    choose_only: bool


# A call of Python's with a generator of random numbers must count references, or it is never let go.
@kernel(allocates=True)
def play_index(
    rule: Rule,
    layouts: Layout,
    workspace: Workspace,
    independent: Independent | None,
    by_features: ByFeatures | None,
    dense: Dense | None,
    spectrum: Spectrum | None,
    reduction: Reduction | None,
    bounds: TupleBounds | None,
    linear: LinearSearch | None,
    counts: CountsSearch | None,
    search: DenseSearch | None,
    information: Information | None,
    world: World,
    edges: EdgeCounts | None,
    run: Run,
    rounds: Rounds,
    rng: np.random.Generator,
) -> int:
    """Play rounds; return the number of the tuple of arms of the last, -1 for another allocation.

    The estimate is one of ``independent``, ``by_features`` and ``dense``. Proposals, if any, are
    searched with ``linear``; optimism has ``bounds``, and is searched with ``counts`` or ``search``.
    With both a proposal is played if it is optimistic enough. Rewards are seen by ``edges``, or in sums.
    """
    # Fields are read before the loop: numba counts a reference for each read.
    arms, values, mu, proposed = run.arms, workspace.values, workspace.mu, workspace.proposed
    radii, offset, noise = rounds.radii, rounds.offset, rounds.noise
    context, features = rounds.context, rounds.features
    first, explores, adaptive = rounds.first, rule.epsilon > 0.0, rule.adaptive
    begin, number, value = 0, -1, np.nan
    while begin < radii.size:
        end = begin + 1
        while end < radii.size and context[end] == context[begin]:
            end += 1
        # A layout for each stretch of rounds of one context: made anew in the loop over rounds, all of
        # its fields would be variables of that loop.
        layout = at_row(layouts, context[begin])
        for t in range(begin, end):
            begin_round(world, by_features, dense, reduction, features, t)
            if explores and rng.random() < rule.epsilon:
                draw_arms(layout.penalty, layout.substitute.shape[1], layout.free, rng, arms)
                number, value = -1, np.nan
            else:
                # The proposal comes first: both searches may draw for ties.
                if linear is not None:
                    known, total, samples = 0, 0.0, 1
                    if information is not None:
                        samples = information.group.size
                    for s in range(samples):
                        if independent is not None:
                            draw_independent(rule.v, layout, independent, rng, mu)
                        if by_features is not None:
                            draw_by_features(rule.v, by_features, rng, mu)
                        if dense is not None:
                            draw_dense(rule.v, layout, dense, rng, mu)
                        fill_pay(layout, mu, linear.pay)
                        mean_of_tuples(layout, mu, values)
                        number, value = best_allocation(
                            layout, workspace, linear, None, None, 0.0, rng, arms
                        )
                        if information is not None:
                            known, value = keep_sample(
                                layout, information, s, known, mu, arms, number
                            )
                            total += value
                    if information is not None:
                        best, variance = total / samples, rule.v**2
                        number, value = decide(
                            layout, information, known, best, variance, rng, arms
                        )
                if bounds is not None:
                    other = number
                    if linear is not None:
                        copy_arms(arms, proposed)
                    radius = radii[t]
                    if independent is not None:
                        if adaptive:
                            radius = radius_independent(rule, layout, independent, offset[t])
                        bounds_of_tuples(layout, independent.mean, independent.var, radius, values)
                    if by_features is not None:
                        estimate_by_features(by_features, counts)
                        if adaptive:
                            radius = radius_by_features(rule, by_features, offset[t])
                        bounds_of_tuples(layout, by_features.mean, by_features.var, radius, values)
                    if dense is not None:
                        if adaptive:  # that of all parameters, not of those of the round
                            smallest = np.inf
                            if spectrum is not None:
                                for k in range(layout.blocks_in_play.size):
                                    found = smallest_eigenvalue(
                                        dense.U,
                                        layout.blocks_in_play[k],
                                        spectrum.vectors,
                                        spectrum.floor,
                                        spectrum.solved,
                                        spectrum.small,
                                        spectrum.eliminated,
                                    )
                                    smallest = min(smallest, found)
                            radius = radius_dense(rule, dense, smallest, offset[t])
                        if reduction is not None:
                            reduce_to_round(dense, reduction, bounds.U)
                        bounds_of_objectives(layout, bounds, radius, values)
                        if search is not None:
                            whiten_tables(layout, bounds.U, search)
                    number, value = best_allocation(
                        layout, workspace, None, counts, search, radius, rng, arms
                    )
                    if linear is not None:
                        worth, passes = pass_guard(
                            rule, layout, counts, search, proposed, radius, value, first + t
                        )
                        if passes:
                            copy_arms(proposed, arms)
                            number, value = other, worth
            run.value[0] = value
            if rounds.choose_only:
                continue
            if edges is not None:
                reward = observe_edges(
                    rule,
                    layout,
                    world,
                    edges,
                    independent,
                    by_features,
                    dense,
                    counts,
                    arms,
                    noise,
                    t,
                )
            else:
                reward = observe_sums(layout, world, dense, arms, noise, t)
            if dense is not None:
                blocks = layout.blocks_in_play
                append_rows(dense.U, blocks, dense.rows, dense.counts, dense.scratch)
            record_round(run, rounds.recorded, first + t, number, reward)
        begin = end
    return number


@kernel(forceinline=True)
def begin_round(
    world: World,
    by_features: ByFeatures | None,
    dense: Dense | None,
    reduction: Reduction | None,
    features: FloatArray,
    t: int,
) -> None:
    """Multiply rewards and edge-arms with the context vector of round t, if there is one."""
    matrices, R = world.matrices, world.R
    if matrices.size > 0:
        R[:, :, :] = 0.0
        for k in range(matrices.shape[0]):
            for a in range(R.shape[1]):
                for b in range(R.shape[2]):
                    R[0, a, b] += features[t, k] * matrices[k, a, b]
        if dense is not None:
            multiply_edge_arms(features[t], world.edge_arms, dense, reduction)
    if by_features is not None:
        for k in range(by_features.c.size):
            by_features.c[k] = features[t, k]


@kernel(forceinline=True)
def copy_arms(source: IntArray, target: IntArray) -> None:
    """Copy an allocation."""
    for i in range(source.size):
        target[i] = source[i]


@kernel(forceinline=True)
def best_allocation(
    layout: Layout,
    workspace: Workspace,
    linear: LinearSearch | None,
    counts: CountsSearch | None,
    search: DenseSearch | None,
    radius: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """Fill ``arms`` with the best allocation found.

    Searches start from the best tuples with different sets of arms and, for the rest, from random
    allocations; one of ``linear``, ``counts`` and ``search`` says on what. ``workspace.values``, those
    of the tuples, are used up. Returns the number of the tuple that is played, -1 for another
    allocation, and its value.
    """
    values, optima, chosen = workspace.values, workspace.optima, workspace.chosen
    played, group, K = workspace.played, layout.group, layout.substitute.shape[1]
    tuples, starts = layout.sizes[TUPLES], layout.sizes[STARTS]
    scale = largest_size(values, tuples)  # if values are next to zero, rounding is no gain
    least, tie = GAIN * scale, TIE * scale
    number = pick_near(values, tuples, scale, rng)
    best, value = number, values[number]
    play_tuple(layout, number, chosen, played)
    for i in range(arms.size):
        arms[i] = played[group[i]]
    for found in range(layout.sizes[SEARCHES]):
        random, start_value = found >= starts, 0.0
        if random:
            draw_arms(layout.penalty, K, layout.free, rng, optima[found])
        else:
            if found > 0 and number >= 0:
                number = next_start(values, tuples, number, chosen, K, tie)
            if number < 0:  # no other set of arms is left; no allocation is equal to this row
                optima[found, 0] = -1
                continue
            start_value = values[number]
            play_tuple(layout, number, chosen, played)
            for i in range(arms.size):
                optima[found, i] = played[group[i]]
        reached = -np.inf
        if linear is not None:
            if random:
                gains_of_arms(layout, linear, optima[found])
                start_value = value_of(linear.gains, optima[found])
            else:
                gains_of_tuple(layout, linear, played)
            reached = improve_linear(layout, linear, optima, found, start_value, random, least)
        if counts is not None:
            if random:
                count_arms(layout, counts, optima[found])
            else:
                count_tuple(layout, counts, played)
            reached = improve_counts(layout, counts, radius, optima, found, random)
        if search is not None:
            reached = improve_dense(layout, search, radius, optima, found, random)
        if reached > value + max(tie, TIE * abs(value)):
            best, value = -1, reached
            for i in range(arms.size):
                arms[i] = optima[found, i]
    return best, value


@kernel(allocates=True)
def search_once(
    layouts: Layout,
    workspace: Workspace,
    linear: LinearSearch | None,
    search: DenseSearch | None,
    radius: float,
    rng: np.random.Generator,
    arms: IntArray,
) -> tuple[int, float]:
    """As :func:`best_allocation`, for values and tables that Python filled in."""
    layout = at_row(layouts, 0)
    return best_allocation(layout, workspace, linear, None, search, radius, rng, arms)


@kernel(forceinline=True)
def pass_guard(
    rule: Rule,
    layout: Layout,
    counts: CountsSearch | None,
    search: DenseSearch | None,
    arms: IntArray,
    radius: float,
    value: float,
    rounds: float,
) -> tuple[float, bool]:
    """Return the optimistic value of ``arms``, and whether it is near enough to the best ``value``."""
    mean, norm2 = 0.0, 0.0
    if counts is not None:
        count_arms(layout, counts, arms)
        mean, norm2 = sum_counts(layout, counts)
    if search is not None:
        mean, norm2 = sum_blocks(layout, search, arms)
    width = radius * np.sqrt(norm2)
    slack = min(1.0, rule.slack / np.sqrt(rounds)) if rule.fading else rule.slack
    floor = value - slack * abs(value) - TIE * (abs(mean) + width)
    return mean + width, mean + width >= floor


@kernel(forceinline=True)
def observe_edges(
    rule: Rule,
    layout: Layout,
    world: World,
    edges: EdgeCounts,
    independent: Independent | None,
    by_features: ByFeatures | None,
    dense: Dense | None,
    counts: CountsSearch | None,
    arms: IntArray,
    noise: FloatArray,
    t: int,
) -> float:
    """Learn from a round that reports every edge, or every link; return its expected reward.

    ``noise[t]`` is that of every number, or a standard normal for each type and edge-arm, or each that
    is played, which is scaled to the sum over the edges that play it.
    """
    new_N, new_Y, R, sigma, K = edges.new_N, edges.new_Y, world.R, world.sigma, world.R.shape[1]
    by_report, touched = world.noise_by_report, edges.touched
    reward, count = 0.0, 0
    plain = layout.plain_edges and not by_report
    if plain:
        count = count_edges(layout, arms, new_N, touched)
    for i in range(0 if plain else arms.size):
        a = arms[i]
        for e in range(layout.indptr[i], layout.indptr[i + 1]):
            b, g, w = arms[layout.indices[e]], layout.types[e], layout.weights[e]
            if w * w == 0.0:  # it counts for nothing, and would be listed again and again
                reward += w * R[g, a, b]
                continue
            if new_N[g, a, b] == 0.0:
                touched[count] = (g * K + a) * K + b
                count += 1
            new_N[g, a, b] += layout.ways * w * w
            if by_report:
                reward += w * R[g, a, b]
                own = sigma * noise[t, layout.adds_to[e]]
                new_Y[g, a, b] += w * (layout.ways * w * R[g, a, b] + own)
            else:
                new_Y[g, a, b] += w
    for j in range(count):
        g, pair = divmod(touched[j], K * K)
        a, b = divmod(pair, K)
        weight, total, s = new_N[g, a, b], new_Y[g, a, b], layout.regressor[a, b]
        if plain:
            total = weight / layout.ways
        if not by_report:
            reward += total * R[g, a, b]
            own = noise[t, j if world.noise_by_visit else touched[j]]
            total = weight * R[g, a, b] + sigma * np.sqrt(weight) * own
        edges.N[g, a, b] += weight
        edges.Y[g, a, b] += total
        new_N[g, a, b] = new_Y[g, a, b] = 0.0
        if independent is not None:
            estimate_regressor(independent, counts, g, s)
        if dense is not None:
            place = g * dense.features.shape[0] + s
            dense.observed[place, 0] += weight
            dense.observed[place, 1] += total
        if by_features is not None:
            by_features.observed[s, 0] += weight
            by_features.observed[s, 1] += total
    if dense is not None:
        append_observed(layout, dense)
    if by_features is not None:
        for j in range(count):
            a, b = divmod(touched[j] % (K * K), K)
            learn_by_features(rule, by_features, layout.regressor[a, b])
    return reward


@kernel(forceinline=True)
def count_edges(layout: Layout, arms: IntArray, new_N: FloatArray, touched: IntArray) -> int:
    """Count the edges by their arms if they are plain; return how many entries are touched.

    Each link is counted once, from its lower end; the rows of ``layout.indices`` must be sorted. The
    order of entries is that of the noise, so another order would be other numbers.
    """
    indptr, indices, K = layout.indptr, layout.indices, new_N.shape[1]
    links = 0
    for i in range(arms.size):
        own, e = arms[i], indptr[i + 1] - 1
        while e >= indptr[i] and indices[e] > i:
            other = arms[indices[e]]
            a, b = np.uint64(min(own, other)), np.uint64(max(own, other))
            before = new_N[0, a, b]
            if before == 0.0:
                touched[links] = a * np.uint64(K) + b
                links += 1
            new_N[0, a, b] = before + (2.0 * layout.ways if a == b else layout.ways)
            e -= 1
    count = links
    for j in range(links):
        a, b = divmod(touched[j], K)
        if a != b:
            new_N[0, b, a] = new_N[0, a, b]
            touched[count] = b * K + a
            count += 1
    return count


@kernel(forceinline=True)
def observe_sums(
    layout: Layout, world: World, dense: Dense | None, arms: IntArray, noise: FloatArray, t: int
) -> float:
    """Fill in the rows of a round that reports sums over edges; return its expected reward."""
    reward = 0.0
    if dense is not None:
        R, features, rows = world.R, dense.features, dense.rows
        size, last, count = features.shape[1], dense.U.shape[1], noise.shape[1]
        for o in range(count):
            for c in range(last + 1):
                rows[0, o, c] = 0.0
        for i in range(arms.size):
            a = arms[i]
            for e in range(layout.indptr[i], layout.indptr[i + 1]):
                b, g, w = arms[layout.indices[e]], layout.types[e], layout.weights[e]
                s, o = layout.regressor[a, b], layout.adds_to[e]
                for c in range(size):
                    rows[0, o, g * size + c] += w * features[s, c]
                rows[0, o, last] += w * R[g, a, b]
        for o in range(count):
            reward += rows[0, o, last]
            rows[0, o, last] += world.sigma * noise[t, o]
        dense.counts[0] = count
    return reward


@kernel(forceinline=True)
def record_round(run: Run, recorded: IntArray, t: int, number: int, reward: float) -> None:
    """Count the reward of round t, and keep the round if it is recorded."""
    run.total[0] += reward
    k = run.kept[0]
    if k < recorded.size and recorded[k] == t:
        run.reward[k], run.cumulative[k], run.tuples[k] = reward, run.total[0], number
        for i in range(run.arms.size if run.allocations.shape[0] > 0 else 0):
            run.allocations[k, i] = run.arms[i]
        run.kept[0] += 1
