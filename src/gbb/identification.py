"""Pure exploration: play by a design until an allocation is certified to be close to the best."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, seeds
from gbb._support.budget import Budget
from gbb._support.checks import IntArray
from gbb._support.seeds import Seed
from gbb.cuts import Cut, best, check_cut
from gbb.environment import Environment, System
from gbb.learning import AnyRecord, Confidence, empty, g_optimal, observe
from gbb.learning.tuples import AllocationFamily, Tuples, by_edge_arm, list_allocations
from gbb.optimum import solve
from gbb.pairwise import ArmSearch, PairProblem
from gbb.policies.baselines import draw_arms
from gbb.problem import Problem, check_lam
from gbb.simulation.engine.loops import Run
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.random_play import explore
from gbb.theory._alphas import check_has_one_matrix

TARGETS = ("allocation", "couple")

Play = Callable[[IntArray], ArrayLike]
"""Plays an allocation and returns the reward of every directed edge, or of every link."""

Draw = Callable[[int, IntArray, np.random.Generator], ArrayLike]
"""``draw(t, allocation, rng)``: the rewards of a round, as a System draws them."""


@dataclass(frozen=True, eq=False)
class Identification:
    """An allocation and its certificate.

    Attributes
    ----------
    allocation
        An arm index per agent.
    value
        Its estimated reward per round, over all directed edges.
    low, high
        Confidence bounds on its expected reward.
    gap
        Upper bound on how much more any other allocation earns (any other couple over the cut, with
        target ``couple``).
    epsilon, delta
        The goal: ``gap <= epsilon`` with probability 1 - delta.
    certified
        Whether the goal was reached.
    rounds
        Number of rounds played.
    target
        ``allocation`` or ``couple``.
    listed
        Whether ``gap`` is the exact maximum over the confidence set; otherwise it is an upper bound on
        that maximum, by the triangle inequality and a solver.
    record
        The record of all rounds.

    Notes
    -----
    With probability at least 1 - delta, ``low``, ``high`` and the gaps at all looks hold at once.
    """

    allocation: IntArray
    value: float
    low: float
    high: float
    gap: float
    epsilon: float
    delta: float
    certified: bool
    rounds: int
    target: str
    listed: bool
    record: AnyRecord


def identify(
    env: System | Problem,
    *,
    play: Play | None = None,
    epsilon: float | None = None,
    delta: float = 0.05,
    target: str = "allocation",
    cut: Cut | None = None,
    lam: float = 1.0,
    growth: float = 1.25,
    max_rounds: int = 1_000_000,
    seconds: float = 5.0,
    seed: Seed = 0,
) -> Identification:
    """Explore until an allocation is certified to be within ``epsilon`` of the best.

    Each agent draws its arm from the G-optimal design over arms, which makes the edge-arms G-optimal
    too (Rizk et al. 2021). From time to time the allocation with the best estimate is compared with all
    others: it is certified once none earns more than ``epsilon`` above it for any matrix in the
    confidence set.

    Parameters
    ----------
    env
        The system to play in: a :class:`gbb.Environment` or another :class:`gbb.environment.System`,
        or a problem together with ``play``.
    play
        A function that plays an allocation in a system of your own and returns the reward of every
        directed edge, or of every link if that is what the problem reports.
    epsilon
        Tolerated loss per round, over all edges; by default ``m L S / 100``, a hundredth of the largest
        possible reward. With 0, two allocations that tie are never told apart.
    delta
        Probability that the certificate is wrong, at most.
    target
        ``allocation`` for the best of all allocations, ``couple`` for the best two arms over the cut.
    cut
        V1 and V2 for target ``couple``; the best cut by default (:func:`gbb.cuts.best`).
    lam
        The ridge regulariser lambda, > 0.
    growth
        The number of rounds grows by this factor, > 1, from look to look.
    max_rounds
        Number of rounds after which to give up; the answer then holds the gap that was reached.
    seconds
        Time limit of each call of the solver, if allocations cannot be listed.
    seed
        Seed of the noise and of the arms drawn.

    Notes
    -----
    With probability 1 - delta, target ``couple`` is within epsilon of the best couple over the cut,
    hence of alpha_2 times the optimum (the paper's Theorem 4.1), in polynomial time. Target
    ``allocation`` is within epsilon of the optimum itself. If all allocations can be listed (K^n, or on
    complete graphs the numbers of agents on each arm: up to 100,000 of them, and at most 2e7 / K^2 and
    2e7 / d^2), the gap is exact for the confidence set. Otherwise it is an upper bound by
    :mod:`gbb.optimum`: valid whether or not the solver finishes, but larger by the triangle inequality
    and by the solver's own gap, below which it never falls. More rounds are then needed, and each look
    may take ``seconds``.

    The gap after t rounds falls as ``1 / sqrt(t)``, so that telling apart allocations whose rewards
    differ by g takes of the order of ``sigma^2 / (g + epsilon)^2`` rounds.
    """
    problem, draw = _check_system(env, play)
    largest = problem.m * problem.L * problem.S
    epsilon = checks.real("epsilon", largest / 100 if epsilon is None else epsilon, low=0.0)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    growth = checks.real("growth", growth, low=1.0, low_open=True)
    max_rounds = checks.integer("max_rounds", max_rounds, low=1)
    lam = check_lam(lam)
    seconds = checks.real("seconds", seconds, low=0.0, low_open=True)
    family = _list_targets(problem, checks.choice("target", target, TARGETS), cut)
    noise_rng, rng = map(np.random.default_rng, seeds.spawn(seed, 2))
    weights = g_optimal(problem.arms).weights
    record, rounds, look = empty(problem), 0, 0
    # The first look has as many rewards as unknowns: fewer tell little.
    next_look = problem.d * (problem.d + 1) / 2 / problem.observations
    while True:
        look += 1
        until = min(max(rounds + 1, math.ceil(next_look)), max_rounds)
        if isinstance(env, Environment) and env.additive:
            count = until - rounds
            run = Run(count, np.array([count]), Blocks(env, noise_rng), rng)
            record = record.merge(explore(env, weights, run)[1])
        else:
            for t in range(rounds + 1, until + 1):
                arms = draw_arms(weights, problem.n, rng)
                rewards = problem.rewards(draw(t, arms, noise_rng))
                record = record.merge(observe(problem, arms, rewards))
        rounds, next_look = until, growth * until
        confidence, last = Confidence(problem, record, lam), until == max_rounds
        if family is not None:
            leader, gap = gap_over_family(confidence, family, delta, look)
        else:
            enough = (
                math.inf if last else epsilon
            )  # the last gap is reported, so it is bounded in full
            leader, gap = gap_by_solver(confidence, delta, look, epsilon=enough, seconds=seconds)
        if gap <= epsilon or last:
            break
    # The interval spends the delta / 2 of the ellipsoid, which holds at all looks.
    value, width = confidence.ridge.total(leader)
    bias = lam * problem.S * confidence.ridge.inverse_norm(leader)
    error = confidence.ellipsoid(delta / 2) * width + bias
    return Identification(
        allocation=checks.frozen(leader),
        value=value,
        low=value - error,
        high=value + error,
        gap=gap,
        epsilon=epsilon,
        delta=delta,
        certified=gap <= epsilon,
        rounds=rounds,
        target=target,
        listed=family is not None,
        record=record,
    )


def _check_system(env: System | Problem, play: Play | None) -> tuple[Problem, Draw]:
    """Return the problem of the system, and the function that draws its rewards."""
    if isinstance(env, Problem):
        if play is None:
            raise checks.conflict("A gbb.Problem alone cannot be played; pass play=... with it.")
        problem, draw = env, lambda _t, arms, _rng: play(arms)
    elif isinstance(env, System):
        if play is not None:
            raise checks.conflict("`play` can only be combined with a gbb.Problem.")
        problem, draw = env.problem, env.draw
    else:
        raise checks.input_error("env", "be a gbb.Environment or a gbb.Problem", type(env).__name__)
    check_has_one_matrix(problem)
    return problem, draw


def _list_targets(
    problem: Problem, target: str, cut: Cut | None
) -> AllocationFamily | Tuples | None:
    """Return the allocations to choose among, or None if they cannot be listed."""
    if target == "couple":
        chosen = best(problem.graph) if cut is None else check_cut(problem.graph, cut)
        return Tuples(problem, chosen.sides.astype(np.int64), 2, problem.edge_weights)
    if cut is not None:
        raise checks.conflict("`cut` can only be combined with target='couple'.")
    return list_allocations(problem)


def gap_over_family(
    confidence: Confidence, family: AllocationFamily | Tuples, delta: float, look: int
) -> tuple[IntArray, float]:
    """Return the member with the best estimate, and the largest excess of any other."""
    values = family.combine(confidence.ridge.means)
    leader, radius = int(np.argmax(values)), _radius(confidence, len(values) - 1, delta, look)
    excess = confidence.excess(family.combine, leader, radius)
    return family.allocation(leader), float(excess.max())


def gap_by_solver(
    confidence: Confidence, delta: float, look: int, *, epsilon: float, seconds: float
) -> tuple[IntArray, float]:
    """Return the allocation with the best estimate, and a solver's bound on its gap to any other.

    By the triangle inequality the gap is at most the sum over edges of what each can gain on the pair of
    arms that it plays under the leader. That sum is a pair problem again, with an edge type for each
    such pair, so that the solver's upper bound on it bounds the gap, attained or not. If a short search
    already finds a gap larger than ``epsilon``, it is returned at once.
    """
    problem, K = confidence.problem, confidence.problem.K
    graph, allowed = problem.graph, np.ones((problem.n, K), dtype=np.bool_)
    means = confidence.ridge.means[0]
    types = np.zeros(graph.m, dtype=np.int32)
    estimate = PairProblem(graph, (means + means.T)[None], types, allowed)
    leader = solve(estimate, seconds=seconds / 4).allocation  # needs no proof
    edge_arms = leader[graph.sources] * K + leader[graph.indices]
    played, types = np.unique(edge_arms, return_inverse=True)
    pairs = K * (K + 1) // 2
    radius = _radius(confidence, pairs * (pairs - 1), delta, look)
    excess = [confidence.excess(by_edge_arm, int(edge_arm), radius) for edge_arm in played]
    tables = 2.0 * np.stack(excess).reshape(-1, K, K)  # both directions of an edge gain alike
    gains = PairProblem(graph, tables, types.astype(np.int32), allowed)
    search = ArmSearch(gains, np.array(leader))
    search.finish(np.random.default_rng(look), Budget(seconds))
    if search.value > epsilon:
        return leader, search.value
    return leader, solve(gains, seconds=seconds).upper_bound


def _radius(confidence: Confidence, count: int, delta: float, look: int) -> float:
    """Return the smaller of two radii, each of which fails with probability delta / 2 at most.

    The ellipsoid holds at all looks at once, so it may spend delta / 2. The union bound over ``count``
    differences between the best member and the others holds at one look: look k spends
    ``delta / (2 k (k + 1))``, which adds up to delta / 2 over all k.
    """
    share = delta / (2 * look * (look + 1))
    return min(confidence.ellipsoid(delta / 2), confidence.union(max(count, 1), share))
