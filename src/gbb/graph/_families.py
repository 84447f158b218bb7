"""Edges of the named families, each undirected edge once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import IntArray, input_error, suggest
from gbb._support.memory import check_memory
from gbb._support.seeds import Seed, generator

BYTES = 100
"""What building a graph takes for each undirected edge, about."""


def complete(n: int) -> IntArray:
    """Every pair of agents."""
    n = checks.integer("n", n, low=1)
    _check_memory(n, n * (n - 1) // 2)
    return unrank(np.arange(n * (n - 1) // 2, dtype=np.int64))


def circle(n: int) -> IntArray:
    """Agent i and agent i + 1, the last one and the first."""
    n = checks.integer("n", n, low=3, cure="The smallest circle has 3 agents.")
    agents = np.arange(n, dtype=np.int64)
    return np.column_stack((agents, np.roll(agents, -1)))


def star(n: int) -> IntArray:
    """Agent 0, the centre, and every other agent."""
    n = checks.integer("n", n, low=1)
    leaves = np.arange(1, n, dtype=np.int64)
    return np.column_stack((np.zeros_like(leaves), leaves))


def matching(n: int) -> IntArray:
    """Agents 0 and 1, 2 and 3, and so on."""
    n = checks.integer("n", n, low=2)
    if n % 2:
        raise input_error("n", "be even, because a matching pairs the agents", n)
    return np.arange(n, dtype=np.int64).reshape(-1, 2)


def path(n: int) -> IntArray:
    """Agent i and agent i + 1."""
    n = checks.integer("n", n, low=1)
    agents = np.arange(n, dtype=np.int64)
    return np.column_stack((agents[:-1], agents[1:]))


def random(n: int, p: float = 0.6, seed: Seed = None) -> IntArray:
    """Each pair of agents independently with probability ``p``.

    The number of edges is binomial and, given it, the set of edges uniform: the work grows with
    the edges drawn, not with the pairs.
    """
    n = checks.integer("n", n, low=1, high=2**31)
    p = checks.real("p", p, low=0.0, high=1.0)
    rng = generator(seed)
    pairs = n * (n - 1) // 2
    count = int(rng.binomial(pairs, p))
    if not count:
        return np.empty((0, 2), dtype=np.int64)
    _check_memory(n, count)
    return unrank(rng.choice(pairs, size=count, replace=False, shuffle=False))


def regular(n: int, degree: int, seed: Seed = None) -> IntArray:
    """A random graph in which every agent has ``degree`` neighbours."""
    n = checks.integer("n", n, low=1)
    degree = checks.integer("degree", degree, low=0, high=n - 1, cure="It must be below n.")
    if n * degree % 2:
        raise input_error("degree", f"make n * degree even (n = {n})", degree)
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


def grid(n: int, rows: int | None = None, cols: int | None = None) -> IntArray:
    """Agents of a lattice, row by row, and their right and lower neighbours.

    It is square unless ``rows`` or ``cols`` says otherwise.
    """
    n = checks.integer("n", n, low=1)
    if rows is None and cols is None:
        rows = cols = math.isqrt(n)
    elif rows is None:
        cols = checks.integer("cols", cols, low=1)
        rows = n // cols
    else:
        rows = checks.integer("rows", rows, low=1)
        cols = n // rows if cols is None else checks.integer("cols", cols, low=1)
    if rows * cols != n:
        cure = "Pass rows and cols, or a perfect square."
        raise input_error(
            "n", "be rows * cols of the grid", f"{n} (rows = {rows}, cols = {cols})", cure
        )
    agents = np.arange(n, dtype=np.int64).reshape(rows, cols)
    across = np.column_stack((agents[:, :-1].ravel(), agents[:, 1:].ravel()))
    down = np.column_stack((agents[:-1].ravel(), agents[1:].ravel()))
    return np.concatenate((across, down))


FAMILIES: dict[str, Callable[..., IntArray]] = {
    "complete": complete,
    "random": random,
    "circle": circle,
    "star": star,
    "matching": matching,
    "path": path,
    "grid": grid,
    "regular": regular,
}


def family(name: str, n: int, options: dict[str, Any]) -> IntArray:
    """Edges of the family called ``name``; families without randomness ignore ``seed``."""
    build = FAMILIES[checks.choice("name", name, FAMILIES)]
    known = inspect.signature(build).parameters
    used = {key: value for key, value in options.items() if key in known or key != "seed"}
    for key in used:
        if key not in known or key == "n":
            rule = f"be options of the family {name!r}: {', '.join(list(known)[1:]) or 'none'}"
            raise input_error("options", rule, repr(key), suggest(key, list(known)[1:]))
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in ("n", *used):
            raise input_error(
                key, f"be given for the family {name!r}", "nothing", f"Pass {key}=..."
            )
    if isinstance(n, int):
        _check_memory(n, n)  # the least that any family has
    return build(n, **used)


def _check_memory(n: int, edges: int) -> None:
    """Refuse a graph that cannot be built here, before any of it is made."""
    check_memory("n", n, BYTES * edges, f"a graph of {edges:,} edges")
