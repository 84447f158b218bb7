"""Standard quadratic programs: the maximum of p' A p over shares p, by enumerating supports."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from gbb._support.checks import FloatArray, IntArray

MOST = 20_000
"""Supports looked at before giving up."""

FLAT = 1e-13
"""What bends by less than this share of the entries is flat but for rounding."""

CLIMBS = 2_000
"""Moves of a climb, at most."""

ENOUGH = 1e-12
"""A climb ends where a move gains less than this share of the entries."""


def find_supports(A: FloatArray, groups: int = 1) -> tuple[list[tuple[float, FloatArray]], bool]:
    """Stationary values and shares on supports where ``p' A p`` is strictly concave; whether on all.

    p is one vector of shares, or ``groups`` of them in a row, each of sum 1. The best of all is the
    maximum: a maximiser of smallest support is strictly concave there, or it could move along a flat
    direction to a smaller one. A part of a support with this property has it too, so supports grow
    from smaller ones, smallest first. Beyond :data:`MOST` they are not all.
    """
    size = len(A) // groups
    found = []
    level: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for first in itertools.product(*(range(g * size, (g + 1) * size) for g in range(groups))):
        shares = np.zeros(len(A))
        shares[list(first)] = 1.0
        found.append((float(A[np.ix_(first, first)].sum()), shares))
        level.append((first, ()))
    seen = 0
    while level:
        larger = (  # one after the other: there may be very many
            (first, (*more, b))
            for first, more in level
            for b in range(more[-1] + 1 if more else first[0] + 1, len(A))
            if b > first[b // size]
        )
        level = []
        for first, more in larger:
            seen += 1
            if seen > MOST:
                return sorted(found, key=lambda pair: -pair[0]), False
            solved = _stationary(A, first, more, size)
            if solved is None:
                continue
            level.append((first, more))
            value, own = solved
            if own.min() > 0.0:
                found.append((value, np.zeros(len(A))))
                found[-1][1][[*first, *more]] = own
    return sorted(found, key=lambda pair: -pair[0]), True


def _stationary(
    A: FloatArray, first: tuple[int, ...], more: tuple[int, ...], size: int
) -> tuple[float, FloatArray] | None:
    """Value and shares where the gradient is flat on a support; None unless strictly concave."""
    S = (*first, *more)
    inside = A[np.ix_(S, S)]
    k, groups = len(S), len(first)
    base = [b // size for b in more]
    rest = inside[groups:] - inside[base]
    ways = rest[:, groups:] - rest[:, base]
    try:
        cholesky(-ways - FLAT * np.abs(inside).max() * np.eye(len(ways)), check_finite=False)
    except LinAlgError:
        return None
    bordered = np.zeros((k + groups, k + groups))
    bordered[:k, :k] = inside
    for place, b in enumerate(S):
        bordered[place, k + b // size] = bordered[k + b // size, place] = 1.0
    right = np.r_[np.zeros(k), np.ones(groups)]
    solution: FloatArray = np.linalg.solve(bordered, right).astype(np.float64)
    return float(-solution[k:].sum()), solution[:k]


def climb_shares(A: FloatArray, shares: FloatArray, groups: int) -> FloatArray:
    """Move shares between two arms of a group, the best move first, while that raises ``p' A p``."""
    size = len(A) // groups
    own, p = np.diag(A), shares.copy()
    apart = np.arange(len(A)) // size
    bend = np.where(apart[:, None] == apart, own[:, None] + own - 2.0 * A, np.nan)
    enough = ENOUGH * float(np.abs(A).max())
    for _ in range(CLIMBS):
        slope = 2.0 * (A @ p)
        rise = slope - slope[:, None]  # of a step from the arm of the row to that of the column
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.where(bend < 0.0, -rise / (2.0 * bend), np.inf)
            step = np.clip(top, 0.0, p[:, None])
            gain = np.nan_to_num(step * (rise + step * bend), nan=0.0)
        a, b = divmod(int(np.argmax(gain)), len(A))
        if gain[a, b] <= enough:
            break
        p[a] = max(p[a] - step[a, b], 0.0)
        p[b] += step[a, b]
    return p


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
    found, whole = find_supports(A)
    bound = n**2 / 2 * found[0][0] if whole else None
    starts = [round_shares(shares, n) for _, shares in found[: 20 if whole else 0]]
    starts += [round_shares(np.eye(len(W))[a], n) for a in range(len(W))]
    starts += [round_shares(np.full(len(W), 1 / len(W)), n)]
    ends = [move_agents(W, start) for start in starts]
    values = [(end @ W @ end - own @ end) / 2 for end in ends]
    return ends[int(np.argmax(values))], bound
