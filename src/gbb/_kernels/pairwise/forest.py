"""Joint changes of many agents: the best arms on an induced forest while the others stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._kernels.pairwise.moves import PairArrays, change_arm
from gbb._support.checks import FloatArray, IntArray


@kernel(allocates=True)
def induced_forest(
    indptr: IntArray, indices: NDArray[np.integer], order: IntArray
) -> tuple[IntArray, IntArray]:
    """A maximal set of agents that induces a forest, taken greedily in ``order``.

    Returns the parent edge of each agent (position k of the edge from the agent to its parent; -1 at
    roots, -2 outside the forest), and the agents of the forest, parents before children.
    """
    n = indptr.shape[0] - 1
    leader = np.full(n, -1, dtype=np.int64)
    touched = np.full(n, -1, dtype=np.int64)
    for i in order:
        fits = True
        for k in range(indptr[i], indptr[i + 1]):
            j = int(indices[k])
            if leader[j] < 0:
                continue
            while leader[j] != j:
                leader[j] = leader[leader[j]]
                j = leader[j]
            if touched[j] == i:
                fits = False
                break
            touched[j] = i
        if not fits:
            continue
        leader[i] = i
        for k in range(indptr[i], indptr[i + 1]):
            j = int(indices[k])
            if leader[j] < 0 or j == i:
                continue
            while leader[j] != j:
                j = leader[j]
            leader[j] = i
    parent = np.full(n, -2, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    tail = 0
    for root in range(n):
        if leader[root] != root:
            continue
        parent[root] = -1
        head = tail
        queue[tail] = root
        tail += 1
        while head < tail:
            i = queue[head]
            head += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if leader[j] >= 0 and parent[j] == -2:
                    # The edge from j back to i: neighbours are sorted, so search for i.
                    parent[j] = indptr[j] + np.searchsorted(indices[indptr[j] : indptr[j + 1]], i)
                    queue[tail] = j
                    tail += 1
    return parent, queue[:tail]


@kernel(allocates=True)
def ascend_forest(pairs: PairArrays, arms: IntArray, pays: FloatArray, order: IntArray) -> float:
    """Give an induced forest its best arms, in place, by dynamic programming; returns the gain."""
    indptr, indices, types, tables, allowed = pairs
    K = tables.shape[1]
    parent, queue = induced_forest(indptr, indices, order)
    size = queue.shape[0]
    own = np.empty((arms.shape[0], K))  # what an agent's subtree pays at best for each of its arms
    choice = np.empty((arms.shape[0], K), dtype=np.int64)
    for p in range(size):
        i = queue[p]
        for a in range(K):
            own[i, a] = pays[i, a] if allowed[i, a] else -np.inf
    for p in range(size):  # edges inside the forest are counted once, from child to parent
        i = queue[p]
        k = parent[i]
        if k >= 0:
            j = indices[k]
            for a in range(K):
                own[i, a] -= tables[types[k], a, arms[j]]
                own[j, a] -= tables[types[k], arms[i], a]
    for q in range(size):
        i = queue[size - 1 - q]
        k = parent[i]
        if k < 0:
            best = 0
            for a in range(1, K):
                if own[i, a] > own[i, best]:
                    best = a
            choice[i, 0] = best
            continue
        j = indices[k]
        for b in range(K):
            best = 0
            top = -np.inf
            for a in range(K):
                value = own[i, a] + tables[types[k], a, b]
                if value > top:
                    top = value
                    best = a
            own[j, b] += top
            choice[i, b] = best
    gain = 0.0
    for p in range(size):
        i = queue[p]
        k = parent[i]
        arm = choice[i, 0] if k < 0 else choice[i, arms[indices[k]]]
        if arm != arms[i]:
            gain += pays[i, arm] - pays[i, arms[i]]
            change_arm(i, arm, pairs, arms, pays)
    return gain
