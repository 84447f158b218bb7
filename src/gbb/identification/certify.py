"""How much more than the leading allocation any other can pay, at a stated confidence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.confidence import Confidence
from gbb.learning.families import AllocationFamily, by_edge_arm
from gbb.optimum import solve_pairs
from gbb.pairwise import ArmSearch, PairProblem


class Leader(NamedTuple):
    """The allocation with the best estimate, and the upper bound on what another has over it."""

    allocation: IntArray
    gap: float


def bound_family(seen: Confidence, family: AllocationFamily, delta: float, check: int) -> Leader:
    """The leader of a family, with the largest excess over it of any member.

    Either radius of :class:`gbb.learning.Confidence` misses with probability ``delta / 2`` at
    most: the ellipsoid over all checks, the union bound by spending ``delta / (2 check (check + 1))``
    on this one. It need only hold for the differences between the best member and the others.
    """
    leader = int(np.argmax(family.combine(seen.means)))
    radius = _radius(seen, family.size - 1, delta, check)
    excess = seen.excess(family.combine, leader, radius)
    return Leader(family.allocation(leader), float(excess.max()))


def bound_everything(
    seen: Confidence, delta: float, check: int, *, epsilon: float, seconds: float
) -> Leader:
    """The leader among all allocations, by the solvers of :mod:`gbb.optimum`.

    By the triangle inequality, the gap is at most the sum over the edges of what each can gain on the
    pair of arms that it has under the leader. That sum is a pair problem again, with an edge type for
    each pair of arms, and the solver's upper bound on it bounds the gap, attained or not. If a short
    search already finds more than ``epsilon``, what it found is returned.
    """
    problem, K = seen.problem, seen.problem.K
    graph, everything = problem.graph, np.ones((problem.n, problem.K), dtype=np.bool_)
    square = seen.means[0]
    types = np.zeros(graph.m, dtype=np.int32)
    plain = PairProblem(graph, (square + square.T)[None], types, everything)
    leader = solve_pairs(plain, seconds=seconds / 4).allocation  # which needs no proof
    codes = leader[graph.sources] * K + leader[graph.indices]
    kinds, types = np.unique(codes, return_inverse=True)
    pairs = K * (K + 1) // 2
    radius = _radius(seen, pairs * (pairs - 1), delta, check)
    tables = np.stack([_gains(seen, int(kind), radius) for kind in kinds])
    gains = PairProblem(graph, tables, types.astype(np.int32), everything)
    search = ArmSearch(gains, np.array(leader))
    search.finish(np.random.default_rng(check), Budget(seconds))
    if search.value > epsilon:
        return Leader(leader, search.value)
    return Leader(leader, solve_pairs(gains, seconds=seconds).upper_bound)


def _gains(seen: Confidence, kind: int, radius: float) -> FloatArray:
    """What both directions of an edge can gain at most on edge-arm ``kind``, for every pair of arms."""
    K = seen.problem.K
    return 2.0 * seen.excess(by_edge_arm, kind, radius).reshape(K, K)


def _radius(seen: Confidence, count: int, delta: float, check: int) -> float:
    spent = delta / (2 * check * (check + 1))
    return min(seen.ellipsoid(delta / 2), seen.union(max(count, 1), spent))


def bound_value(seen: Confidence, allocation: IntArray, delta: float) -> tuple[float, float]:
    """Estimated value of an allocation, and how far off it is at most with probability 1 - delta / 2."""
    graph, K = seen.problem.graph, seen.problem.K
    codes = allocation[graph.sources] * K + allocation[graph.indices]
    counts = np.bincount(codes, minlength=K * K).astype(np.float64)
    mean, white, shrunk = (
        counts @ by_edge_arm(table) for table in (seen.means, seen.whitened, seen.shrunk)
    )
    noise = seen.ellipsoid(delta / 2) * float(np.linalg.norm(white))
    bias = seen.lam * seen.problem.S * float(np.linalg.norm(shrunk))
    return float(mean), noise + bias
