"""The best of the greedy cut and random ones."""

import numpy as np

from gbb import Cut, Graph
from gbb.cuts import greedy

DRAWS = 32


def best_of_random(graph: Graph, *, seed: int | None = None) -> Cut:
    """Cut at least as many edges as the greedy cut, hence at least half."""
    rng = np.random.default_rng(seed)
    random = [Cut.of(graph, rng.integers(2, size=graph.n)) for _ in range(DRAWS)]
    return max([greedy(graph), *random], key=lambda cut: cut.m12)
