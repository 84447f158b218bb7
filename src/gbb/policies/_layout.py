"""Links, estimates and buffers as the compiled code takes them, for the engine and for `select`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._kernels.index.dense import Dense, Reduction, Spectrum, TupleBounds
from gbb._kernels.index.independent import ByFeatures, Independent, estimate_all
from gbb._kernels.index.information import Information
from gbb._kernels.index.layout import SEARCHES, TUPLES, Layout, Rule
from gbb._kernels.index.play import (
    EdgeCounts,
    Rounds,
    Run,
    Workspace,
    World,
    play_index,
    search_once,
)
from gbb._kernels.index.search_counts import CountsSearch
from gbb._kernels.index.search_dense import DenseSearch
from gbb._kernels.index.search_linear import BITS, LinearSearch
from gbb._kernels.linalg import DIRECTIONS
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import unique_rows
from gbb.learning.coordinates import Coordinates
from gbb.learning.ridge import Ridge
from gbb.learning.tuples import Tuples
from gbb.policies._compiled import CompiledIndex
from gbb.policies._information import InformationRatio
from gbb.policies._learner import Posterior
from gbb.policies._policy import Choice
from gbb.policies._search import Objective, couple_of, tuple_values
from gbb.problem import Problem

MIN_AGENTS_FOR_LIMITS, SPARSE = 64, 8
"""From so many agents on, each linked to at most one in so many, a move leaves most as they are."""

BY_CONTEXT = Layout._fields[: Layout._fields.index("penalty")]
"""The fields of a layout that have a row for each context."""

NOTHING = np.zeros((1, 1, 0))


class Game(NamedTuple):
    """All that :func:`~gbb._kernels.index.play.play_index` takes, but for the rounds."""

    rule: Rule
    layouts: Layout
    workspace: Workspace
    independent: Independent | None
    by_features: ByFeatures | None
    dense: Dense | None
    spectrum: Spectrum | None
    reduction: Reduction | None
    bounds: TupleBounds | None
    linear: LinearSearch | None
    counts: CountsSearch | None
    search: DenseSearch | None
    information: Information | None
    world: World
    edges: EdgeCounts | None
    run: Run


# Layouts


def make_layout(
    tuples: Tuples,
    coordinates: Coordinates,
    *,
    starts: int,
    searches: int,
    counts: bool = False,
    dense: bool = False,
    valued: bool = True,
) -> Layout:
    """Return the links of a problem and the tuples that searches start from, in one row.

    With what a search on ``counts``, or on ``dense`` estimates, takes; ``valued`` if the compiled code
    computes the values of the tuples.
    """
    problem, index = tuples.problem, coordinates.index
    G, K, n = problem.types, problem.K, problem.n
    types, weights = problem.edge_types, problem.edge_weights
    agent, other = problem.sources.astype(np.int64), problem.targets.astype(np.int64)
    edges = {
        "indptr": first_entries(agent, n),
        "indices": other,
        "types": np.array(types),
        "weights": np.array(weights),
        "adds_to": np.array(problem.report.index),
    }
    # Links that are alike are one entry. The search on counts has one for each regressor, so for each
    # direction if each has one.
    merged = problem.links_alike and (coordinates.symmetric or not counts)
    table, back, weight = types, types, weights
    if not merged:  # an entry for each direction: tables of edges out, then of edges in
        inward = np.lexsort((types, agent, other))
        agent, other = np.append(agent, other[inward]), np.append(other, agent[inward])
        table = np.concatenate([types, G + types[inward]])
        back = np.concatenate([G + types, types[inward]])
        # A directed edge is listed at both of its ends, and search counts what an agent sees.
        weight = np.append(weights, weights[inward]) / 2.0
    nonzero = np.flatnonzero(weight != 0.0)
    # By agent, then by matrix: an agent's entries of one block are a segment of their own.
    nonzero = nonzero[np.lexsort((table[nonzero] % G, agent[nonzero]))]
    agent, other, table, back = (values[nonzero] for values in (agent, other, table, back))
    weight, group = weight[nonzero], tuples.group_of
    # Neighbours of one group play the same arm in a tuple: their weights are added once, ahead.
    bundles, which, size = unique_rows(agent, table, group[other])
    entries = {
        "start": first_entries(agent, n),
        "other": other,
        "table": table,
        "back": back,
        "weight": weight,
        "bundle_start": first_entries(bundles[0], n),
        "bundle_table": bundles[1],
        "bundle_group": bundles[2],
        "bundle_weight": np.bincount(which, weights=weight, minlength=len(size)).astype(float),
        "bundle_size": size,
    }
    one, two = _regressors(index, G, merged=merged)
    used = np.array(problem.matrices_in_play)
    blocks = used if problem.tabular else np.zeros(1, dtype=np.int64)
    in_play = used if merged else np.append(used, used + G)
    regressor, amount = tuples.list_terms(index) if valued else (NOTHING[0].astype(int), NOTHING[0])
    sizes = [len(in_play), len(used), len(blocks), tuples.size, starts, searches]
    by_context: dict[str, Any] = {
        **dict.fromkeys(BY_CONTEXT, np.zeros(0, dtype=np.int64)),
        **edges,
        **entries,
        **(_slots(agent, entries, bundles[0], reverse_tables(len(one), G)) if counts else {}),
        **(_segments(problem, agent, table) if dense else {}),
        "tuple_regressor": regressor,
        "tuple_amount": amount,
        "objectives": make_objectives(tuples, coordinates) if dense and valued else NOTHING,
        "tables_in_play": in_play,
        "types_in_play": used,
        "blocks_in_play": blocks,
        "sizes": np.array(sizes),
    }
    # Added to values: forbidden arms, and the padding to whole vectors, never win.
    penalty = aligned_zeros(n, padded(K))
    penalty[:, :K][~problem.allowed] = -np.inf
    penalty[:, K:] = -np.inf
    one_round = problem.root is problem  # flags of a layout hold in all contexts
    return Layout(
        **{name: by_context[name][None] for name in BY_CONTEXT},
        penalty=penalty,
        free=bool(problem.allowed.all()),
        plain=one_round and len(one) == 1 and bool((weight == 1.0).all()),
        plain_edges=one_round and G == 1 and bool((weights == 1.0).all()),
        group=group,
        part=np.array(tuples.group_part),
        substitute=np.array(tuples.arms_of_group),
        one=one,
        two=two,
        regressor=np.array(index),
        ways=float(problem.ways),
    )


def stack(rows: Sequence[Layout]) -> Layout:
    """Return the layouts of several contexts in one, padded to the longest."""
    if len(rows) == 1:
        return rows[0]
    stacked = {}
    for name in BY_CONTEXT:
        arrays = [getattr(row, name)[0] for row in rows]
        shape = np.max([each.shape for each in arrays], axis=0)
        stacked[name] = aligned_zeros(len(rows), *shape.tolist()).view(arrays[0].dtype)
        for row, each in zip(stacked[name], arrays, strict=True):
            row[tuple(map(slice, each.shape))] = each
    return rows[0]._replace(**stacked)


def size_of(layout: Layout) -> int:
    """Return how many numbers the contexts of a layout hold."""
    return sum(getattr(layout, name).size for name in BY_CONTEXT)


def first_entries(agent: IntArray, n: int) -> IntArray:
    """Return where the entries of each of n agents begin, and where the last end (n + 1)."""
    return np.searchsorted(agent, np.arange(n + 1)).astype(np.int64)


def _regressors(index: IntArray, types: int, *, merged: bool) -> tuple[IntArray, IntArray]:
    """Return the two regressors that each table sums, by the neighbour's arm and the agent's."""
    offsets = (int(index.max()) + 1) * np.arange(types)[:, None, None]
    inward = np.ascontiguousarray(offsets + index)
    out = np.ascontiguousarray(inward.transpose(0, 2, 1))
    if merged:
        return out, inward
    both = np.concatenate([out, inward])
    return both, both


def reverse_tables(tables: int, types: int) -> IntArray:
    """Return the table by which the other end sees the same edges."""
    own = np.arange(tables)
    return own if tables == types else np.roll(own, types)


def _slots(
    agent: IntArray, entries: dict[str, Any], bundle_agent: IntArray, reverse: IntArray
) -> dict[str, IntArray]:
    """Return the neighbours that are counted together: by agent and table, in the order of both."""
    tables, table, n = len(reverse), entries["table"], len(entries["start"]) - 1
    slots, slot = np.unique(agent * tables + table, return_inverse=True)
    owner, own = np.divmod(slots, tables)
    reversed_slots = owner * tables + reverse[own]
    place = np.searchsorted(slots, reversed_slots)
    there = slots[np.minimum(place, len(slots) - 1)] == reversed_slots if len(slots) else place > 0
    return {
        "slot_start": first_entries(owner, n),
        "slot_table": own,
        "slot_reverse": np.where(there, place, -1),
        "slot": slot,
        "back_slot": np.searchsorted(slots, entries["other"] * tables + entries["back"]),
        "bundle_slot": np.searchsorted(slots, bundle_agent * tables + entries["bundle_table"]),
    }


def _segments(problem: Problem, agent: IntArray, table: IntArray) -> dict[str, IntArray]:
    """Return each agent's entries that are of one block of the estimate, and the tables' columns."""
    types = problem.types if problem.tabular else 1
    segments, entry = np.unique(agent * types + table % types, return_index=True)
    return {
        "segment": first_entries(segments // types, problem.n),
        "segment_entry": np.append(entry, len(agent)),
        "block": table % types,
        "column": table // types * (problem.K * padded(problem.K)),
    }


def make_objectives(tuples: Tuples, coordinates: Coordinates) -> FloatArray:
    """Return the sum of edge-arms of every tuple in the coordinates of the blocks in play.

    Of blocks x size x tuples, padded to whole vectors.
    """
    problem, table = tuples.problem, coordinates.table
    sums = np.stack([sums.T for sums in tuples.by_type(table)])
    sums = sums[problem.matrices_in_play] if problem.tabular else sums.reshape(1, -1, tuples.size)
    objectives = aligned_zeros(*sums.shape[:2], padded(tuples.size))
    objectives[:, :, : tuples.size] = sums
    return objectives


# Buffers


def make_rule(policy: CompiledIndex) -> Rule:
    """Return the numbers of a policy."""
    constants = policy.constants
    return Rule(
        shrinking=policy.shrinking,
        v=policy.v,
        epsilon=policy.epsilon,
        slack=1.0 - policy.beta if policy.beta is not None else policy.c or 0.0,
        fading=policy.c is not None,
        **{name: constants[name] for name in ("lam", "adaptive", "sigma", "spread")},
    )


def make_game(policy: CompiledIndex, layouts: Layout, R: FloatArray, run: Run) -> Game:
    """Return a game that is about to begin; R is what edges of weight 1 pay by type and arms."""
    problem, features = policy.problem, policy.coordinates.features
    G, searched = problem.types, policy.starts > 0 or policy.guarded
    regressors = G * len(features)
    independent = dense = spectrum = bounds = counts = search = edges = None
    if problem.tabular:
        edges = make_edge_counts(problem)
    if policy.is_independent:
        assert edges is not None
        independent = make_independent(policy, edges)
        if policy.bonus is not None:
            bounds = TupleBounds(NOTHING, NOTHING, NOTHING[0, 0])
            # To keep means and variances costs little, and one kernel serves couples and searches.
            counts = make_counts_search(policy, layouts) if searched else None
        estimate_all(independent, counts)
    else:
        blocks, size = G if problem.tabular else 1, policy.block_size
        most = min(len(features), problem.m) if problem.tabular else problem.observations
        dense = make_dense(features, blocks, size, lam=policy.lam, regressors=regressors, most=most)
        if policy.bonus is not None:
            spectrum = make_spectrum(blocks, size, policy.lam) if policy.shrinking else None
            bounds = make_bounds(dense.U, policy.tuples.size)
            search = make_dense_search(policy, layouts, blocks) if searched else None
    if problem.symmetric_only:
        R = (R + R.transpose(0, 2, 1)) / 2.0
    return Game(
        rule=make_rule(policy),
        layouts=layouts,
        workspace=make_workspace(layouts, policy.tuples.k, regressors),
        independent=independent,
        by_features=None,
        dense=dense,
        spectrum=spectrum,
        reduction=None,
        bounds=bounds,
        linear=None if policy.sample is None else make_linear_search(layouts),
        counts=counts,
        search=search,
        information=make_information(policy, regressors),
        world=World(R, problem.sigma, NOTHING, NOTHING[0], False, True),
        edges=edges,
        run=run,
    )


def make_run(n: int, recorded: int, *, keep_allocations: bool = False) -> Run:
    """Return what a run carries from round to round, with room for its ``recorded`` rounds."""
    return Run(
        arms=np.zeros(n, dtype=np.int64),
        value=np.zeros(1),
        total=np.zeros(1),
        kept=np.zeros(1, dtype=np.int64),
        reward=np.zeros(recorded),
        cumulative=np.zeros(recorded),
        tuples=np.zeros(recorded, dtype=np.int64),
        allocations=np.zeros((recorded if keep_allocations else 0, n), dtype=np.int64),
    )


def make_workspace(layouts: Layout, k: int, regressors: int) -> Workspace:
    """Return scratch space of a choice among tuples over k parts."""
    n, searches = len(layouts.penalty), int(layouts.sizes[:, SEARCHES].max())
    return Workspace(
        optima=np.zeros((searches, n), dtype=np.int64),
        chosen=np.zeros(k, dtype=np.int64),
        played=np.zeros_like(layouts.part),
        values=aligned_zeros(padded(int(layouts.sizes[0, TUPLES]))),
        mu=np.zeros(regressors),
        proposed=np.zeros(n, dtype=np.int64),
    )


def make_edge_counts(problem: Problem) -> EdgeCounts:
    """Return the record of no rounds."""
    shape = (problem.types, problem.K, problem.K)
    touched = np.zeros(min(problem.m, int(np.prod(shape))), dtype=np.int64)
    N, Y, new_N, new_Y = np.zeros((4, *shape))
    return EdgeCounts(N, Y, new_N, new_Y, touched)


def make_independent(policy: CompiledIndex, edges: EdgeCounts) -> Independent:
    """Return the estimates from a record."""
    problem, index, features = policy.problem, policy.coordinates.index, policy.coordinates.features
    count = len(features)
    first, second = np.divmod(np.unique(index, return_index=True)[1], problem.K)
    return Independent(
        N=edges.N,
        Y=edges.Y,
        mean=np.zeros(problem.types * count),
        var=np.zeros(problem.types * count),
        share=np.ones(problem.types * count),
        norm2=np.diag(features) ** 2,
        first=first,
        second=second,
        symmetric=policy.symmetric,
        lam=policy.lam,
    )


def make_dense(
    features: FloatArray, blocks: int, size: int, *, lam: float, regressors: int, most: int
) -> Dense:
    """Return factors that have seen nothing, and take ``most`` rows a round."""
    width = padded(size + 1)
    U = aligned_zeros(blocks, size, width)
    U[:, np.arange(size), np.arange(size)] = np.sqrt(lam)
    return Dense(
        U=U,
        features=features,
        rows=aligned_zeros(blocks, most, width),
        counts=np.zeros(blocks, dtype=np.int64),
        observed=np.zeros((regressors, 2)),
        scratch=np.zeros(max(size, most)),
        theta=np.zeros((blocks, size)),
    )


def make_spectrum(blocks: int, size: int, lam: float) -> Spectrum:
    """Return directions to look for the smallest eigenvalue in; it is lam at first."""
    vectors, k = aligned_zeros(blocks, size, WIDTH), np.arange(DIRECTIONS)
    vectors[:, :, :DIRECTIONS] = np.cos(1.3 * np.outer(np.arange(size), 1.0 + k) + k)
    return Spectrum(
        vectors=vectors,
        floor=np.full(blocks, lam),
        solved=aligned_zeros(size, WIDTH),
        small=np.zeros((DIRECTIONS, DIRECTIONS)),
        eliminated=aligned_zeros(size, padded(size + 1)),
    )


def make_bounds(U: FloatArray, tuples: int) -> TupleBounds:
    """Return scratch space for the optimistic values of so many tuples."""
    columns = padded(tuples)
    return TupleBounds(U, aligned_zeros(1, U.shape[1] + 1, columns), aligned_zeros(columns))


def is_sparse(layouts: Layout) -> bool:
    """Return whether a move leaves most agents as they are."""
    n = len(layouts.penalty)
    return n >= MIN_AGENTS_FOR_LIMITS and SPARSE * layouts.other.shape[1] <= n**2


def make_linear_search(layouts: Layout) -> LinearSearch:
    """Return buffers for the rewards of links."""
    (n, width), (tables, K, _) = layouts.penalty.shape, layouts.one.shape
    due = np.zeros(-(-n // BITS), dtype=np.int64)
    pay, gains = aligned_zeros(tables, K, width), aligned_zeros(n, width)
    return LinearSearch(pay, gains, due, is_sparse(layouts))


def make_counts_search(policy: CompiledIndex, layouts: Layout) -> CountsSearch:
    """Return buffers for counts of regressors, of which nothing is counted yet."""
    (n, width), (tables, K, _) = layouts.penalty.shape, layouts.one.shape
    slots, longest = layouts.slot_table.shape[1], int(np.diff(layouts.start).max())
    limits, apart = aligned_zeros(padded(n)), aligned_zeros(K, width)
    limits[:] = np.inf
    np.fill_diagonal(apart, -np.inf)
    agent = np.repeat(np.arange(n), np.diff(layouts.start[0]))
    weight = np.abs(layouts.weight[0, : len(agent)])
    around = float(np.bincount(agent, weights=weight, minlength=n).max())
    lazy = is_sparse(layouts) and tables == 1 and policy.problem.root is policy.problem
    return CountsSearch(
        mean=aligned_zeros(tables, K, width),
        var=aligned_zeros(tables, K, width),
        counts=aligned_zeros(tables, K, width),
        level=aligned_zeros(tables, width),
        reverse=reverse_tables(tables, policy.problem.types),
        weights=aligned_zeros(slots, width),
        neighbours=np.zeros((slots, K), dtype=np.int64),
        rows=np.zeros(longest, dtype=np.int64),
        shares=np.zeros(longest),
        added=aligned_zeros(2, width),
        last=np.zeros(K, dtype=np.int64),
        # No agent's limit moves by more than this in a move; 0 if limits are not kept.
        reach=2.0 * around if lazy else 0.0,
        slopes=aligned_zeros(tables, K, width),
        apart=apart,
        limits=limits,
        best=aligned_zeros(3, WIDTH),
    )


def make_dense_search(policy: CompiledIndex, layouts: Layout, blocks: int) -> DenseSearch:
    """Return buffers for whitened tables in so many blocks."""
    types, features = policy.problem.types, policy.coordinates.features
    # All types have the same columns in their blocks, or share one block.
    rows = np.tile(np.kron(np.eye(types // blocks), features), (blocks, 1))
    columns = search_columns(layouts, blocks, rows)
    return new_dense_search(layouts, columns[:1], blocks)


def new_dense_search(layouts: Layout, columns: FloatArray, blocks: int) -> DenseSearch:
    """Return buffers for tables in so many blocks, with these ``columns``."""
    _, size, wide = columns.shape
    own = aligned_zeros(*columns.shape)
    own[:] = columns
    longest = max(1, int(np.diff(layouts.segment).max()))
    return DenseSearch(
        columns=own,
        tables=aligned_zeros(blocks, size + 1, wide),
        W=np.zeros((blocks, size + 1)),
        norm2s=np.zeros(blocks),
        h=aligned_zeros(longest, size + 1, layouts.penalty.shape[1]),
        best=aligned_zeros(3, WIDTH),
    )


def search_columns(layouts: Layout, blocks: int, rows: FloatArray) -> FloatArray:
    """Return rows by regressor, type after type, as columns by table and arms, for every block.

    Of shape blocks x size x columns, as :attr:`DenseSearch.tables` has them.
    """
    (_, width), (tables, K, _) = layouts.penalty.shape, layouts.one.shape
    size = rows.shape[1]
    wide = np.zeros((tables, K, width, size))
    wide[:, :, :K] = rows[layouts.one] + rows[layouts.two]
    columns = wide.reshape(-1, blocks, K * width, size).transpose(1, 3, 0, 2)
    return columns.reshape(blocks, size, -1)


def make_information(policy: CompiledIndex, regressors: int) -> Information | None:
    """Return buffers for a choice among the allocations of many draws, if there are many."""
    problem, sample, samples = policy.problem, policy.sample, policy.samples
    if not isinstance(sample, InformationRatio) or samples == 1:
        return None
    return Information(
        own=len(policy.coordinates.features),
        in_sums=not (problem.tabular and (problem.ways == 1 or policy.symmetric)),
        power=sample.power,
        floor=sample.floor,
        draws=np.zeros((samples, regressors)),
        group=np.zeros(samples, dtype=np.int64),
        arms=np.zeros((samples, problem.n), dtype=np.int64),
        counts=np.zeros((samples, regressors)),
        tuples=np.zeros(samples, dtype=np.int64),
        size=np.zeros(samples, dtype=np.int64),
        centre=np.zeros(regressors),
        means=np.zeros((samples, regressors)),
        total=np.zeros(regressors),
        within=np.zeros(regressors),
        seen=np.zeros(regressors),
        regret=np.zeros(samples),
        gain=np.zeros(samples),
        told=np.zeros((3, problem.observations)),
    )


# A single choice


def choose(policy: CompiledIndex, posterior: Posterior, rng: np.random.Generator) -> Choice:
    """Return the choice that the engine's loop makes, for one posterior."""
    shared = policy.for_coordinates(symmetric=posterior.ridge.symmetric)
    now, rounds = shared.with_posterior(posterior), np.array([float(posterior.rounds)])
    # Threads share policies, so a game is taken out of the pool while it is played.
    try:
        game = shared.games.pop()
    except IndexError:
        game = _make_idle_game(shared)
    ridge, adaptive, offset, radii = posterior.ridge, False, 0.0, np.zeros(1)
    if game.independent is not None:
        tables = ridge.record.tables
        assert tables is not None
        game.independent.N[:], game.independent.Y[:] = tables
        independent = game.independent._replace(lam=now.lam)
        estimate_all(independent, game.counts)
        game = game._replace(independent=independent)
        adaptive, offset, radii = now.adaptive, now.constants["offset"], now.radii(rounds)
    else:
        fill_factors(game, ridge)
        if now.bonus is not None:  # by a decomposition of all of A, as there is no round before
            radii[0] = now.bonus.objective(posterior).radius
    game = game._replace(rule=make_rule(now)._replace(adaptive=adaptive))
    round_ = Rounds(
        first=int(posterior.rounds) + 1,
        radii=radii,
        offset=np.array([offset]),
        noise=NOTHING[0],
        context=np.zeros(1, dtype=np.int64),
        features=np.ones((1, 1)),
        recorded=np.zeros(0, dtype=np.int64),
        choose_only=True,
    )
    number = play_index(*game, round_, rng)
    arms, value = game.run.arms.copy(), float(game.run.value[0])
    shared.games.append(game)
    return Choice(arms, couple_of(now.tuples, number), value)


