"""Sums over the edges of a cut when each of its parts plays one arm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import IntArray

Kind = tuple[int, int, int, float]
"""Edges of a type that run from one group of agents to another, and their number or weight."""


def sum_over_edges(table: NDArray[Any], arms: IntArray, kinds: Iterable[Kind]) -> NDArray[Any]:
    """``sum of weight * table[type, arm of the first group, arm of the second]`` over kinds of edges.

    For the couples (a, b) over a cut this is ``m12 z_ab + m21 z_ba + m1 z_aa + m2 z_bb``, with whatever
    ``table`` holds in the place of z.

    Parameters
    ----------
    table
        What an edge of each type adds, by its two arms (types x K x K, and any further axes).
    arms
        The arm of each group, a row for each tuple of arms (tuples x groups).
    kinds
        The edges by type and by the groups of their ends.
    """
    total = np.zeros((len(arms), *table.shape[3:]))
    for kind, first, second, weight in kinds:
        total += weight * table[kind, arms[:, first], arms[:, second]]
    return total


def tuples_of(K: int, k: int, codes: IntArray | None = None) -> IntArray:
    """The k arms of each tuple number, the first part's the leading digit; all K^k when left out."""
    numbers = np.arange(K**k) if codes is None else codes
    return np.stack([numbers // K ** (k - 1 - p) % K for p in range(k)], axis=1)
