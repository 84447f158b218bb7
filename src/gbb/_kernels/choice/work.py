"""What a choice of an allocation keeps at hand: estimates by pair of arms, and room to search in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._kernels._jit import compiled
from gbb._support.checks import FloatArray, IntArray

HUGE = 1e100
MEAN, VAR, DEVIATION, SHARE, MU, COUNT = range(6)
"""Layers of ``Work.pairs``."""


class Work(NamedTuple):
    """Room for one choice after another.

    Kernels inside a round take these arrays one by one: unpacking a tuple of arrays counts references,
    which costs more than a small search does.

    Attributes
    ----------
    pairs
        K x K tables, symmetric. For orthogonal pairs of arms: the estimate (MEAN), its variance (VAR),
        the root of that (DEVIATION), and the precision over lam (SHARE). For any: the values that the
        allocation is chosen for (MU), and how many directed edges play the pair (COUNT).
    values
        Of the tuples of arms over the parts.
    degrees
        How many neighbours each agent has in each part (n x k).
    around
        By agent and arm (n x K): twice the neighbours that play it, or what it pays.
    spare
        By arm (2 x K): the arms around an agent, and the last agent that had no reason to move.
    chosen
        The arms of a tuple (k).
    ends
        The ends of the searches (starts x n).
    """

    pairs: FloatArray
    values: FloatArray
    degrees: FloatArray
    around: FloatArray
    spare: IntArray
    chosen: IntArray
    ends: IntArray


@compiled()
def make_work(
    indptr: IntArray, indices: IntArray, parts: IntArray, k: int, K: int, starts: int
) -> Work:
    """Room for choices on a graph whose agents stand in k ``parts``."""
    size = parts.size if starts > 0 else 0
    degrees = np.zeros((size, k))
    for i in range(size):
        for e in range(indptr[i], indptr[i + 1]):
            degrees[i, parts[indices[e]]] += 1.0
    return Work(
        np.zeros((6, K, K)),
        np.empty(K**k),
        degrees,
        np.zeros((size, K)),
        np.zeros((2, K), dtype=np.int64),
        np.zeros(k, dtype=np.int64),
        np.zeros((starts, size), dtype=np.int64),
    )


@compiled()
def refresh_pair(
    pairs: FloatArray, N: FloatArray, Y: FloatArray, a: int, b: int, norm2: float, lam: float
) -> None:
    """Estimate and variance of an orthogonal pair from the record, whatever other pairs did.

    For ``q = (z_ab + z_ba) / 2``: ``var = |q|^2 / (lam + |q|^2 N_q)`` and ``mean = var Y_q``.
    """
    weight, total = N[a, b], Y[a, b]
    if a != b:
        weight += N[b, a]
        total += Y[b, a]
    precision = lam + norm2 * weight
    var = norm2 / precision
    pairs[VAR, a, b] = pairs[VAR, b, a] = var
    pairs[MEAN, a, b] = pairs[MEAN, b, a] = var * total
    pairs[DEVIATION, a, b] = pairs[DEVIATION, b, a] = np.sqrt(var)
    pairs[SHARE, a, b] = pairs[SHARE, b, a] = precision / lam


@compiled()
def log_det(pairs: FloatArray) -> float:
    """``log det(A_sym / lam)`` over orthogonal pairs: few logarithms, of products."""
    result, product = 0.0, 1.0
    for a in range(pairs.shape[1]):
        for b in range(a, pairs.shape[1]):
            share = pairs[SHARE, a, b]
            if share > HUGE:
                result += np.log(share)
                continue
            product *= share
            if product > HUGE:
                result += np.log(product)
                product = 1.0
    return float(result + np.log(product))


@compiled()
def smallest_share(pairs: FloatArray) -> float:
    """The smallest eigenvalue of ``A_sym / lam`` on the span of orthogonal pairs."""
    smallest = np.inf
    for a in range(pairs.shape[1]):
        for b in range(a, pairs.shape[1]):
            if pairs[VAR, a, b] > 0.0:
                smallest = min(smallest, pairs[SHARE, a, b])
    return float(smallest)


@compiled()
def known(ends: IntArray, found: int) -> bool:
    """Whether end number ``found`` is one of those before it."""
    for e in range(found):
        same = True
        for i in range(ends.shape[1]):
            if ends[found, i] != ends[e, i]:
                same = False
                break
        if same:
            return True
    return False