def _make_idle_game(policy: CompiledIndex) -> Game:
    problem = policy.problem
    nothing, R = np.zeros(0), np.zeros((problem.types, problem.K, problem.K))
    run = Run(
        arms=np.zeros(problem.n, dtype=np.int64),
        value=np.zeros(1),
        total=np.zeros(1),
        kept=np.zeros(1, dtype=np.int64),
        reward=nothing,
        cumulative=nothing,
        tuples=nothing.astype(np.int64),
        allocations=np.zeros((0, problem.n), dtype=np.int64),
    )
    return make_game(policy, policy.layout, R, run)


def fill_factors(game: Game, ridge: Ridge) -> None:
    """Write the factors of an estimate to the game's."""
    assert game.dense is not None
    size = game.dense.U.shape[1]
    for g, (U, y) in enumerate(ridge.factors):
        game.dense.U[g, :, :size], game.dense.U[g, :, size] = U, y


def maximise(
    layouts: Layout, tuples: Tuples, objective: Objective, rng: np.random.Generator
) -> Choice:
    """Return the allocation that local search finds for an objective, whatever index it is from."""
    values, index, radius = tuple_values(tuples, objective), layouts.regressor, objective.radius
    workspace, linear, search = make_workspace(layouts, tuples.k, 0), None, None
    workspace.values[: len(values)] = values
    if radius == 0.0:
        linear = make_linear_search(layouts)
        mu = _by_regressor(objective.means, index)
        linear.pay[:, :, : len(index)] = 0.5 * (mu[layouts.one] + mu[layouts.two])
    else:
        blocks = len(objective.theta)
        rows = _by_regressor(objective.ridge.whitened, index)
        columns = search_columns(layouts, blocks, rows)
        search = new_dense_search(layouts, columns[:1], blocks)
        search.tables[:, :-1] = columns
        # The last row is the mean, so that a move updates mean and norm in one pass.
        search.tables[:, -1] = np.einsum("ij,ijk->ik", objective.theta, columns)
    arms = np.empty(len(layouts.penalty), dtype=np.int64)
    number, value = search_once(layouts, workspace, linear, search, radius, rng, arms)
    return Choice(arms, couple_of(tuples, number), value)


def _by_regressor(table: FloatArray, index: IntArray) -> FloatArray:
    """Return a table by type and edge-arm as one by regressor, type after type."""
    flat = np.empty((len(table), int(index.max()) + 1, *table.shape[3:]))
    flat[:, index] = table
    return flat.reshape(-1, *table.shape[3:])
