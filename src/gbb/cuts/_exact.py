"""A maximum cut, proven."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels import cuts as kernels
from gbb._support import checks
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.graph import Graph
from gbb.pairwise import PairProblem
from gbb.pairwise.elimination import best_by_elimination

ALL, ALL_QUICKLY = 30, 20
"""Agents up to which all 2^(n-1) cuts are visited."""

TABLE, TABLE_QUICKLY = 2.0**25, 2.0**17
"""The largest table that elimination may form."""

AGENTS, AGENTS_QUICKLY = 100_000, 2_000
"""Agents up to which elimination is tried."""

CHUNK = 1 << 22


def exact(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """A cut with as many edges as any.

    Bipartite graphs are two-coloured, graphs of up to :data:`ALL` agents enumerated, and larger ones
    of small treewidth (lattices with a side of up to about 20, trees with some more edges) solved by
    variable elimination. Others are refused. Deterministic: ``seed`` is not used.
    """
    sides = exact_sides(graph)
    if sides is None:
        rule = f"have at most {ALL} agents or a small treewidth for an exact cut"
        raise checks.input_error("graph", rule, repr(graph), "Use gbb.cuts.best.")
    return Cut.of(graph, sides)


def largest_if_quick(graph: Graph) -> int | None:
    """Undirected edges of a maximum cut where that takes some 0.1 s at most, else None."""
    sides = exact_sides(graph, quick=True)
    return None if sides is None else Cut.of(graph, sides).m12


def exact_sides(graph: Graph, *, quick: bool = False) -> NDArray[np.int8] | None:
    """Sides of a maximum cut; None where that takes too long (``quick``: more than some 0.1 s)."""
    sides = graph.bipartition()
    if sides is not None:
        return sides
    if graph.n <= (ALL_QUICKLY if quick else ALL):
        return _enumerate(graph)
    if graph.n > (AGENTS_QUICKLY if quick else AGENTS):
        return None
    limit = TABLE_QUICKLY if quick else TABLE
    pairs = PairProblem.of_table(graph, 1.0 - np.eye(2))
    best = best_by_elimination(pairs, Budget(), limit=limit, work=64 * limit)
    return None if best is None else best.astype(np.int8)


def _enumerate(graph: Graph) -> NDArray[np.int8]:
    state = np.zeros(5, dtype=np.int64)
    while not kernels.gray.enumerate_cuts(graph.indptr, graph.indices, state, CHUNK):
        pass
    sides: NDArray[np.int8] = ((state[3] >> np.arange(graph.n)) & 1).astype(np.int8)
    return sides
