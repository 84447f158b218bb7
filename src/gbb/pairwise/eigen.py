"""Upper bounds on the largest eigenvalue of a symmetric matrix that can be relied on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh_tridiagonal

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray

SMALL, DENSE = 300, 3_000
"""Sizes up to which all eigenvalues are computed, and up to which a factorisation proves the bound."""

STEPS, MANY = 100, 1_000
"""Most steps of the Lanczos method before a factorisation, and without one."""

FLOPS = 3e9
"""Operations a second that a factorisation is expected to reach."""

FAILURE = 1e-12
"""Probability, over the random start, that the Lanczos estimate of one end of the spectrum is further
off than the theorem says. A bound for larger matrices relies on both ends, and what is built on it on
two such bounds at most: all hold with probability 1 - 4 :data:`FAILURE`."""


def largest_eigenvalue(
    matrix: Any, rng: np.random.Generator, budget: Budget | None = None
) -> float:
    """A number that is at least the largest eigenvalue, and close to it.

    Parameters
    ----------
    matrix
        A symmetric matrix, dense or sparse. Its eigenvalues are computed up to size :data:`SMALL`.
        Up to :data:`DENSE`, time permitting, a Lanczos estimate is raised until ``bound I - matrix``
        has a Cholesky factor. Otherwise the bound holds with probability 1 - 4 :data:`FAILURE`.
    rng
        For the start of the Lanczos method.
    budget
        When it is over, the Lanczos method stops, at the price of a wider bound.

    References
    ----------
    J. Kuczynski and H. Wozniakowski, Estimating the largest eigenvalue by the power and Lanczos
    algorithms with a random start, SIAM J. Matrix Anal. Appl. 13 (1992), Theorem 4.2.
    """
    n = matrix.shape[0]
    if n <= SMALL:
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        values = np.linalg.eigvalsh(dense)
        return float(values[-1] + 1e-13 * n * np.abs(values).max())
    budget = Budget() if budget is None else budget
    provable = n <= DENSE and n**3 / FLOPS < budget.left
    low, high, steps = lanczos(matrix, rng, budget.part(0.9), STEPS if provable else MANY)
    if provable:
        return _prove_by_factor(matrix, high, max(abs(low), abs(high)))
    miss = (math.log(1.648 * math.sqrt(n) / FAILURE) / (2 * steps - 1)) ** 2
    # The theorem bounds the miss relative to the spread, which the estimates bound from below.
    return high + (high - low) * miss / max(1e-9, 1 - 2 * miss) if miss < 0.5 else math.inf


def lanczos(
    matrix: Any, rng: np.random.Generator, budget: Budget, steps: int
) -> tuple[float, float, int]:
    """Estimates of the smallest and largest eigenvalue, from inside, and the number of steps."""
    n = matrix.shape[0]
    vector: FloatArray = rng.standard_normal(n)
    vector /= np.linalg.norm(vector)
    before = np.zeros(n)
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(steps, n)):
        image = matrix @ vector
        if beside:
            image -= beside[-1] * before
        diagonal.append(float(image @ vector))
        image -= diagonal[-1] * vector
        beside.append(float(np.linalg.norm(image)))
        if beside[-1] <= 1e-12 * (1.0 + abs(diagonal[-1])) or budget.over:
            break
        before, vector = vector, image / beside[-1]
    values = eigh_tridiagonal(np.array(diagonal), np.array(beside[:-1]), eigvals_only=True)
    return float(values[0]), float(values[-1]), len(diagonal)


def _prove_by_factor(matrix: Any, estimate: float, scale: float) -> float:
    """The first of some numbers above the estimate that a Cholesky factor proves to be a bound."""
    dense = np.array(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=float)
    n = len(dense)
    np.negative(dense, out=dense)
    diagonal = dense.diagonal().copy()
    for slack in (1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
        bound = estimate + slack * scale
        dense[np.diag_indices(n)] = diagonal + bound
        try:
            cholesky(dense, check_finite=False)
        except LinAlgError:
            continue
        return bound + 4e-16 * n * (scale + abs(bound))  # rounding in the factorisation
    dense[np.diag_indices(n)] = diagonal
    return float(np.abs(dense).sum(axis=1).max())  # Gershgorin
