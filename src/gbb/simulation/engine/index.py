"""Index policies on any problem in the engine: one game, and rounds in every kind of context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gbb._kernels.index.buffers import (
    make_counts_search,
    make_dense,
    make_run,
    make_spectrum,
    make_workspace,
)
from gbb._kernels.index.dense import Reduction
from gbb._kernels.index.independent import ByFeatures, estimate_all
from gbb._kernels.index.layout import TYPES, Layout, size_of, stack
from gbb._kernels.index.play import Rounds, Run, play_index
from gbb._support.arrays import aligned_zeros, padded
from gbb._support.checks import FloatArray, IntArray
from gbb._support.rows import distinct
from gbb.contexts import Vector
from gbb.environment import Environment
from gbb.learning.coordinates import Coordinates, coordinates, symmetric_edge_arms
from gbb.learning.record import AnyRecord, Moments, Record
from gbb.learning.ridge import Ridge
from gbb.learning.scales import estimation_rounds
from gbb.policies import Learned
from gbb.policies._compiled import MAX_TERMS, CompiledPolicy
from gbb.policies._game import (
    Game,
    fill_factors,
    make_dense_search,
    make_game,
    make_information,
    make_rule,
)
from gbb.problem import Problem
from gbb.simulation.trace import Trace, couples_of

if TYPE_CHECKING:
    from gbb.simulation.engine import loops

NUMBERS = 1 << 22
"""About how many numbers the layouts of contexts may hold together."""

TINY = 1e-100
"""If all numbers of a context are smaller, their squares may be 0."""


class Part(NamedTuple):
    """Rounds from ``begin`` to ``end``, counted from 0, that are played in one call."""

    begin: int
    end: int
    game: Game
    context: IntArray
    features: FloatArray
    radii: FloatArray
    offset: FloatArray


Parts = Callable[[int, int], Iterator[Part]]
"""Cuts rounds into parts."""


def plays_index(policy: CompiledPolicy) -> bool:
    """Return whether the loop plays ``policy``: its tables are not too large in any round."""
    problem = policy.problem
    if problem.contexts is None:
        return policy.is_listed and policy.fits(policy.tuples.size)
    if problem.unknown:
        return False
    K, k = problem.K, policy.cut.k
    groups = len(np.unique(np.column_stack([policy.cut.parts, problem.first_allowed]), axis=0))
    kinds = problem.types * min(problem.m, groups**2)
    return K**k * kinds <= MAX_TERMS and policy.fits(K**k)


def run_index(env: Environment, policy: CompiledPolicy, asked: loops.Run) -> Trace:
    """Play all rounds of an index policy, in O(m) each.

    Gaussian noise on edges is drawn once per type and edge-arm if there is one type or that is less, any
    other for every number of the report.
    """
    problem, blocks = policy.problem, asked.blocks
    if problem.unknown:
        return run_with_unknown_scales(env, policy, asked)
    cells, summed = problem.types * problem.K**2, blocks.gaussian and not blocks.edge_noise
    run = make_run(problem.n, len(asked.recorded), keep_allocations=asked.keep_allocations)
    parts: Parts
    if env.rows is None:
        few = problem.types == 1 or cells <= problem.m
        summed, width = summed and problem.tabular and few, cells
        game = make_game(policy, policy.layout, np.array(env.reward_tables), run)
        parts = in_one_layout(policy, _with_noise(game, env, by_report=not summed))
    elif mixes_matrices(policy, env.rows[: asked.rounds]):
        cells = problem.K**2
        summed, width = summed and problem.feedback == "edge", min(problem.m, cells)
        game = make_mixed_game(env, policy, run)
        now, features = policy.at_row(env.rows[0]), np.array(env.rows[: asked.rounds])
        parts = in_one_layout(now, _with_noise(game, env, by_report=not summed), features)
    else:
        summed = summed and problem.tabular
        contexts = ContextLayouts(policy, env.rows[: asked.rounds])
        width = min(problem.m, contexts.matrices * problem.K**2)
        layouts, now = contexts.layouts, contexts.policy_of(0)
        game = make_game(now, layouts, np.array(env.reward_tables), run)
        parts = contexts.parts_of(_with_noise(game, env, by_report=not summed))

    def noise(size: int) -> FloatArray:
        if summed:
            return blocks.sums(np.ones(width, dtype=np.int64), size)
        return blocks.report(size)

    play_parts(asked, parts, noise, range(asked.rounds), width=max(problem.observations, cells))
    return _trace(policy, run, asked)


def play_parts(
    asked: loops.Run,
    parts: Parts,
    noise: Callable[[int], FloatArray],
    rounds: range,
    *,
    width: int,
) -> None:
    """Play rounds, counted from 0, block by block; the tables of one have ``width`` numbers."""
    begin, end = rounds.start, rounds.stop
    for size in asked.blocks.sizes(end - begin, width=width):
        drawn = noise(size)
        for part in parts(begin, begin + size):
            chunk = Rounds(
                first=part.begin + 1,
                radii=part.radii,
                offset=part.offset,
                noise=drawn[part.begin - begin : part.end - begin],
                context=part.context,
                features=part.features,
                recorded=asked.recorded,
                choose_only=False,
            )
            play_index(*part.game, chunk, asked.rng)
        begin += size


def in_one_layout(policy: CompiledPolicy, game: Game, features: FloatArray | None = None) -> Parts:
    """Leave rounds whole: links lie alike in all, whatever the vector of context ``features``."""
    own = policy.constants["offset"]

    def parts(begin: int, end: int) -> Iterator[Part]:
        rounds = np.arange(begin, end, dtype=np.float64)
        here = np.ones((len(rounds), 1)) if features is None else features[begin:end]
        offset, context = np.full(len(rounds), own), np.zeros(len(rounds), dtype=np.int64)
        yield Part(begin, end, game, context, here, policy.radii(rounds), offset)

    return parts


def run_with_unknown_scales(env: Environment, policy: CompiledPolicy, asked: loops.Run) -> Trace:
    """Play all rounds of a policy that does not know sigma or S, from one estimate of them to the next.

    Every number's noise is drawn, as the sum of its squares is what these come from. With ``y = <q,
    theta> + noise`` that of the rewards is ``sum y^2 = 2 <theta, b> - <theta, G theta> + sum noise^2``.
    """
    problem, state, noise2 = env.problem, policy.policy.init(), 0.0
    theta = np.stack([M.T.ravel() for M in env.M_star.reshape(-1, problem.d, problem.d)]).ravel()
    run, layout = (
        make_run(problem.n, len(asked.recorded), keep_allocations=asked.keep_allocations),
        policy.layout,
    )

    def noise(size: int) -> FloatArray:
        nonlocal noise2
        drawn = asked.blocks.report(size)
        noise2 += float((drawn[:, problem.report.nonzero] ** 2).sum())
        return drawn

    begin = 0
    for end in [*estimation_rounds(asked.rounds - 1), asked.rounds]:
        now = policy.with_scales(state)
        game = make_game(now, layout, np.array(env.reward_tables), run)
        game = _with_noise(_with_record(game, now, state.record), env, by_report=True)
        play_parts(asked, in_one_layout(now, game), noise, range(begin, end), width=problem.m)
        seen = record_of(now, game)
        b, G = seen.moment(problem), seen.gram(problem)
        squares = float(2.0 * theta @ b - theta @ G @ theta) + env.sigma**2 * noise2
        record = replace(seen, count=end * float(problem.report.nonzero.sum()), squares=squares)
        learner, last = policy.policy.learner, end == asked.rounds
        scales = None if last else learner.estimate_scales(policy.policy.problem, record)
        state, begin = Learned(end, record, scales), end
    return _trace(policy, run, asked)


def record_of(policy: CompiledPolicy, game: Game) -> AnyRecord:
    """Return what a game has seen; sums over edges are in the factor alone."""
    if game.edges is not None:
        N, Y = game.edges.N, game.edges.Y
        return Record(N if policy.problem.weighted else N.astype(np.int64), Y)
    assert game.dense is not None
    size = game.dense.U.shape[1]
    U, y = np.triu(game.dense.U[0, :, :size]), game.dense.U[0, :, size]
    return Moments(U.T @ U - policy.lam * np.eye(size), U.T @ y)


def _with_record(game: Game, policy: CompiledPolicy, record: AnyRecord) -> Game:
    if game.edges is not None:
        assert record.tables is not None
        game.edges.N[:], game.edges.Y[:] = record.tables
    if game.independent is not None:
        estimate_all(game.independent, game.counts)
    else:
        fill_factors(game, Ridge(policy.problem, record, policy.lam, symmetric=policy.symmetric))
    return game


def _with_noise(game: Game, env: Environment, *, by_report: bool) -> Game:
    """Return the game with the environment's noise, whatever the policy believes of it."""
    world = game.world._replace(
        sigma=env.sigma, noise_by_visit=env.rows is not None, noise_by_report=by_report
    )
    return game._replace(world=world)


