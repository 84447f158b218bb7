"""Kernels of cuts: greedy, induced stars, enumeration, annealing, and the mixing method.

Graphs are in CSR form: the neighbours of agent i are ``indices[indptr[i]:indptr[i + 1]]``, in order.
Every undirected edge stands in it twice.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

Indices = NDArray[np.integer]
Sides = NDArray[np.int8]
Gains = NDArray[np.int32]
Vectors = NDArray[np.float32]


@kernel(allocates=True)
def greedy_sides(indptr: IntArray, indices: Indices) -> Sides:
    """Return the side (0 for V1, 1 for V2) of each agent by the paper's Approx-MAX-CUT, in O(n + m)."""
    n = indptr.shape[0] - 1
    sides = np.empty(n, dtype=np.int8)
    for i in range(n):
        n1 = n2 = 0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] < i:  # later agents have no side yet
                n1 += sides[indices[k]] == 0
                n2 += sides[indices[k]] == 1
        sides[i] = 1 if n1 > n2 else 0
    return sides


@kernel(allocates=True)
def greedy_parts(indptr: IntArray, indices: Indices, k: int) -> IntArray:
    """Return the part (0..k-1) of each agent, in order: the first with fewest of its neighbours."""
    n = indptr.shape[0] - 1
    parts, near = np.empty(n, dtype=np.int64), np.empty(k, dtype=np.int64)
    for i in range(n):
        for part in range(k):
            near[part] = 0
        for p in range(indptr[i], indptr[i + 1]):
            if indices[p] < i:
                near[parts[indices[p]]] += 1
        best = 0
        for part in range(1, k):
            if near[part] < near[best]:
                best = part
        parts[i] = best
    return parts


@kernel(allocates=True)
def star_centres(indptr: IntArray, indices: Indices) -> Indices:
    """Return the centre of the star that each agent belongs to (a centre's is itself).

    Depth-first search finishes an agent after its children. An agent whose star is still open when
    its parent finishes becomes a leaf of the parent's star. Edges of the graph join agents with
    their ancestors only, so the leaves of one parent are not linked: the stars are induced. At most
    one star of a component is a lone agent, its root.
    """
    n = indptr.shape[0] - 1
    centre, parent = np.empty(n, dtype=indices.dtype), np.empty(n, dtype=indices.dtype)
    seen, has_leaf = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    place = np.zeros(n, dtype=np.int64)  # how many neighbours an agent has looked at
    for root in range(n):
        if seen[root]:
            continue
        seen[root], parent[root], i = True, -1, root
        while i >= 0:
            down = -1
            while indptr[i] + place[i] < indptr[i + 1]:
                j = indices[indptr[i] + place[i]]
                place[i] += 1
                if not seen[j]:
                    down = j
                    break
            if down >= 0:
                seen[down], parent[down], i = True, i, down
                continue
            up = parent[i]
            if has_leaf[i] or up < 0:
                centre[i] = i
            else:
                centre[i] = up
                has_leaf[up] = True
            i = up
    return centre


@kernel(allocates=True)
def place_stars(
    indptr: IntArray, indices: Indices, order: IntArray, ends: IntArray, centre: Indices
) -> Sides:
    """Return sides by placing star after star, the way round that cuts more edges to those placed.

    Star s is ``order[ends[s - 1]:ends[s]]``; its leaves are opposite its centre.
    """
    n = indptr.shape[0] - 1
    sides = np.empty(n, dtype=np.int8)
    for i in range(n):
        sides[i] = -1
    first = 0
    for last in ends:
        balance = 0  # edges cut minus edges not cut when the centre is on side 0
        for p in range(first, last):
            i = order[p]
            side = 0 if centre[i] == i else 1
            for k in range(indptr[i], indptr[i + 1]):
                other = sides[indices[k]]
                if other >= 0:
                    balance += 1 if other != side else -1
        flip = 1 if balance < 0 else 0
        for p in range(first, last):
            i = order[p]
            sides[i] = flip if centre[i] == i else 1 - flip
        first = last
    return sides


