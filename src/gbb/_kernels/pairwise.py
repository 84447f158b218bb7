"""Kernels of pair problems: single moves, moves on forests, enumeration, and a relaxation.

``values[i, a]`` is the value of all edges of agent i when it plays arm a and the others stay.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

ROUNDING = 1e-12
"""A move must gain more than this, relatively, so that an ascent ends."""


class PairArrays(NamedTuple):
    """A pair problem as kernels read it.

    Edge k from i to j is worth ``tables[types[k], x_i, x_j]``; the reverse edge's table is transposed.
    """

    indptr: IntArray
    indices: NDArray[np.integer]
    types: NDArray[np.int32]
    tables: FloatArray
    allowed: NDArray[np.bool_]


@kernel(allocates=True)
def arm_values(pairs: PairArrays, arms: IntArray) -> FloatArray:
    """Return the value of each agent's edges for each of its arms (n x K)."""
    indptr, indices, types, tables, _ = pairs
    n, K = indptr.shape[0] - 1, tables.shape[1]
    columns = np.empty(tables.shape)  # the tables transposed: what is summed lies together
    for t in range(tables.shape[0]):
        for a in range(K):
            for b in range(K):
                columns[t, b, a] = tables[t, a, b]
    values = np.zeros((n, K))
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            t, b = types[k], arms[indices[k]]
            for a in range(K):
                values[i, a] += columns[t, b, a]
    return values


@kernel(inline="always")
def change_arm(i: int, arm: int, pairs: PairArrays, arms: IntArray, values: FloatArray) -> None:
    """Give agent i another arm and update its neighbours' values."""
    indptr, indices, types, tables, _ = pairs
    old = arms[i]
    for k in range(indptr[i], indptr[i + 1]):
        j, t = indices[k], types[k]
        for a in range(tables.shape[1]):
            values[j, a] += tables[t, arm, a] - tables[t, old, a]
    arms[i] = arm


@kernel()
def ascend_arms(pairs: PairArrays, arms: IntArray, values: FloatArray, sweeps: int) -> int:
    """Let agents in turn take their best allowed arm, in place; return the moves of the last sweep."""
    allowed = pairs.allowed
    moves = 0
    for _ in range(sweeps):
        moves = 0
        for i in range(arms.shape[0]):
            best = old = arms[i]
            floor = values[i, old] + ROUNDING * (1.0 + abs(values[i, old]))
            for a in range(values.shape[1]):
                if allowed[i, a] and values[i, a] > floor:
                    best, floor = a, values[i, a]
            if best != old:
                change_arm(i, best, pairs, arms, values)
                moves += 1
        if moves == 0:
            break
    return moves


