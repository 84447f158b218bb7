"""Standard quadratic programs: the maximum of p' A p over shares p, by enumerating supports."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from gbb._support.checks import FloatArray, IntArray

MOST = 20_000
"""Supports looked at before giving up."""


def find_supports(A: FloatArray) -> list[tuple[float, FloatArray]] | None:
    """Stationary values and shares on all supports where ``p' A p`` is strictly concave.

    The best of them is the maximum over all shares: a maximiser of smallest support is strictly
    concave there, or it could move along a flat direction to a smaller one. A part of a support
    with this property has it too, so supports grow from smaller ones. None beyond :data:`MOST`.
    """
    K = len(A)
    found = [(float(A[a, a]), np.eye(K)[a]) for a in range(K)]
    level: list[tuple[int, ...]] = [(a,) for a in range(K)]
    seen = 0
    while level:
        larger = [(*S, b) for S in level for b in range(S[-1] + 1, K)]
        level = []
        for S in larger:
            seen += 1
            if seen > MOST:
                return None
            solved = _stationary(A, S)
            if solved is None:
                continue
            level.append(S)
            value, shares = solved
            if shares.min() > 0.0:
                found.append((value, np.zeros(K)))
                found[-1][1][list(S)] = shares
    return sorted(found, key=lambda pair: -pair[0])


def _stationary(A: FloatArray, S: tuple[int, ...]) -> tuple[float, FloatArray] | None:
    """Value and shares where the gradient is flat on support S; None unless strictly concave."""
    inside = A[np.ix_(S, S)]
    last = inside[-1, -1]
    ways = inside[:-1, :-1] - inside[:-1, -1:] - inside[-1:, :-1] + last
    try:
        cholesky(-ways, check_finite=False)
    except LinAlgError:
        return None
    k = len(S)
    bordered = np.zeros((k + 1, k + 1))
    bordered[:k, :k] = inside
    bordered[:k, k] = bordered[k, :k] = 1.0
    solution: FloatArray = np.linalg.solve(bordered, np.r_[np.zeros(k), 1.0]).astype(np.float64)
    return float(-solution[k]), solution[:k]


def round_shares(shares: FloatArray, n: int) -> IntArray:
    """Whole numbers of sum n nearest to ``n * shares``, by largest remainders."""
    exact = shares * n
    counts = np.floor(exact).astype(np.int64)
    missing = n - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts


def move_agents(W: FloatArray, counts: IntArray) -> IntArray:
    """Move agents between arms of a complete graph, ever fewer at a time, while that gains.

    The value of counts c is ``(c' W c - diag(W)' c) / 2``.
    """
    own = np.diag(W)
    bend = own[:, None] + own[None, :] - 2 * W
    counts = counts.copy()
    step = 1 << max(0, int(counts.sum()).bit_length() - 2)
    while step:
        slope = W @ counts - own / 2
        gain = step * (slope[None, :] - slope[:, None]) + step**2 * bend / 2
        gain[counts < step] = -np.inf
        a, b = divmod(int(np.argmax(gain)), len(W))
        if gain[a, b] > 1e-12 * step * float(np.abs(slope).max()):
            counts[a] -= step
            counts[b] += step
        else:
            step //= 2
    return counts


def find_counts(W: FloatArray, n: int) -> tuple[IntArray, float | None]:
    """Good counts of n agents on a complete graph, and an upper bound if it can be had."""
    own = np.diag(W)
    A = W - (own[:, None] + own[None, :]) / (2 * n)
    found = find_supports(A)
    bound = None if found is None else n**2 / 2 * found[0][0]
    starts = [round_shares(shares, n) for _, shares in itertools.islice(found or [], 20)]
    starts += [round_shares(np.eye(len(W))[a], n) for a in range(len(W))]
    starts += [round_shares(np.full(len(W), 1 / len(W)), n)]
    ends = [move_agents(W, start) for start in starts]
    values = [(end @ W @ end - own @ end) / 2 for end in ends]
    return ends[int(np.argmax(values))], bound
