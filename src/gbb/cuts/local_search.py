"""The paper's cut improved until no single agent gains by changing sides."""

from __future__ import annotations

import numpy as np

from gbb._kernels.cuts.cut import greedy_sides
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.cuts._flips import Flips
from gbb.graph import Graph


def local_search(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Start from the paper's greedy cut and flip agents while that cuts more edges.

    Deterministic: ``seed`` is accepted for the protocol and not used.
    """
    flips = Flips(graph, np.array(greedy_sides(graph.indptr, graph.indices)))
    flips.descend()
    return flips.cut()