def _trace(policy: CompiledPolicy, run: Run, asked: loops.Run) -> Trace:
    return Trace(
        reward=run.reward,
        cumulative=run.cumulative,
        couple=couples_of(run.tuples, policy.problem.K, policy.cut.k),
        allocation=run.allocations if asked.keep_allocations else None,
    )


# Contexts that change how links lie


class ContextLayouts:
    """The layouts of a run's contexts, a row each; as many at once as fit into memory."""

    def __init__(self, policy: CompiledPolicy, rows: FloatArray) -> None:
        self._policy, self._made = policy, dict[int, Layout]()
        self._rows, self._which = distinct(rows)
        self._most = max(1, NUMBERS // size_of(self._layout_of(0)))
        wanted = np.arange(len(self._rows) if len(self._rows) <= self._most else 1)
        self._stack(wanted)
        all_fit = len(wanted) == len(self._rows)
        in_play = int(self.layouts.sizes[:, TYPES].max())
        self.matrices = in_play if all_fit else policy.problem.types

    def policy_of(self, context: int) -> CompiledPolicy:
        """Return the policy in a context."""
        return self._policy.at_row(self._rows[context])

    def parts_of(self, game: Game) -> Parts:
        """Cut rounds into parts with few enough contexts."""

        def parts(begin: int, end: int) -> Iterator[Part]:
            nonlocal game
            for first, last in self._stretches(begin, end):
                wanted = np.unique(self._which[first:last])
                if not np.isin(wanted, self._stacked).all():
                    self._stack(wanted)
                    game = _with_layouts(game, self.policy_of(0), self.layouts)
                context = np.searchsorted(self._stacked, self._which[first:last])
                rounds = np.arange(first, last, dtype=np.float64)
                radii, offset = np.zeros(last - first), np.zeros(last - first)
                for number in wanted.tolist():
                    now, here = self.policy_of(number), self._which[first:last] == number
                    radii[here], offset[here] = now.radii(rounds[here]), now.constants["offset"]
                features = np.ones((last - first, 1))
                yield Part(first, last, game, context, features, radii, offset)

        return parts

    def _stretches(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield stretches of rounds with at most so many different contexts each."""
        start, seen = begin, set[int]()
        for t, context in enumerate(self._which[begin:end].tolist(), begin):
            if context not in seen and len(seen) == self._most:
                yield start, t
                start, seen = t, set()
            seen.add(context)
        yield start, end

    def _layout_of(self, context: int) -> Layout:
        if context not in self._made:
            self._made[context] = self.policy_of(context).layout
        return self._made[context]

    def _stack(self, contexts: IntArray) -> None:
        """Make the layouts of these contexts, and forget all others."""
        self._stacked = contexts
        self._made = {number: self._layout_of(number) for number in contexts.tolist()}
        self.layouts = stack(list(self._made.values()))


def _with_layouts(game: Game, policy: CompiledPolicy, layouts: Layout) -> Game:
    """Return the game in other contexts, with buffers for the largest of them."""
    workspace = make_workspace(layouts, policy.cut.k, len(game.workspace.mu))
    counts, search = game.counts, game.search
    if counts is not None and game.independent is not None:
        counts = make_counts_search(policy.problem, layouts)
        estimate_all(game.independent, counts)
    if search is not None:
        search = make_dense_search(policy, layouts, len(search.W))
    return game._replace(layouts=layouts, workspace=workspace, counts=counts, search=search)


# Contexts that mix matrices


def mixes_matrices(policy: CompiledPolicy, rows: FloatArray) -> bool:
    """Return whether edges pay by ``sum_k c_k M_k`` in every round, and so all are laid out alike.

    Not if all numbers of a round are next to 0, nor with a bonus of one's own, which may ask for the
    problem of its round.
    """
    problem = policy.problem
    several = isinstance(problem.contexts, Vector) and problem.contexts.size > 1
    one_type = problem.types == rows.shape[1]
    nonzero = bool((np.abs(rows) > TINY).any(axis=1).all())
    return several and one_type and not callable(policy.radius) and nonzero


def make_mixed_game(env: Environment, policy: CompiledPolicy, run: Run) -> Game:
    """Return the game of rounds with a vector of C numbers each.

    For one-hot arms with rewards per edge a round costs O(m + K^2 C^2), else O(m) solutions with the
    factor of all parameters at most, beside the search.
    """
    assert env.rows is not None
    problem, now, matrices = env.problem, policy.at_row(env.rows[0]), np.array(env.reward_tables)
    C, K, edge_arms = len(matrices), problem.K, np.array(problem.edge_arms)
    alone, by_edge = of_one_matrix(policy, now), problem.feedback == "edge"
    game = make_game(alone, alone.layout, np.zeros((1, K, K)), run)
    world = game.world._replace(matrices=matrices, edge_arms=edge_arms)
    game = game._replace(world=world, rule=make_rule(now), edges=game.edges if by_edge else None)
    if game.independent is not None:
        mu = aligned_zeros(
            padded(len(game.workspace.mu))
        )  # as eight regressors are drawn at a time
        game = game._replace(
            independent=None,
            by_features=make_by_features(alone, C),
            workspace=game.workspace._replace(mu=mu),
            information=make_information(alone, len(mu)),
        )
    if game.information is not None:  # to the policy itself every number is a sum
        game = game._replace(information=game.information._replace(in_sums=True))
    if game.by_features is not None:
        return game
    dense = make_dense(
        np.zeros((K * K, problem.parameters)),
        1,
        problem.parameters,
        lam=policy.lam,
        regressors=K * K,
        most=min(K * K, problem.m) if by_edge else problem.observations,
    )
    # What is learnt are all parameters of every edge-arm; searched is in those of the round.
    layouts = game.layouts._replace(regressor=np.arange(K * K).reshape(K, K))
    spectrum = reduction = None
    if policy.bonus is not None:
        directions = _directions(alone.coordinates.features.shape[1], problem.d)
        width = directions.shape[2]
        columns = aligned_zeros(1, problem.parameters, width)
        reduction = Reduction(directions, columns, aligned_zeros(1, problem.parameters + 1, width))
        if policy.shrinking:
            spectrum = make_spectrum(1, problem.parameters, policy.lam)
    return game._replace(layouts=layouts, dense=dense, spectrum=spectrum, reduction=reduction)


def of_one_matrix(policy: CompiledPolicy, now: CompiledPolicy) -> CompiledPolicy:
    """Return the policy on the problem with one matrix, which says how links and tuples lie.

    ``now`` is the policy of a round. Edge-arms have all their coordinates, in the order of parameters;
    or, for a choice by optimism, those of their symmetric parts if these decide.
    """
    problem = policy.problem
    first = np.eye(1, problem.types)[0]
    weights = problem.at_row(first).edge_weights[:: problem.types]  # an edge has an entry a number
    alone = policy.replace_problem(
        Problem(
            problem.graph,
            problem.arms,
            sigma=problem.sigma,
            S=problem.S,
            L=problem.L,
            edge_weights=None if (weights == 1.0).all() else weights,
            feedback=problem.feedback,
            allowed=None if problem.allowed.all() else problem.allowed,
        )
    )
    drawn, independent = policy.sample is not None, is_one_hot(problem)
    symmetric = policy.bonus is not None and problem.links_alike and not (independent and drawn)
    vars(alone)["coordinates"] = _coordinates(
        alone.problem, symmetric=symmetric, independent=independent, drawn=drawn
    )
    alone.symmetric, alone.restarts = symmetric, now.restarts
    return alone


def is_one_hot(problem: Problem) -> bool:
    """Return whether arms are unit vectors, of any size and order, and edges are seen one by one."""
    some = problem.arms != 0.0
    one_each = (some.sum(axis=0) == 1).all() and (some.sum(axis=1) == 1).all()
    return problem.feedback == "edge" and bool(one_each)


def _coordinates(
    problem: Problem, *, symmetric: bool, independent: bool, drawn: bool
) -> Coordinates:
    """Return those of symmetric parts, or of all of every edge-arm, in the order of parameters.

    If rewards of edge-arms are ``drawn``, each is a regressor of its own even if symmetric parts decide.
    """
    z, shape = np.array(problem.edge_arms), (problem.K, problem.K)
    if symmetric and not drawn:
        own = coordinates(problem, symmetric=True)
        each = symmetric_edge_arms(problem.arms)[np.unique(own.index, return_index=True)[1]]
        return own if independent else Coordinates(own.index, each, diagonal=False)
    if not independent:
        each = symmetric_edge_arms(problem.arms) if symmetric else z
        return Coordinates(np.arange(len(z)).reshape(shape), each, diagonal=False)
    index, amounts = np.abs(z).argmax(axis=1), np.zeros(len(z))
    amounts[index] = z.sum(axis=1)
    return Coordinates(index.reshape(shape), np.diag(amounts), diagonal=True)


def _directions(size: int, d: int) -> FloatArray:
    """Return what decides of a round's matrix: its symmetric part, or all; the last direction first."""
    own = symmetric_edge_arms(np.eye(d)) if size < d**2 else np.eye(d**2)
    directions = aligned_zeros(1, d**2, padded(size))
    directions[0, :, :size] = own[:, ::-1]
    return directions


def make_by_features(policy: CompiledPolicy, C: int) -> ByFeatures:
    """Return factors that have seen nothing, for C numbers; ``policy`` is that of one matrix."""
    problem, norms = policy.problem, np.diag(policy.coordinates.features)
    first, second = np.divmod(np.unique(policy.coordinates.index, return_index=True)[1], problem.K)
    count, width = len(norms), padded(len(norms))
    U, norm = aligned_zeros(C, C + 2, width), aligned_zeros(width)
    U[np.arange(C), np.arange(C)] = np.sqrt(policy.lam)
    U[:, C + 1], norm[:count] = 1.0 / np.sqrt(policy.lam), norms
    return ByFeatures(
        c=np.zeros(C),
        U=U,
        norm=norm,
        multiplicity=1.0 + (policy.symmetric & (first != second)),
        first=first,
        second=second,
        mean=aligned_zeros(width),
        var=aligned_zeros(width),
        log_det=np.zeros(count),
        smallest=np.ones(count),
        stale=np.zeros(count, dtype=np.bool_),
        observed=np.zeros((count, 2)),
        solved=aligned_zeros(C, width),
        row=np.zeros(C + 1),
        columns=np.zeros((C, C)),
    )
