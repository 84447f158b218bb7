"""Links of which both directions were seen: what a symmetric half can be learnt from."""

from __future__ import annotations

import numpy as np

from gbb.controller._bytes import Observed
from gbb.graph import Graph
from gbb.policies import AllocationPolicy, AnyPolicy


def needs_both_ways(policy: AnyPolicy) -> bool:
    """Whether ``policy`` learns in the symmetric block, or with its radius.

    There ``y_ij + y_ji`` counts, whose mean depends on the symmetric half of M* alone. One direction
    by itself also holds what M* does to the order of the two arms, which would pass for noise.
    """
    return isinstance(policy, AllocationPolicy) or getattr(policy, "radius", None) == "symmetric"


def both_ways(graph: Graph, observed: Observed) -> Observed:
    """Of the rewards of a round, those of links that were seen in both directions."""
    if observed.edges is None:
        return observed
    seen = np.zeros(graph.m, dtype=bool)
    seen[observed.edges] = True
    kept = seen[graph.reverse[observed.edges]]
    return Observed(observed.edges[kept], observed.values[kept])