@kernel()
def anneal_arms(
    pairs: PairArrays,
    arms: IntArray,
    values: FloatArray,
    temperatures: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Make a Metropolis sweep in place at each temperature, each agent offered another random arm."""
    allowed = pairs.allowed
    K = values.shape[1]
    if K < 2:
        return
    for T in temperatures:
        floor = -16.0 * T  # below it the odds are under 1e-6, not worth a draw
        for i in range(arms.shape[0]):
            old = arms[i]
            arm = int(rng.random() * (K - 1))
            arm += arm >= old
            if not allowed[i, arm]:
                continue
            gain = values[i, arm] - values[i, old]
            if gain >= 0 or (gain > floor and rng.random() < math.exp(gain / T)):
                change_arm(i, arm, pairs, arms, values)


@kernel(forceinline=True)
def find_root(leader: IntArray, j: int) -> int:
    """Return the root of j's tree in a union-find forest, whose paths are halved on the way."""
    while leader[j] != j:
        leader[j] = leader[leader[j]]
        j = leader[j]
    return j


@kernel(allocates=True)
def induced_forest(
    indptr: IntArray, indices: NDArray[np.integer], order: IntArray
) -> tuple[IntArray, IntArray]:
    """Return a maximal set of agents that induces a forest, taken greedily in ``order``.

    Returns the parent edge of each agent (position k of the edge from the agent to its parent; -1 at
    roots, -2 outside the forest), and the agents of the forest, parents before children.
    """
    n = indptr.shape[0] - 1
    leader, touched = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    parent, queue = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        leader[i], touched[i], parent[i] = -1, -1, -2
    for i in order:
        fits = True  # unless two of its neighbours are in one tree
        for k in range(indptr[i], indptr[i + 1]):
            if leader[indices[k]] < 0:
                continue
            j = find_root(leader, int(indices[k]))
            if touched[j] == i:
                fits = False
                break
            touched[j] = i
        if not fits:
            continue
        leader[i] = i
        for k in range(indptr[i], indptr[i + 1]):
            if leader[indices[k]] >= 0:
                leader[find_root(leader, int(indices[k]))] = i
    tail = 0
    for root in range(n):
        if leader[root] != root:
            continue
        parent[root], queue[tail], head = -1, root, tail
        tail += 1
        while head < tail:
            i = queue[head]
            head += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if leader[j] >= 0 and parent[j] == -2:
                    low, high = indptr[j], indptr[j + 1]  # neighbours are sorted: search for i
                    while low < high:
                        middle = (low + high) // 2
                        if indices[middle] < i:
                            low = middle + 1
                        else:
                            high = middle
                    parent[j], queue[tail] = low, j
                    tail += 1
    return parent, queue[:tail]


@kernel(allocates=True)
def ascend_forest(pairs: PairArrays, arms: IntArray, values: FloatArray, order: IntArray) -> float:
    """Give an induced forest its best arms, in place, by dynamic programming; return the gain."""
    indptr, indices, types, tables, allowed = pairs
    K = tables.shape[1]
    parent, queue = induced_forest(indptr, indices, order)
    size = queue.shape[0]
    subtree = np.empty((arms.shape[0], K))  # its best value for each arm of its root
    choice = np.empty((arms.shape[0], K), dtype=np.int64)
    for p in range(size):
        i = queue[p]
        for a in range(K):
            subtree[i, a] = values[i, a] if allowed[i, a] else -np.inf
    for p in range(size):  # edges inside the forest are counted once, from child to parent
        i = queue[p]
        k = parent[i]
        if k >= 0:
            j = indices[k]
            for a in range(K):
                subtree[i, a] -= tables[types[k], a, arms[j]]
                subtree[j, a] -= tables[types[k], arms[i], a]
    for q in range(size):
        i = queue[size - 1 - q]
        k = parent[i]
        if k < 0:
            best = 0
            for a in range(1, K):
                if subtree[i, a] > subtree[i, best]:
                    best = a
            choice[i, 0] = best
            continue
        j = indices[k]
        for b in range(K):
            best, top = 0, -np.inf
            for a in range(K):
                value = subtree[i, a] + tables[types[k], a, b]
                if value > top:
                    best, top = a, value
            subtree[j, b] += top
            choice[i, b] = best
    gain = 0.0
    for p in range(size):
        i = queue[p]
        k = parent[i]
        arm = choice[i, 0] if k < 0 else choice[i, arms[indices[k]]]
        if arm != arms[i]:
            gain += values[i, arm] - values[i, arms[i]]
            change_arm(i, arm, pairs, arms, values)
    return gain


@kernel(allocates=True)
def enumerate_arms(pairs: PairArrays) -> IntArray:
    """Return the best of all allowed allocations, the last agents turning fastest.

    The value of every prefix is kept, so that a change of the last agents recounts their edges only.
    """
    indptr, indices, types, tables, allowed = pairs
    n, K = indptr.shape[0] - 1, tables.shape[1]
    arms, best = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    prefix = np.zeros(n + 1)
    for i in range(n):
        arms[i] = -1
    best_value = -np.inf
    i = 0
    while i >= 0:
        arms[i] += 1
        while arms[i] < K and not allowed[i, arms[i]]:
            arms[i] += 1
        if arms[i] == K:
            arms[i] = -1
            i -= 1
            continue
        value = prefix[i]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j < i:
                value += tables[types[k], arms[i], arms[j]]
        prefix[i + 1] = value
        if i < n - 1:
            i += 1
        elif value > best_value:
            best_value = value
            for j in range(n):
                best[j] = arms[j]
    return best


@kernel(allocates=True)
def enumerate_counts(n: int, W: FloatArray) -> IntArray:
    """Return how many agents of a complete graph play each arm at the best, over all compositions of n.

    The value of counts c is ``sum_a W_aa c_a (c_a - 1) / 2 + sum_{a<b} W_ab c_a c_b``.
    """
    K = W.shape[0]
    counts, best = np.zeros(K, dtype=np.int64), np.zeros(K, dtype=np.int64)
    left, prefix = np.zeros(K + 1, dtype=np.int64), np.zeros(K + 1)
    left[0] = n
    best_value = -np.inf
    a = 0
    while True:
        while a < K:
            if a == K - 1:
                counts[a] = left[a]
            c = counts[a]
            value = float(prefix[a] + W[a, a] * (c * (c - 1) / 2.0))
            if c > 0:
                for b in range(a):
                    value += W[a, b] * (c * counts[b])
            prefix[a + 1] = value
            left[a + 1] = left[a] - c
            a += 1
        if prefix[K] > best_value:
            best_value = float(prefix[K])
            for b in range(K):
                best[b] = counts[b]
        a = K - 2
        while a >= 0 and counts[a] == left[a]:
            counts[a] = 0
            a -= 1
        if a < 0:
            return best
        counts[a] += 1


@kernel(fastmath=True)
def augmented_lagrangian(
    pairs: PairArrays,
    V: FloatArray,
    E: FloatArray,
    N: FloatArray,
    sigma: float,
    gradient: FloatArray,
    step: bool,
) -> float:
    """Return the value of the augmented Lagrangian of the low-rank semidefinite relaxation.

    Agent i's arm a has a vector ``V[i, a]``, and an edge is worth ``sum W[a, b] V[i, a].V[j, b]``. The
    arms of one agent shall be orthogonal (multipliers ``E``), and products along edges at least 0
    (multipliers ``N``, kept at the edges from a smaller to a larger agent). The value is to be maximised
    over V; its gradient is written. With ``step`` the multipliers then make one step of the method of
    multipliers, in place.
    """
    indptr, indices, types, tables, _ = pairs
    n, K, rank = V.shape
    value = 0.0
    for i in range(n):
        for a in range(K):
            for q in range(rank):
                gradient[i, a, q] = 0.0
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j < i:
                continue
            for a in range(K):
                for b in range(K):
                    product = 0.0
                    for q in range(rank):
                        product += V[i, a, q] * V[j, b, q]
                    worth = tables[types[k], a, b]
                    force = max(0.0, N[k, a, b] - sigma * product)
                    value += worth * product - (force**2 - N[k, a, b] ** 2) / (2.0 * sigma)
                    pull = worth + force
                    if step:
                        N[k, a, b] = force
                    for q in range(rank):
                        gradient[i, a, q] += pull * V[j, b, q]
                        gradient[j, b, q] += pull * V[i, a, q]
        for a in range(K):
            for b in range(a):
                product = 0.0
                for q in range(rank):
                    product += V[i, a, q] * V[i, b, q]
                value -= E[i, a, b] * product + 0.5 * sigma * product**2
                push = E[i, a, b] + sigma * product
                if step:
                    E[i, a, b] = E[i, b, a] = push
                for q in range(rank):
                    gradient[i, a, q] -= push * V[i, b, q]
                    gradient[i, b, q] -= push * V[i, a, q]
    return value
