"""Coordinate ascent from good starts, for when nothing can be proven."""

from __future__ import annotations

import numpy as np

from gbb import _checks
from gbb._checks import FloatArray
from gbb._kernels.allocations import ascend
from gbb.cuts import greedy
from gbb.optimum._optimum import Optimum, pair_table, value_of
from gbb.problem import Problem

RESTARTS = 8
"""Random starts beside the homogeneous one and the couples over the greedy cut."""


def local_search(problem: Problem, M: FloatArray) -> Optimum | None:
    """The best of several coordinate ascents, with the bound ``m max W / 2``.

    Starts: the best single arm everywhere, the best couple over the greedy cut (which secures
    alpha_2 of the optimum), and random allocations from a fixed seed.
    """
    W = pair_table(problem, M)
    graph, K = problem.graph, problem.K
    cut = greedy(graph)
    own = np.diag(W)
    over_cut = cut.m12 * W + (cut.m1 * own[:, None] + cut.m2 * own[None, :]) / 2
    couple = divmod(int(np.argmax(over_cut)), K)
    rng = np.random.default_rng(0)
    starts = [np.full(problem.n, np.argmax(own)), cut.allocation(couple)]
    starts += [rng.integers(K, size=problem.n) for _ in range(RESTARTS)]
    ends = [ascend(graph.indptr, graph.indices, W, start) for start in starts]
    values = [value_of(problem, W, end) for end in ends]
    best = int(np.argmax(values))
    bound = max(problem.m / 2 * float(W.max()), values[best])
    proven = values[best] >= bound - 1e-12 * abs(bound)
    return Optimum(_checks.frozen(ends[best]), values[best], bound, proven, "local_search")
