"""``identify``: play by a design until the best allocation is certain enough."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np

from gbb._support import checks, seeds
from gbb._support.seeds import Seed
from gbb.cuts import Cut, check_cut, greedy
from gbb.environment import Environment, System
from gbb.identification import certify
from gbb.identification.answer import Identification
from gbb.identification.explore import Outside, Play, simulate_rounds
from gbb.learning.confidence import Confidence
from gbb.learning.families import AllocationFamily, list_allocations, list_couples
from gbb.learning.record import empty
from gbb.policies import ExploreThenCommit
from gbb.problem import Problem, check_lam
from gbb.simulation import play as play_rounds

TARGETS = ("allocation", "couple")


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

    Every agent draws its arm from the G-optimal design over arms, which makes the edge-arms G-optimal
    too (Rizk et al. 2021). Now and then the allocation with the best estimate is compared with all
    others: it is certified when none can pay more than ``epsilon`` above it for any matrix that the
    rewards leave possible.

    Parameters
    ----------
    env
        What to play in: a :class:`gbb.Environment` or another system, or the problem alone together
        with ``play``.
    play
        Plays an allocation and returns the reward of every directed edge, or of every link where that is
        what ``env`` reports, for systems of your own.
    epsilon
        How much less than the best the answer may pay a round, over all edges; ``m L S / 100``, a
        hundredth of the most they can pay, when left out. With 0 two that tie are never told apart.
    delta
        The probability that the certificate is wrong, at most.
    target
        ``allocation`` for the best of all allocations, ``couple`` for the best two arms over the cut.
    cut
        The parts V1 and V2 of target ``couple``; by the greedy cut when left out.
    lam
        The ridge regulariser lambda, > 0.
    growth
        Looks are taken each time the rounds have grown by this factor, > 1.
    max_rounds
        Give up after so many rounds; the answer then says what gap was reached.
    seconds
        Time limit of the solver, for each problem it is given, where allocations cannot be listed.
    seed
        Where the randomness comes from.

    Notes
    -----
    What is proven, with probability 1 - delta: target ``couple`` is within epsilon of the best couple
    over the cut, hence of alpha_2 times the optimum (the paper's Theorem 4.1), in polynomial time.
    Target ``allocation`` is within epsilon of the optimum itself. Where all allocations can be listed
    (K^n, or on complete graphs the numbers of agents on each arm: up to 100,000 of them, and at most
    2e7 / K^2 and 2e7 / d^2) the gap is exact for the confidence set. Elsewhere it is an upper bound by
    :mod:`gbb.optimum`: right whether or not the solver ends, but larger by the triangle inequality and
    by the solver's own gap, below which it never falls; more rounds are then needed, and each look may
    take ``seconds``.

    The gap after t rounds falls as ``1 / sqrt(t)``, so that telling allocations apart whose rewards
    differ by g takes rounds in proportion to ``sigma^2 / (g + epsilon)^2``.
    """
    system = _check_system(env, play)
    problem = system.problem
    max_rounds = checks.integer("max_rounds", max_rounds, low=1)
    explorer = ExploreThenCommit(problem, cut=greedy(problem.graph), exploration=max_rounds)
    most = problem.m * problem.L * problem.S
    epsilon = checks.real("epsilon", most / 100 if epsilon is None else epsilon, low=0.0)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    growth = checks.real("growth", growth, low=1.0, low_open=True)
    lam = check_lam(lam)
    seconds = checks.real("seconds", seconds, low=0.0, low_open=True)
    family = _choose_family(problem, checks.choice("target", target, TARGETS), cut)
    children = seeds.spawn(seed, 2)
    noise_rng, rng = map(np.random.default_rng, children)
    playing = play_rounds(system, explorer, max_rounds, (noise_rng, rng))
    record, rounds, check = empty(problem), 0, 0
    while True:
        check += 1
        due = math.ceil(growth * rounds) if rounds else _first_look(problem)
        due = min(max(rounds + 1, math.ceil(due)), max_rounds)
        if isinstance(system, Environment) and system.additive:
            weights = explorer.design.weights
            record = record.merge(simulate_rounds(system, weights, due - rounds, noise_rng, rng))
        else:
            *_, last_round = islice(playing, due - rounds)
            record = last_round.state.record
        rounds = due
        seen, last = Confidence(problem, record, lam), rounds == max_rounds
        if family is not None:
            leader = certify.bound_family(seen, family, delta, check)
        else:
            enough = math.inf if last else epsilon
            leader = certify.bound_everything(seen, delta, check, epsilon=enough, seconds=seconds)
        if leader.gap <= epsilon or last:
            break
    value, error = certify.bound_value(seen, leader.allocation, delta)
    return Identification(
        allocation=checks.frozen(leader.allocation),
        value=value,
        low=value - error,
        high=value + error,
        gap=leader.gap,
        epsilon=epsilon,
        delta=delta,
        certified=leader.gap <= epsilon,
        rounds=rounds,
        target=target,
        listed=family is not None,
        record=record,
    )


def _first_look(problem: Problem) -> float:
    """After how many rounds there are as many rewards as unknowns; fewer tell little."""
    return problem.d * (problem.d + 1) / 2 / problem.observations


def _check_system(env: System | Problem, play: Play | None) -> System:
    """What is played: ``env``, or ``play`` as a system."""
    if not isinstance(env, System | Problem):
        raise checks.input_error("env", "be a gbb.Environment or a gbb.Problem", type(env).__name__)
    if isinstance(env, Problem) and play is not None:
        return Outside(env, play)
    if isinstance(env, Problem):
        raise checks.conflict("A gbb.Problem alone cannot be played; pass play=... with it.")
    if play is not None:
        raise checks.conflict("`play` can only be combined with a gbb.Problem.")
    return env


def _choose_family(problem: Problem, target: str, cut: Cut | None) -> AllocationFamily | None:
    """The allocations to choose among, if they can be listed."""
    if target == "couple":
        chosen = greedy(problem.graph) if cut is None else check_cut(problem.graph, cut)
        return list_couples(chosen, problem.K)
    if cut is not None:
        raise checks.conflict("`cut` can only be combined with target='couple'.")
    return list_allocations(problem)
