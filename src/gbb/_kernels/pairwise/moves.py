"""Changes of one agent's arm at a time: what each would pay, ascent and annealing.

``pays[i, a]`` is what all edges of agent i pay when it plays arm a and the others stay.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

Allowed = NDArray[np.bool_]
Types = NDArray[np.int32]


class PairArrays(NamedTuple):
    """A pair problem as kernels read it.

    Edge k from i to j pays ``tables[types[k], x_i, x_j]``; the reverse edge's table is the transpose.
    """

    indptr: IntArray
    indices: NDArray[np.integer]
    types: Types
    tables: FloatArray
    allowed: Allowed


@kernel(allocates=True)
def arm_pays(pairs: PairArrays, arms: IntArray) -> FloatArray:
    """What the edges of each agent pay for each of its arms (n x K)."""
    indptr, indices, types, tables, _ = pairs
    n = indptr.shape[0] - 1
    K = tables.shape[1]
    turned = tables.transpose(0, 2, 1).copy()  # so that rows are read, which lie together
    pays = np.zeros((n, K))
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            row = turned[types[k], arms[indices[k]]]
            for a in range(K):
                pays[i, a] += row[a]
    return pays


@kernel(inline="always")
def change_arm(i: int, arm: int, pairs: PairArrays, arms: IntArray, pays: FloatArray) -> None:
    """Give agent i another arm and bring its neighbours' pays up to date."""
    indptr, indices, types, tables, _ = pairs
    old = arms[i]
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        t = types[k]
        for a in range(tables.shape[1]):
            pays[j, a] += tables[t, arm, a] - tables[t, old, a]
    arms[i] = arm


@kernel()
def ascend_arms(pairs: PairArrays, arms: IntArray, pays: FloatArray, sweeps: int) -> int:
    """Agents in turn take, in place, their best allowed arm; the changes of the last sweep.

    A change must gain more than rounding, so that the ascent ends.
    """
    allowed = pairs.allowed
    changes = 0
    for _ in range(sweeps):
        changes = 0
        for i in range(arms.shape[0]):
            now = arms[i]
            best = now
            floor = pays[i, now] + 1e-12 * (1.0 + abs(pays[i, now]))
            for a in range(pays.shape[1]):
                if allowed[i, a] and pays[i, a] > floor:
                    best = a
                    floor = pays[i, a]
            if best != now:
                change_arm(i, best, pairs, arms, pays)
                changes += 1
        if changes == 0:
            break
    return changes


@kernel()
def anneal_arms(
    pairs: PairArrays,
    arms: IntArray,
    pays: FloatArray,
    temperatures: FloatArray,
    rng: np.random.Generator,
) -> None:
    """One Metropolis sweep in place at each temperature, each agent offered another random arm."""
    allowed = pairs.allowed
    K = pays.shape[1]
    if K < 2:
        return
    for T in temperatures:
        floor = -16.0 * T
        for i in range(arms.shape[0]):
            now = arms[i]
            arm = int(rng.random() * (K - 1))
            arm += arm >= now
            if not allowed[i, arm]:
                continue
            gain = pays[i, arm] - pays[i, now]
            if gain >= 0 or (gain > floor and rng.random() < math.exp(gain / T)):
                change_arm(i, arm, pairs, arms, pays)
