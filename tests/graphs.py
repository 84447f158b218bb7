"""Random small graphs for property tests."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from gbb import Graph


@st.composite
def small_graphs(draw: st.DrawFn, low: int = 2, high: int = 9) -> Graph:
    """A graph with at least one edge, any of them as likely to be drawn."""
    n = draw(st.integers(low, high))
    pairs = list(itertools.combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return Graph.from_edges(np.array(chosen), n=n, undirected=True)


def largest_cut(graph: Graph) -> int:
    """Undirected edges in a maximum cut, by looking at every cut."""
    codes = np.arange(2 ** (graph.n - 1))
    sides = (codes[:, None] >> np.arange(graph.n)) & 1
    across = sides[:, graph.sources] != sides[:, graph.indices]
    return int(across.sum(axis=1).max()) // 2