@kernel(allocates=True)
def enumerate_cuts(indptr: IntArray, indices: Indices, state: IntArray, steps: int) -> bool:
    """Visit up to ``steps`` more cuts in Gray-code order, one flip apart; return whether all were.

    The last agent stays on side 0, which loses nothing. ``state`` holds the number of cuts
    visited, the current cut's sides as bits and its size, and the best one's sides and size; it
    starts as zeros and is updated in place.
    """
    n = indptr.shape[0] - 1
    adjacency = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            adjacency[i] |= np.int64(1) << np.int64(indices[k])
    visited, sides, size, best_sides, best_size = state
    last = np.int64(1) << np.int64(n - 1)
    stop = min(last, visited + steps)
    for code in range(visited + 1, stop):
        i = 0
        while (code >> i) & 1 == 0:
            i += 1
        bits = adjacency[i]
        other = bits & sides if (sides >> i) & 1 else bits & ~sides
        same = 0
        while other:
            other &= other - 1
            same += 1
        size += 2 * same - (indptr[i + 1] - indptr[i])
        sides ^= np.int64(1) << np.int64(i)
        if size > best_size:
            best_size, best_sides = size, sides
    state[0], state[1], state[2], state[3], state[4] = stop - 1, sides, size, best_sides, best_size
    return bool(stop >= last)


@kernel(allocates=True)
def flip_gains(indptr: IntArray, indices: Indices, sides: Sides) -> Gains:
    """Return how many more undirected edges are cut once an agent has changed sides, for each."""
    n = indptr.shape[0] - 1
    gains = np.empty(n, dtype=np.int32)
    for i in range(n):
        gain = 0
        for k in range(indptr[i], indptr[i + 1]):
            gain += 1 if sides[indices[k]] == sides[i] else -1
        gains[i] = gain
    return gains


@kernel(inline="always")
def flip(i: int, indptr: IntArray, indices: Indices, sides: Sides, gains: Gains) -> None:
    """Move agent i across and update the gains."""
    side = sides[i]
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        gains[j] += -2 if sides[j] == side else 2
    sides[i] = 1 - side
    gains[i] = -gains[i]


@kernel()
def ascend_sides(
    indptr: IntArray, indices: Indices, sides: Sides, gains: Gains, sweeps: int
) -> int:
    """Flip, in place, every agent whose flip gains, for at most ``sweeps`` sweeps.

    Returns the number of flips of the last sweep: 0 at a local optimum, where at least half of
    every agent's edges are cut.
    """
    flips = 0
    for _ in range(sweeps):
        flips = 0
        for i in range(gains.shape[0]):
            if gains[i] > 0:
                flip(i, indptr, indices, sides, gains)
                flips += 1
        if flips == 0:
            break
    return flips


@kernel()
def anneal_sides(
    indptr: IntArray,
    indices: Indices,
    sides: Sides,
    gains: Gains,
    temperatures: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Make a Metropolis sweep in place at each temperature: a loss g is taken with odds exp(g / T)."""
    for T in temperatures:
        floor = -16.0 * T  # below it the odds are under 1e-6, not worth a draw
        for i in range(gains.shape[0]):
            gain = gains[i]
            if gain >= 0 or (gain > floor and rng.random() < math.exp(gain / T)):
                flip(i, indptr, indices, sides, gains)


@kernel(allocates=True, fastmath=True)
def mix(indptr: IntArray, indices: Indices, V: Vectors, first: int, last: int) -> float:
    """Turn the unit vector of each agent in first..last-1 away from the sum of its neighbours'.

    This is block coordinate descent on the low-rank Max-Cut relaxation (Wang, Chang and Kolter,
    arXiv:1706.00476). Returns by how much the sum over edges of the products fell.
    """
    rank = V.shape[1]
    total = np.empty(rank, dtype=np.float32)
    fall = 0.0
    for i in range(first, last):
        for q in range(rank):
            total[q] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for q in range(rank):
                total[q] += V[j, q]
        square = product = 0.0
        for q in range(rank):
            square += total[q] ** 2
            product += total[q] * V[i, q]
        norm = np.sqrt(square)
        if norm > 0.0:
            fall += norm + product
            for q in range(rank):
                V[i, q] = -total[q] / norm
    return fall


@kernel(allocates=True)
def dual_multipliers(indptr: IntArray, indices: Indices, V: Vectors) -> FloatArray:
    """Return the length of the sum of each agent's neighbours' vectors: its multiplier in the dual."""
    n = indptr.shape[0] - 1
    lengths, total = np.empty(n), np.empty(V.shape[1])
    for i in range(n):
        for q in range(V.shape[1]):
            total[q] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            for q in range(V.shape[1]):
                total[q] += V[indices[k], q]
        square = np.float32(0.0)
        for q in range(V.shape[1]):
            square += total[q] * total[q]
        lengths[i] = np.sqrt(square)
    return lengths
