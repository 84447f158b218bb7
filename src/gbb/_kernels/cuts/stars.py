"""The Edwards-Erdos cut: a graph taken apart into induced stars, which are placed one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import IntArray


@kernel(allocates=True)
def star_centres(indptr: IntArray, indices: NDArray[np.integer]) -> NDArray[np.integer]:
    """Centre of the star that each agent belongs to (a centre's is itself).

    Depth-first search finishes an agent after its children. An agent whose star is still open when
    its parent finishes becomes a leaf of the parent's star. Edges of the graph join agents with
    their ancestors only, so the leaves of one parent are not linked: the stars are induced. At most
    one star of a component is a lone agent, its root.
    """
    n = indptr.shape[0] - 1
    centre = np.full(n, -1, dtype=indices.dtype)
    parent = np.full(n, -1, dtype=indices.dtype)
    seen = np.zeros(n, dtype=np.bool_)
    has_leaf = np.zeros(n, dtype=np.bool_)
    place = indptr[:-1].copy()
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        i = root
        while i >= 0:
            down = -1
            while place[i] < indptr[i + 1]:
                j = indices[place[i]]
                place[i] += 1
                if not seen[j]:
                    down = j
                    break
            if down >= 0:
                seen[down] = True
                parent[down] = i
                i = down
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
    indptr: IntArray,
    indices: NDArray[np.integer],
    order: IntArray,
    ends: IntArray,
    centre: NDArray[np.integer],
) -> NDArray[np.int8]:
    """Sides by placing star after star, each the way round that cuts more edges to those placed.

    Star s is ``order[ends[s - 1]:ends[s]]``; its leaves are opposite its centre.
    """
    n = indptr.shape[0] - 1
    sides = np.full(n, -1, dtype=np.int8)
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
