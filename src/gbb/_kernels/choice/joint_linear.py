"""Local search when an allocation's value is the sum of what its edges pay: no optimism.

So it is for posterior draws and plain estimates, whatever the arms: ``mu`` holds what a pair of arms
pays, and ``pays[i, a]`` what the edges out of agent i pay when it plays arm a and the others stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels._jit import compiled
from gbb._kernels.choice.search import GAIN, SWEEPS
from gbb._kernels.choice.work import known
from gbb._support.checks import FloatArray, IntArray


@compiled()
def pays_of(
    degrees: FloatArray, pairs: FloatArray, layer: int, chosen: IntArray, pays: FloatArray
) -> None:
    """Pays when part q plays ``chosen[q]``, in O(n k K)."""
    for i in range(pays.shape[0]):
        for a in range(pays.shape[1]):
            pays[i, a] = degrees[i, 0] * pairs[layer, chosen[0], a]
        for q in range(1, chosen.size):
            for a in range(pays.shape[1]):
                pays[i, a] += degrees[i, q] * pairs[layer, chosen[q], a]


@compiled()
def ascend_linear(
    indptr: IntArray,
    indices: NDArray[np.integer],
    pairs: FloatArray,
    layer: int,
    pays: FloatArray,
    ends: IntArray,
    found: int,
) -> float:
    """Agents in turn take their best arm until none gains; returns the value reached.

    Starts from ``ends[found]``, whose pays are given, and changes both. A visit costs O(K), a move
    O(degree K). Minus infinity where no agent moves, or where it joins an end of an earlier search:
    nothing better comes of either.
    """
    n, K = pays.shape
    total = 0.0
    for i in range(n):
        total += pays[i, ends[found, i]]
    value = -np.inf
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            now = ends[found, i]
            best, top = now, pays[i, now]
            for a in range(K):
                if pays[i, a] > top:
                    best, top = a, pays[i, a]
            if best == now:
                continue
            gain = 2.0 * (top - pays[i, now])
            if gain <= GAIN * abs(total):
                continue
            total += gain
            moved = True
            ends[found, i] = best
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                for a in range(K):
                    pays[j, a] += pairs[layer, best, a] - pairs[layer, now, a]
        if not moved:
            break
        if known(ends, found):
            value = -np.inf
            break
        total = 0.0
        for i in range(n):
            total += pays[i, ends[found, i]]
        value = total
    return value
