"""Upper bounds on the largest eigenvalue of a symmetric matrix that can be relied on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh_tridiagonal

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray

SMALL, DENSE = 300, 3_000
"""Sizes up to which all eigenvalues are computed, and up to which a factorisation proves the bound."""

STEPS, STEPS_UNPROVEN = 100, 1_000
"""Most steps of the Lanczos method before a factorisation, and without one."""

SLACKS = (1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
"""Shifts above an estimate of the largest eigenvalue that are tried, in units of the spectrum."""

FLOPS = 3e9
"""Operations a second that a factorisation is expected to reach."""

FAILURE = 1e-12
"""Probability, over the random start, that the Lanczos estimate of one end of the spectrum is further
off than the theorem says. A bound for larger matrices relies on both ends, and what is built on it on
two such bounds at most: all hold with probability 1 - 4 :data:`FAILURE`."""


def largest_eigenvalue(
    matrix: Any, rng: np.random.Generator, budget: Budget | None = None
) -> float:
    """Return a number that is at least the largest eigenvalue, and close to it.

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
        values = np.linalg.eigvalsh(_dense(matrix))
        # What rounding may have taken from a computed eigenvalue is added back.
        return float(values[-1] + 1e-13 * n * np.abs(values).max())
    budget = Budget() if budget is None else budget
    provable = n <= DENSE and n**3 / FLOPS < budget.left
    low, high, steps = lanczos(matrix, rng, budget.part(0.9), STEPS if provable else STEPS_UNPROVEN)
    if provable:
        dense, scale = _dense(matrix), max(abs(low), abs(high))
        for bound, _ in shifted_factors(dense, high, scale):
            return float(bound + 4e-16 * n * (scale + abs(bound)))  # rounding in the factorisation
        return float(np.abs(dense).sum(axis=1).max())  # Gershgorin: no eigenvalue is larger
    # Theorem 4.2 solved for the miss that it allows with probability FAILURE after so many steps. It
    # is relative to the spread of the spectrum, which the estimates bound from below.
    miss = (math.log(1.648 * math.sqrt(n) / FAILURE) / (2 * steps - 1)) ** 2
    return high + (high - low) * miss / max(1e-9, 1 - 2 * miss) if miss < 0.5 else math.inf


def lanczos(
    matrix: Any, rng: np.random.Generator, budget: Budget, steps: int
) -> tuple[float, float, int]:
    """Return estimates of the smallest and largest eigenvalue, from inside, and the number of steps."""
    n = matrix.shape[0]
    vector: FloatArray = rng.standard_normal(n)
    vector /= np.linalg.norm(vector)
    before = np.zeros(n)
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for _ in range(min(steps, n)):
        image = matrix @ vector
        if off_diagonal:
            image -= off_diagonal[-1] * before
        diagonal.append(float(image @ vector))
        image -= diagonal[-1] * vector
        off_diagonal.append(float(np.linalg.norm(image)))
        # Dividing by a norm that is rounding alone would go on with noise: the space is exhausted.
        if off_diagonal[-1] <= 1e-12 * (1.0 + abs(diagonal[-1])) or budget.over:
            break
        before, vector = vector, image / off_diagonal[-1]
    values = eigh_tridiagonal(np.array(diagonal), np.array(off_diagonal[:-1]), eigvals_only=True)
    return float(values[0]), float(values[-1]), len(diagonal)


def shifted_factors(
    matrix: FloatArray, estimate: float, scale: float
) -> Iterator[tuple[float, Any]]:
    """Yield shifts above ``estimate`` for which ``shift I - matrix`` has a Cholesky factor, and that.

    The factor proves that the shift is at least the largest eigenvalue, up to rounding. Without it there
    is no proof, since the estimate may be anything.
    """
    for slack in SLACKS:
        shift = estimate + slack * scale
        try:
            factor = cho_factor(
                shift * np.eye(len(matrix)) - matrix, overwrite_a=True, check_finite=False
            )
        except LinAlgError:
            continue
        yield shift, factor


def _dense(matrix: Any) -> FloatArray:
    dense: FloatArray = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return dense
