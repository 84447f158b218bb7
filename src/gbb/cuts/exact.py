"""A maximum cut, proven."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb import _kernels
from gbb._support import checks
from gbb._support.budget import Budget
from gbb._support.seeds import Seed
from gbb.cuts.cut import Cut
from gbb.cuts.greedy import FEW
from gbb.graph import Graph
from gbb.pairwise import PairProblem
from gbb.pairwise.elimination import best_by_elimination

ALL = 30
"""Agents up to which all 2^(n-1) cuts are visited, in numpy up to :data:`~gbb.cuts.greedy.FEW`."""

TABLE, TABLE_QUICKLY = 2.0**25, 2.0**17
"""The largest table that elimination may form."""

AGENTS, AGENTS_QUICKLY = 100_000, 2_000
"""Agents up to which elimination is tried."""

CHUNK = 1 << 22
"""Cuts visited by one compiled call, between which Ctrl-C arrives."""


def exact(graph: Graph, *, seed: Seed = None) -> Cut:  # noqa: ARG001
    """Cut as many edges as any cut does.

    Bipartite graphs are two-coloured, graphs of up to :data:`ALL` agents enumerated, and larger ones
    of small treewidth (lattices with a side of up to about 20, trees with some more edges) solved by
    variable elimination. Others are refused. Deterministic: ``seed`` is accepted for the protocol and
    not used.
    """
    sides = exact_sides(graph)
    if sides is None:
        rule = f"have at most {ALL} agents or a small treewidth for an exact cut"
        raise checks.input_error("graph", rule, repr(graph), "Use gbb.cuts.best.")
    return Cut.of(graph, sides)


def exact_sides(graph: Graph, *, quick: bool = False) -> NDArray[np.int8] | None:
    """Return the sides of a maximum cut; None if it takes too long (``quick``: some 0.1 s)."""
    if graph.n <= FEW:
        return _enumerate_few(graph)
    sides = graph.bipartition()
    if sides is not None:
        return sides
    if graph.n <= ALL and not quick:
        return _enumerate(graph)
    if graph.n > (AGENTS_QUICKLY if quick else AGENTS):
        return None
    limit = TABLE_QUICKLY if quick else TABLE
    pairs = PairProblem.of_table(graph, 1.0 - np.eye(2))
    best = best_by_elimination(pairs, Budget(), limit=limit, work=64 * limit)
    return None if best is None else best.astype(np.int8)


def _enumerate_few(graph: Graph) -> NDArray[np.int8]:
    """Return the first maximum cut; in a bipartite graph each component's first agent is on side 0."""
    codes = np.arange(2 ** (graph.n - 1), dtype=np.int32)  # agent 0, the leading bit, is on side 0
    sides = [(codes >> (graph.n - 1 - i) & 1).astype(np.int8) for i in range(graph.n)]
    size = np.zeros(len(codes), dtype=np.uint8)  # a cut of 20 agents has at most 100 edges
    for i, j in zip(graph.sources.tolist(), graph.indices.tolist(), strict=True):
        if i < j:
            size += (sides[i] ^ sides[j]).view(np.uint8)
    largest = int(size.argmax())
    return np.array([side[largest] for side in sides], dtype=np.int8)


def _enumerate(graph: Graph) -> NDArray[np.int8]:
    state = np.zeros(5, dtype=np.int64)
    while not _kernels.cuts.enumerate_cuts(graph.indptr, graph.indices, state, CHUNK):
        pass
    sides: NDArray[np.int8] = ((state[3] >> np.arange(graph.n)) & 1).astype(np.int8)
    return sides
