"""Couples over a cut in the engine: a plan, a tally, and the form of arithmetic that suits the arms.

A couple plays at most four edge-arms a round, so a round needs only the sums of the noise over
the edges from V1 to V2, from V2 to V1, inside V1 and inside V2. Decisions depend on the symmetric block
alone, whose regressors are the pairs ``q_s = (z_ab + z_ba) / 2``, a <= b.
"""

from __future__ import annotations

import numpy as np

from gbb._kernels.rounds.features import play_features
from gbb._kernels.rounds.orthogonal import play_orthogonal
from gbb._kernels.rounds.pairs import play_pairs
from gbb._kernels.rounds.rounds import Plan, Tally
from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.environment import Environment
from gbb.learning.coordinates import coordinates, symmetric_edge_arms
from gbb.learning.record import Record
from gbb.policies import IndexPolicy
from gbb.problem import Problem
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.engine.request import PlayBlock, Request

FORMS = ("orthogonal", "pairs", "features")


def plays_couples(policy: IndexPolicy) -> bool:
    """Whether this loop plays ``policy``: couples by optimism, on the paper's problem.

    Unequal weights of z_ab and z_ba would make decisions depend on more than the symmetric block.
    """
    deterministic = policy.v == policy.explore == policy.starts == 0
    couples = policy.parts.k == 2 and policy.weights[0] == policy.weights[1]
    known = policy.radius not in (None, "complete") and not policy.shrinking
    return deterministic and couples and known and policy.problem.is_paper_problem


def run_couples(
    env: Environment, policy: IndexPolicy, asked: Request, form: str | None = None
) -> Trace:
    """All rounds of couples over a cut, in O(1) of the number of edges unless every edge's noise is."""
    problem, cut, blocks = env.problem, policy.cut, asked.blocks
    plan = _plan(env, policy)
    tally = _tally(problem, len(asked.recorded))
    play = _player(problem, plan, tally, form or best_form(problem))
    counts = np.array(cut.weights, dtype=np.int64)

    def noise(size: int) -> FloatArray:
        edges = blocks.edge_noise
        return class_sums(cut, blocks.report(size)) if edges else blocks.sums(counts, size)

    asked.play(policy.radii, noise, play)
    couple = couples_of(tally.couple, problem.K, 2)
    return Trace(
        reward=plan.payoff[tally.couple],
        cumulative=tally.cumulative,
        couple=couple,
        allocation=couple[:, cut.sides] if asked.keep_allocations else None,
        record=Record(tally.N, tally.Y),
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


def _plan(env: Environment, policy: IndexPolicy) -> Plan:
    R, cut = env.reward_table, policy.cut
    payoff = cut.couple_values(R)
    w12, _, w1, w2 = policy.weights
    known = {name: policy.constants[name] for name in Plan._fields if name in policy.constants}
    return Plan(
        w=float(w12),
        w1=float(w1),
        w2=float(w2),
        m12=cut.m12,
        m1=cut.m1,
        m2=cut.m2,
        R=np.array(R),
        couples=np.stack(np.divmod(np.arange(payoff.size), len(R)), axis=1),
        payoff=payoff.ravel(),
        **known,
    )


def _tally(problem: Problem, size: int) -> Tally:
    K = problem.K
    return Tally(
        N=np.zeros((K, K), dtype=np.int64),
        Y=np.zeros((K, K)),
        pair=np.array(coordinates(problem, symmetric=True).index),
        scalars=np.zeros(2),
        kept=np.zeros(1, dtype=np.int64),
        mean=np.zeros(K * K),
        width2=np.zeros(K * K),
        couple=np.zeros(size, dtype=np.int64),
        cumulative=np.zeros(size),
    )


def _player(problem: Problem, plan: Plan, tally: Tally, form: str) -> PlayBlock:
    """The round loop of ``form`` with everything but the rounds filled in."""
    if form == "orthogonal":
        size2 = np.sum(problem.arms**2, axis=1)
        norm2 = np.outer(size2, size2) * (1.0 + np.eye(problem.K)) / 2.0
        with np.errstate(divide="ignore"):
            prior = plan.lam / norm2
        return lambda *rest: play_orthogonal(plan, tally, prior, *rest)
    i, j = np.triu_indices(problem.K)
    features = symmetric_edge_arms(problem.arms)[i * problem.K + j]
    if form == "pairs":
        return lambda *rest: play_pairs(plan, tally, features, *rest)
    arms = np.array(problem.arms)
    return lambda *rest: play_features(plan, tally, features, arms, *rest)
