"""All that the compiled index loop takes, for the engine and for `select`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels.index.buffers import (
    make_bounds,
    make_counts_search,
    make_dense,
    make_edge_counts,
    make_linear_search,
    make_run,
    make_spectrum,
    make_workspace,
    new_dense_search,
    search_columns,
)
from gbb._kernels.index.dense import Dense, Reduction, Spectrum, TupleBounds
from gbb._kernels.index.independent import ByFeatures, Independent, estimate_all
from gbb._kernels.index.information import Information
from gbb._kernels.index.layout import NOTHING, Layout, Rule
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
from gbb._kernels.index.search_linear import LinearSearch
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.ridge import Ridge
from gbb.learning.tuples import Tuples
from gbb.policies._compiled import CompiledIndex
from gbb.policies._information import InformationRatio
from gbb.policies._learner import Posterior
from gbb.policies._policy import Choice
from gbb.policies._search import Objective, couple_of, tuple_values


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
            counts = make_counts_search(problem, layouts) if searched else None
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


def make_dense_search(policy: CompiledIndex, layouts: Layout, blocks: int) -> DenseSearch:
    """Return buffers for whitened tables in so many blocks."""
    types, features = policy.problem.types, policy.coordinates.features
    # All types have the same columns in their blocks, or share one block.
    rows = np.tile(np.kron(np.eye(types // blocks), features), (blocks, 1))
    columns = search_columns(layouts, blocks, rows)
    return new_dense_search(layouts, columns[:1], blocks)


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
    _ = shared.layout, shared.games  # made once, for all copies
    now, rounds = shared.with_posterior(posterior), np.array([float(posterior.rounds)])
    # Threads share policies, so a game is taken out of the pool while it is played.
    try:
        game = shared.games.pop()
    except IndexError:
        game = _make_idle_game(now)
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
    R = np.zeros((problem.types, problem.K, problem.K))
    return make_game(policy, policy.layout, R, make_run(problem.n, 0))


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
