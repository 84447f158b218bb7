"""Named families of graphs: edges by number of agents, each undirected edge once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import IntArray, input_error
from gbb._support.seeds import Seed, generator

BYTES_PER_EDGE = 100
"""Peak memory of building a graph, by undirected edges."""


def complete(n: int) -> IntArray:
    """Every pair of agents."""
    checks.require_memory("n", BYTES_PER_EDGE * (n * (n - 1) // 2))
    return unrank(np.arange(n * (n - 1) // 2, dtype=np.int64))


def random(n: int, p: float = 0.6, seed: Seed = None) -> IntArray:
    """Each pair of agents independently with probability ``p``."""
    n = checks.integer("n", n, low=1, high=2**31)
    p = checks.real("p", p, low=0.0, high=1.0)
    rng = generator(seed)
    pairs = n * (n - 1) // 2
    # The number of edges is binomial and, given it, the set of edges uniform: work and memory grow
    # with the edges that are drawn, not with the pairs.
    count = int(rng.binomial(pairs, p))
    if not count:
        return np.empty((0, 2), dtype=np.int64)
    checks.require_memory("n", BYTES_PER_EDGE * count)
    return unrank(rng.choice(pairs, size=count, replace=False, shuffle=False))


def circle(n: int) -> IntArray:
    """Agent i and agent i + 1, the last one and the first."""
    n = checks.integer("n", n, low=3, cure="The smallest circle has 3 agents.")
    agents = np.arange(n, dtype=np.int64)
    return np.column_stack((agents, np.roll(agents, -1)))


def star(n: int) -> IntArray:
    """Agent 0, the centre, and every other agent."""
    leaves = np.arange(1, n, dtype=np.int64)
    return np.column_stack((np.zeros_like(leaves), leaves))


def matching(n: int) -> IntArray:
    """Agents 0 and 1, 2 and 3, and so on."""
    if n % 2:
        raise input_error("n", "be even, because a matching pairs the agents", n)
    return np.arange(n, dtype=np.int64).reshape(-1, 2)


def path(n: int) -> IntArray:
    """Agent i and agent i + 1."""
    return grid(n, rows=1)


def grid(n: int, rows: int | None = None) -> IntArray:
    """Agents of a lattice, row by row, and their right and lower neighbours; square by default."""
    cols = math.isqrt(n) if rows is None else n // checks.integer("rows", rows, low=1)
    rows = cols if rows is None else rows
    if rows * cols != n:
        got = f"{n} (rows = {rows}, cols = {cols})"
        raise input_error("n", "be rows * cols", got, "Pass rows, or a perfect square.")
    agents = np.arange(n, dtype=np.int64).reshape(rows, cols)
    across = np.column_stack((agents[:, :-1].ravel(), agents[:, 1:].ravel()))
    down = np.column_stack((agents[:-1].ravel(), agents[1:].ravel()))
    return np.concatenate((across, down))


def regular(n: int, degree: int | None = None, seed: Seed = None) -> IntArray:
    """A random graph in which every agent has ``degree`` neighbours."""
    degree = checks.integer("degree", degree, low=0, high=n - 1, cure="It must be below n.")
    if n * degree % 2:
        raise input_error("degree", f"make n * degree even (n = {n})", degree)
    checks.require_memory("n", BYTES_PER_EDGE * (n * degree // 2))
    import networkx as nx  # noqa: PLC0415

    drawn = nx.random_regular_graph(degree, n, seed=int(generator(seed).integers(2**32)))
    return np.array(drawn.edges(), dtype=np.int64).reshape(-1, 2)


def unrank(ranks: ArrayLike) -> IntArray:
    """The pair (i, j) with i < j and ``j (j - 1) / 2 + i = rank < 2^61``, exactly."""
    r = np.asarray(ranks, dtype=np.int64)
    # The float root is off by at most one at this size; whole numbers settle it.
    j = ((1.0 + np.sqrt(1.0 + 8.0 * r)) / 2.0).astype(np.int64)
    j -= j * (j - 1) // 2 > r
    j += j * (j + 1) // 2 <= r
    return np.column_stack((r - j * (j - 1) // 2, j))


FAMILIES: dict[str, Callable[..., IntArray]] = {
    build.__name__: build
    for build in (complete, random, circle, star, matching, path, grid, regular)
}
"""The edges of each family, by its name, as a function of ``n`` and its options."""
