"""Hypothesis strategies: graphs, arms, matrices, and the problems made of them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gbb


def tenths(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers with one decimal: ties, zeros and duplicates come up often."""
    return st.integers(round(low * 10), round(high * 10)).map(lambda k: k / 10)


@st.composite
def graphs(draw: st.DrawFn, *, min_n: int = 2, max_n: int = 6) -> gbb.Graph:
    """Any graph with at least one edge: sparse or dense, connected or not, with isolated agents."""
    n = draw(st.integers(min_n, max_n))
    pairs = list(itertools.combinations(range(n), 2))
    kept = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=len(pairs), unique=True))
    if draw(st.booleans()):  # the other edges, as few of them are drawn
        kept = [pair for pair in pairs if pair not in kept] or kept
    return gbb.Graph.from_edges(np.array(kept), n=n, undirected=True)


@st.composite
def trees(draw: st.DrawFn, *, max_n: int = 8) -> gbb.Graph:
    """Trees whose agents are numbered so that each but the first follows a neighbour."""
    n = draw(st.integers(2, max_n))
    edges = [(draw(st.integers(0, i - 1)), i) for i in range(1, n)]
    return gbb.Graph.from_edges(np.array(edges), n=n, undirected=True)


@st.composite
def arm_sets(
    draw: st.DrawFn, *, max_K: int = 4, max_d: int = 3, low: float = -2.0, high: float = 2.0
) -> np.ndarray:
    """General arms: not orthogonal, sometimes duplicated, dependent, zero, or a single one."""
    K, d = draw(st.integers(1, max_K)), draw(st.integers(1, max_d))
    X = draw(hnp.arrays(np.float64, (K, d), elements=tenths(low, high)))
    if K > 1 and draw(st.booleans()):
        X[draw(st.integers(1, K - 1))] = X[0]
    if not X.any():
        X[0, 0] = 1.0
    return X


def matrices(d: int, *, low: float = -2.0, high: float = 2.0) -> st.SearchStrategy[np.ndarray]:
    """Square matrices of side d."""
    return hnp.arrays(np.float64, (d, d), elements=tenths(low, high))


@st.composite
def environments(
    draw: st.DrawFn, *, nonnegative: bool = False, max_n: int = 5, max_K: int = 4, max_d: int = 3
) -> gbb.Environment:
    """Instances; with ``nonnegative``, all expected rewards are >= 0, some > 0, and S bounds M*.

    Half of them have one-hot arms and a zero diagonal, where edges inside a part cost most.
    """
    low = 0.0 if nonnegative else -2.0
    graph = draw(graphs(max_n=max_n))
    costly = draw(st.booleans())
    X = (
        np.eye(draw(st.integers(2, max_K)))
        if costly
        else draw(arm_sets(max_K=max_K, max_d=max_d, low=low))
    )
    M = draw(matrices(X.shape[1], low=low))
    if costly:
        np.fill_diagonal(M, 0.0)
    if nonnegative and not (X @ M @ X.T).any():
        M[:] = 0.1
    norm = float(np.linalg.norm(M))
    problem = gbb.Problem(graph, X, S=norm if norm > 0 else 1.0)
    return gbb.Environment(problem, M)
