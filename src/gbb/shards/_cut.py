"""The paper's greedy cut, shard by shard: agents in order, given the parts of those before."""

from __future__ import annotations

import numpy as np

from gbb import _kernels
from gbb._support import checks
from gbb._support.checks import IntArray
from gbb.graph.build import index_type


def extend_cut(ends: IntArray, n: int, border: IntArray, k: int) -> IntArray:
    """The parts of ``n`` agents of a shard, each the first part with fewest of its neighbours so far.

    With two parts that is the paper's Approx-MAX-CUT (Algorithm 2), begun by the shards before.

    Parameters
    ----------
    ends
        The two ends of each link: own agents are 0..n-1, those of the border n, n + 1, ...
    border
        The parts of the agents of the border, which are given.
    """
    anchors = (
        k - 1
    )  # one for each part but the last: linked to those below, any agent is of its part
    given = np.concatenate([np.arange(anchors), border])
    first = len(given)
    source, target = np.concatenate([ends, ends[:, ::-1]]).T
    own = source < n
    source, target = source[own], target[own]
    target = np.where(target < n, target + first, target - n + anchors)
    order = np.argsort(source, kind="stable")
    below = np.arange(given.sum()) - np.repeat(np.cumsum(given) - given, given)
    degrees = np.concatenate([given, np.bincount(source, minlength=n)])
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    indices = np.concatenate([below, target[order]]).astype(index_type(len(degrees)))
    parts: IntArray = _kernels.cuts.greedy_parts(checks.frozen(indptr), checks.frozen(indices), k)
    return parts[first:]
