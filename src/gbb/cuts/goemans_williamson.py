"""Goemans and Williamson's cut, from a low-rank semidefinite relaxation."""

from __future__ import annotations

from gbb._support.seeds import Seed
from gbb.cuts._cut import Cut
from gbb.cuts._low_rank import rounded_cut
from gbb.graph import Graph


def goemans_williamson(graph: Graph, *, seed: Seed = None, seconds: float | None = None) -> Cut:
    """Cut by random hyperplanes through unit vectors that keep neighbours apart, then descent.

    The semidefinite relaxation is solved in its low-rank form by the mixing method;
    :func:`gbb.cuts.upper_bound` turns it into an upper bound on every cut.

    Parameters
    ----------
    graph
        The graph to cut.
    seed
        Where the randomness comes from.
    seconds
        A time limit for the relaxation; without it the same seed gives the same cut.

    References
    ----------
    M. Goemans and D. Williamson, J. ACM 42 (1995); P.-W. Wang, W.-C. Chang and J. Z. Kolter, The
    mixing method, arXiv:1706.00476.
    """
    return rounded_cut(graph, seed=seed, seconds=seconds)
