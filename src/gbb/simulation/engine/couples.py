"""Couples over a cut, one run at a time: many arms in few dimensions; and what all couples share.

A couple plays at most four edge-arms a round, so a round needs only the sums of the noise over
the edges from V1 to V2, from V2 to V1, inside V1 and inside V2. Decisions depend on the symmetric block
alone, whose regressors are the pairs ``q_s = (z_ab + z_ba) / 2``, a <= b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gbb._kernels.rounds.features import play_features
from gbb._kernels.rounds.rounds import Plan, Tally
from gbb._support.checks import FloatArray, IntArray
from gbb.contexts import Regimes
from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.learning.coordinates import coordinates, symmetric_edge_arms
from gbb.learning.record import AnyRecord, Record
from gbb.policies._compiled import CompiledPolicy
from gbb.problem import Problem
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.engine.noise import Blocks
from gbb.simulation.engine.request import PlayBlock, Request

CELLS = 1 << 23
"""The most numbers that what is kept of all regimes may hold, about."""


def plays_couples(policy: CompiledPolicy) -> bool:
    """Whether this loop plays ``policy``: couples by optimism, on the paper's problem or in regimes."""
    known = policy.radius != "complete" and not policy.shrinking and not policy.problem.unknown
    return known and are_couples(policy) and _is_of_papers(policy.problem)


def are_couples(policy: CompiledPolicy) -> bool:
    """Whether a policy plays couples as they are, by optimism.

    Unequal weights of z_ab and z_ba would make decisions depend on more than the symmetric block.
    """
    deterministic = policy.v == policy.epsilon == policy.starts == 0
    couples = policy.cut.k == 2 and policy.weights[0] == policy.weights[1]
    return deterministic and couples and policy.radius is not None


def _is_of_papers(problem: Problem) -> bool:
    """Whether every round is the paper's problem, and what is kept of all regimes is not too large."""
    if not isinstance(problem.contexts, Regimes):
        return problem.is_paper_problem
    small = problem.types * problem.K**2 * problem.d**2 <= CELLS
    alike = problem.at_row(np.zeros(1)).uniform and not problem.weighted
    return small and alike and problem.feedback == "edge"


def run_couples(env: Environment, policy: CompiledPolicy, asked: Request) -> Trace:
    """All rounds of couples over a cut, in O(1) of the number of edges unless every edge's noise is."""
    problem = env.problem
    plan = new_plan(env, policy, asked.rounds)
    tally = new_tally(problem, len(asked.recorded))
    play = player(problem, plan, tally)
    noise = noise_of(policy.cut, asked.blocks)
    asked.play(lambda rounds: radii_of(policy, plan.regime, rounds), noise, play)
    paid = plan.payoff[plan.regime[asked.recorded - 1], tally.couple]
    return trace_of(policy, tally, paid, Record(tally.N, tally.Y), asked)


def noise_of(cut: Cut, blocks: Blocks) -> Callable[[int], FloatArray]:
    """Draws the noise of so many rounds, summed over the edges 12, 21, 11 and 22."""
    counts = np.array(cut.weights, dtype=np.int64)
    if blocks.edge_noise:
        return lambda rounds: class_sums(cut, blocks.report(rounds))
    return lambda rounds: blocks.sums(counts, rounds)


def trace_of(
    policy: CompiledPolicy, tally: Tally, paid: FloatArray, record: AnyRecord, asked: Request
) -> Trace:
    """What is left of a run, whose recorded rounds are worth ``paid``."""
    couple = couples_of(tally.couple, policy.problem.K, 2)
    return Trace(
        reward=paid,
        cumulative=tally.cumulative,
        couple=couple,
        allocation=couple[:, policy.cut.sides] if asked.keep_allocations else None,
        record=record,
    )


def best_form(problem: Problem) -> str:
    """The cheapest form for these arms: by orthogonality, then by arithmetic per round."""
    if problem.orthogonal:
        return "orthogonal"
    K, d = problem.K, problem.d
    pairs, size = K * (K + 1) // 2, d * (d + 1) // 2
    by_pairs = 3 * pairs**2 + 8 * K**2
    by_features = 6 * size**2 + 2 * K * d**2 + 3 * K * size**2 / 2  # some three arms evaluated
    return "pairs" if by_pairs <= by_features else "features"


def class_sums(cut: Cut, noise: FloatArray) -> FloatArray:
    """Sum the unit noise of every edge over the classes 12, 21, 11 and 22 (rounds x 4)."""
    graph = cut.graph
    source, target = cut.sides[graph.sources], cut.sides[graph.indices]
    which = np.array([[2, 0], [1, 3]])[source, target]
    sums: FloatArray = noise @ np.eye(4)[which]
    return sums


def radii_of(policy: CompiledPolicy, regime: IntArray, rounds: FloatArray) -> FloatArray:
    """The radius after each number of rounds; with contexts, that of the next round's policy."""
    if policy.problem.contexts is None:
        return policy.radii(rounds)
    radii, next_one = np.zeros_like(rounds), regime[rounds.astype(np.int64)]
    for each in np.flatnonzero(np.bincount(next_one)):
        here = next_one == each
        radii[here] = policy.at_row(np.array([float(each)])).radii(rounds[here])
    return radii


def regime_of(env: Environment, rounds: int) -> IntArray:
    """The regime of each of so many rounds; all in one where there are no contexts."""
    numbers = np.zeros(rounds) if env.rows is None else env.rows[:rounds, 0]
    return numbers.astype(np.int64)


def constants_of(env: Environment, policy: CompiledPolicy) -> dict[str, Any]:
    """Those of the policy, the same in every round."""
    return (policy if env.rows is None else policy.at_row(env.rows[0])).constants


def new_plan(env: Environment, policy: CompiledPolicy, rounds: int = 0) -> Plan:
    """The constants of a run."""
    R, cut = np.array(env.reward_tables), policy.cut
    payoff = np.stack([cut.couple_values(each).ravel() for each in R])
    w12, _, w1, w2 = policy.weights
    constants = constants_of(env, policy)
    known = {name: constants[name] for name in Plan._fields if name in constants}
    return Plan(
        w=float(w12),
        w1=float(w1),
        w2=float(w2),
        m12=cut.m12,
        m1=cut.m1,
        m2=cut.m2,
        R=R,
        regime=regime_of(env, rounds),
        couples=np.stack(np.divmod(np.arange(payoff.shape[1]), R.shape[1]), axis=1),
        payoff=payoff,
        **known,
    )


def new_tally(problem: Problem, size: int) -> Tally:
    """What a run carries along, with room for so many recorded rounds."""
    G, K = problem.types, problem.K
    return Tally(
        N=np.zeros((G, K, K), dtype=np.int64),
        Y=np.zeros((G, K, K)),
        pair=np.array(coordinates(problem, symmetric=True).index),
        total=np.zeros(1),
        kept=np.zeros(1, dtype=np.int64),
        log_det=np.zeros(G),
        mean=np.zeros((G, K * K)),
        width2=np.zeros((G, K * K)),
        couple=np.zeros(size, dtype=np.int64),
        cumulative=np.zeros(size),
    )


def player(problem: Problem, plan: Plan, tally: Tally) -> PlayBlock:
    """The round loop with everything but the rounds filled in."""
    i, j = np.triu_indices(problem.K)
    features, arms = symmetric_edge_arms(problem.arms)[i * problem.K + j], np.array(problem.arms)
    return lambda *rest: play_features(plan, tally, features, arms, *rest)
