"""Parts of a network too large for one process, and the links that its shards have between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import IntArray
from gbb.graph._graph import Graph


@dataclass(frozen=True, eq=False)
class Parts:
    """What the agents and edges of a small graph stand for in a large network.

    Every agent of the small graph stands for a part, all agents of which play the same arm; several may
    stand for one part. Every directed edge stands for as many links as ``counts`` says.

    Attributes
    ----------
    of
        The part of each agent of the small graph, 0..k-1; agent p stands for part p.
    counts
        How many directed edges of each shard each edge stands for (shards x m), as many both ways.
    """

    of: IntArray
    counts: IntArray

    @property
    def k(self) -> int:
        """Number of parts."""
        return int(self.of.max()) + 1

    @property
    def shards(self) -> int:
        """Number of shards."""
        return len(self.counts)

    @property
    def total(self) -> IntArray:
        """How many directed edges each edge stands for, over all shards."""
        total: IntArray = self.counts.sum(axis=0)
        return total


def check_parts(graph: Graph, given: Parts | None) -> Parts | None:
    """Parts that fit ``graph``."""
    if given is None:
        return None
    if not isinstance(given, Parts):
        raise checks.input_error("parts", "be the parts of a gbb.Network", type(given).__name__)
    of = checks.indices("parts", given.of, length=graph.n, high=graph.n, meaning="one per agent")
    k = int(of.max()) + 1
    if not np.array_equal(of[:k], np.arange(k)):
        raise checks.input_error("parts", "start with one agent of each part in turn", of.tolist())
    counts = _check_counts(graph, given.counts)
    return Parts(of, counts)


def _check_counts(graph: Graph, given: ArrayLike) -> IntArray:
    """The counts of every shard: whole numbers, as many one way as the other."""
    counts = np.array(given)
    if counts.ndim != 2 or counts.shape[1] != graph.m or counts.dtype.kind not in "iu":
        rule = f"have whole numbers of links for each shard and edge (shards x {graph.m})"
        raise checks.input_error("parts", rule, f"{counts.dtype} of shape {counts.shape}")
    counts = counts.astype(np.int64)
    if (counts < 0).any() or not (counts.sum(axis=0) > 0).all():
        raise checks.input_error("parts", "have at least one link for each edge", "less")
    if not np.array_equal(counts, counts[:, graph.reverse]):
        raise checks.input_error("parts", "have as many links one way as the other", "others")
    return checks.frozen(counts)
