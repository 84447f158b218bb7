"""The G-optimal design over arms, by Frank-Wolfe with its optimality gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Design:
    """A distribution over arms and how far from optimal it is.

    Attributes
    ----------
    weights
        The probability of each arm.
    worst
        ``max_x x' (sum_a weights_a x_a x_a')^-1 x``; by Kiefer and Wolfowitz its minimum over designs
        is the rank of the arm set.
    gap
        ``worst - rank``, at least 0 and 0 only at the optimum.
    """

    weights: FloatArray
    worst: float
    gap: float


def g_optimal(arms: ArrayLike, *, tolerance: float = 1e-3, max_steps: int = 1_000_000) -> Design:
    """Return the design that minimises the largest predicted variance over the arms.

    Frank-Wolfe on ``log det`` with the exact step of Fedorov (1972) and Wynn's away steps
    (Atwood 1973), which shares its optimum with the G-criterion (Kiefer and Wolfowitz 1960). With
    arms drawn independently at both ends of an edge, the design of the edge-arms is the product of
    two such designs and is G-optimal for them (Rizk et al. 2021).

    Parameters
    ----------
    arms
        The arm set X (K x d). Arms spanning a subspace are treated in that subspace.
    tolerance
        Stop when the Kiefer-Wolfowitz gap is below this.
    max_steps
        Give up after this many steps (the gap tells how far it came).
    """
    X = checks.array("arms", arms, ndim=2, meaning="one arm per row (K x d)")
    tolerance = checks.real("tolerance", tolerance, low=0.0, low_open=True)
    # Coordinates in the arms' own span: the criterion is invariant under linear maps.
    u, s, _ = np.linalg.svd(X, full_matrices=False)
    rank = int(np.count_nonzero(s > s[0] * max(X.shape) * np.finfo(float).eps)) if s.size else 0
    if rank == 0:
        raise checks.input_error("arms", "span at least one dimension", "arms that are all zero")
    X = u[:, :rank]
    weights, rate = np.full(len(X), 1.0 / len(X)), 1.0
    for step in range(max_steps):
        # Rounding adds up in rank-one updates; at rate 1, where the rank is 1, they divide by 0.
        if step % 256 == 0 or rate == 1.0:
            inverse = np.linalg.inv(X.T @ (X * weights[:, None]))
        variance = ((X @ inverse) * X).sum(axis=1)
        best = int(np.argmax(variance))
        if variance[best] - rank < tolerance / 2:
            break
        active = np.flatnonzero(weights)
        away = int(active[np.argmin(variance[active])])
        towards = variance[best] - rank >= rank - variance[away]
        arm = best if towards else away
        v = variance[arm]
        # Away from an arm, the step that drops it altogether is the longest.
        drop = -np.inf if towards else -weights[arm] / (1.0 - weights[arm])
        rate = max((v - rank) / (rank * (v - 1.0)), drop) if v > 1.0 else drop
        weights *= 1.0 - rate
        weights[arm] = 0.0 if rate == drop else weights[arm] + rate
        if rate != 1.0:  # Sherman and Morrison
            direction = inverse @ X[arm]
            inverse = inverse - (rate / (1.0 + rate * (v - 1.0))) * np.outer(direction, direction)
            inverse /= 1.0 - rate
    weights /= weights.sum()
    inverse = np.linalg.inv(X.T @ (X * weights[:, None]))
    worst = float(((X @ inverse) * X).sum(axis=1).max())
    return Design(checks.frozen(weights), worst, max(worst - rank, 0.0))
