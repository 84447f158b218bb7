"""Links of which both directions were seen: what symmetric halves can be learnt from."""

from __future__ import annotations

import numpy as np

from gbb.controller.storage.bytes import Observed
from gbb.policies import AllocationPolicy, AnyPolicy, CouplePolicy
from gbb.problem import Problem


def needs_both_ways(policy: AnyPolicy) -> bool:
    """Whether ``policy`` learns in the symmetric block, or with its radius.

    There ``y_ij + y_ji`` counts, whose mean depends on the symmetric half of M* alone. One direction
    by itself also holds what M* does to the order of the two arms, which would pass for noise.
    Where links differ by direction, or with the ``complete`` radius, nothing is learnt by halves.
    """
    problem, radius = policy.problem, getattr(policy, "radius", None)
    if not problem.symmetric or radius == "complete":
        return False
    if isinstance(policy, AllocationPolicy) or radius == "symmetric":
        return True
    return not problem.is_paper_problem and isinstance(policy, CouplePolicy)


def both_ways(problem: Problem, observed: Observed) -> Observed:
    """Of the rewards of a round, those of links seen in both directions, which are alike.

    Rewards that are sums over edges have no directions, and are left as they are.
    """
    if problem.feedback != "edge" or (observed.positions is None and problem.symmetric):
        return observed
    all_edges = np.arange(problem.m)
    places = all_edges if observed.positions is None else observed.positions
    back = problem.graph.reverse[places]
    seen = np.zeros(problem.m, dtype=bool)
    seen[places] = True
    kept = seen[back]
    for each in (problem.edge_types, problem.edge_weights):
        kept = kept & (each[places] == each[back])
    return Observed(places[kept], observed.values[kept])
