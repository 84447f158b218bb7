"""Standard quadratic programs: the maximum of p' A p over shares p, by enumerating supports."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from gbb._support.checks import FloatArray, IntArray

MAX_SUPPORTS = 20_000
"""Supports looked at before giving up."""

FLAT = 1e-13
"""What bends by less than this share of the entries is flat but for rounding."""

MAX_MOVES = 2_000
"""Moves of a climb, at most."""

SMALLEST_GAIN = 1e-12
"""A climb ends where a move gains less than this share of the entries."""


def find_supports(A: FloatArray, groups: int = 1) -> tuple[list[tuple[float, FloatArray]], bool]:
    """Return stationary values and shares where ``p' A p`` is strictly concave, and whether all.

    p is one vector of shares, or ``groups`` of them in a row, each of sum 1. The best of all is the
    maximum: a maximiser of smallest support is strictly concave there, or it could move along a flat
    direction to a smaller one. A part of a support with this property has it too, so supports grow
    from smaller ones, smallest first. Beyond :data:`MAX_SUPPORTS` they are not all.
    """
    size = len(A) // groups
    points = []
    level: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for first in itertools.product(*(range(g * size, (g + 1) * size) for g in range(groups))):
        shares = np.zeros(len(A))
        shares[list(first)] = 1.0
        points.append((float(A[np.ix_(first, first)].sum()), shares))
        level.append((first, ()))
    seen = 0
    while level:
        larger = (  # a generator, since there may be very many
            (first, (*more, b))
            for first, more in level
            for b in range(more[-1] + 1 if more else first[0] + 1, len(A))
            if b > first[b // size]
        )
        level = []
        for first, more in larger:
            seen += 1
            if seen > MAX_SUPPORTS:
                return sorted(points, key=lambda pair: -pair[0]), False
            solved = _stationary(A, first, more, size)
            if solved is None:
                continue
            level.append((first, more))
            value, shares = solved
            if shares.min() > 0.0:
                points.append((value, np.zeros(len(A))))
                points[-1][1][[*first, *more]] = shares
    return sorted(points, key=lambda pair: -pair[0]), True


def _stationary(
    A: FloatArray, first: tuple[int, ...], more: tuple[int, ...], size: int
) -> tuple[float, FloatArray] | None:
    """Return value and shares where the gradient is flat on a support; None unless strictly concave."""
    S, groups = (*first, *more), len(first)
    inside = A[np.ix_(S, S)]
    # Shares move from the first arm of each group to its others: slopes and curvature of these moves.
    # A flat direction is no concavity, and rounding must not make it one.
    base = [b // size for b in more]
    moves = inside[groups:] - inside[base]
    slopes, curvature = moves[:, :groups].sum(axis=1), moves[:, groups:] - moves[:, base]
    try:
        cholesky(-curvature - FLAT * np.abs(inside).max() * np.eye(len(base)), check_finite=False)
    except LinAlgError:
        return None
    steps = np.linalg.solve(curvature, -slopes)
    shares = np.r_[np.ones(groups), steps]
    np.subtract.at(shares, base, steps)
    return float(shares @ inside @ shares), shares


def climb_shares(A: FloatArray, shares: FloatArray, groups: int, unit: float = 0.0) -> FloatArray:
    """Move shares between two arms of a group, the best move first, while that raises ``p' A p``.

    Moves are multiples of ``unit``, if there is one: the share of one agent.
    """
    size = len(A) // groups
    diagonal, p = np.diag(A), shares.copy()
    group = np.arange(len(A)) // size
    # A step of length t changes p' A p by t rise + t^2 bend; between two groups there is none.
    bend = np.where(group[:, None] == group, diagonal[:, None] + diagonal - 2.0 * A, np.nan)
    enough = SMALLEST_GAIN * float(np.abs(A).max())
    for _ in range(MAX_MOVES):
        slope = 2.0 * (A @ p)
        rise = slope - slope[:, None]  # of a step from the arm of the row to that of the column
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.where(bend < 0.0, -rise / (2.0 * bend), np.inf)
            # A parabola's best multiple of the unit is the one nearest to its top.
            top = np.rint(top / unit) * unit if unit else top
            step = np.clip(top, 0.0, p[:, None])
            gain = np.nan_to_num(step * (rise + step * bend), nan=0.0)
        a, b = divmod(int(np.argmax(gain)), len(A))
        if gain[a, b] <= enough:
            break
        p[a] = max(p[a] - step[a, b], 0.0)
        p[b] += step[a, b]
    return p


def round_shares(shares: FloatArray, n: int) -> IntArray:
    """Return whole numbers of sum n nearest to ``n * shares``, by largest remainders."""
    exact = shares * n
    counts = np.floor(exact).astype(np.int64)
    missing = n - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts


def find_counts(W: FloatArray, n: int) -> tuple[IntArray, float | None]:
    """Return good counts of n agents on a complete graph, and an upper bound if it can be had."""
    diagonal, K = np.diag(W), len(W)
    # The value (c' W c - diag(W)' c) / 2 of counts c is n^2 / 2 p' A p, with shares p = c / n of sum 1.
    A = W - (diagonal[:, None] + diagonal[None, :]) / (2 * n)
    points, complete = find_supports(A)
    bound = n**2 / 2 * points[0][0] if complete else None
    starts = [shares for _, shares in points[: 20 if complete else 0]]
    starts += [*np.eye(K), np.full(K, 1 / K)]
    tops = [climb_shares(A, round_shares(shares, n) / n, 1, unit=1 / n) for shares in starts]
    best = max(tops, key=lambda shares: float(shares @ A @ shares))
    return np.rint(n * best).astype(np.int64), bound
