"""Instances of the paper's experiments: random matrices, the zeta construction, linear terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb._support.seeds import Seed


def absolute_normal(
    d: int,
    *,
    seed: Seed = None,
    frobenius: float | None = None,
    distinct_couple: bool = False,
    zeta: float | None = None,
) -> FloatArray:
    """A d x d matrix of absolute values of standard normals (the paper's Section 5).

    Parameters
    ----------
    d
        Dimension.
    seed
        Where the randomness comes from.
    frobenius
        Scale the matrix to this Frobenius norm, which the zeta construction may then lower. Where it
        would raise it, the matrix is scaled down to this norm again.
    distinct_couple
        Draw again until the best couple of canonical arms has two different arms.
    zeta
        Apply the paper's zeta construction (after the scaling).
    """
    d = checks.integer("d", d, low=2 if distinct_couple else 1)
    if frobenius is not None:
        frobenius = checks.real("frobenius", frobenius, low=0.0, low_open=True)
    rng = seeds.generator(seed)
    while True:
        M = np.abs(rng.standard_normal((d, d)))
        a, b = best_couple(M)
        if a != b or not distinct_couple:
            break
    if frobenius is not None:
        M *= frobenius / np.linalg.norm(M)
    if zeta is None:
        return M
    M = with_zeta(M, zeta)
    norm = float(np.linalg.norm(M))
    return M if frobenius is None or norm <= frobenius else M * (frobenius / norm)


def best_couple(M: ArrayLike) -> tuple[int, int]:
    """The couple of canonical arms ``(i*, j*)`` maximising ``M_ij + M_ji``, first in row order."""
    M = checks.array("M", M, ndim=2)
    if M.shape[0] != M.shape[1]:
        raise checks.input_error("M", "be square", f"shape {M.shape}")
    return divmod(int(np.argmax(M + M.T)), len(M))


def with_zeta(M: ArrayLike, zeta: float) -> FloatArray:
    """The paper's zeta construction: the couple's two unwanted edge-arms pay a share of the couple.

    ``M[i*, i*] = M[j*, j*] = zeta * (M[i*, j*] + M[j*, i*]) / 2`` for the best couple (i*, j*) of M.
    """
    a, b = best_couple(M)
    zeta = checks.real("zeta", zeta, low=0.0, high=1.0)
    result = np.array(M, dtype=np.float64)
    result[a, a] = result[b, b] = zeta * (result[a, b] + result[b, a]) / 2
    return result


def with_linear_term(arms: ArrayLike, M: ArrayLike, w: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Reduce ``x_i' M x_j + w' x_i`` to a bilinear reward in dimension d + 1 (paper, footnote 2).

    With ``x~ = (x, 1)`` and ``M~ = [[M, w], [0, 0]]`` one has ``x~_i' M~ x~_j = x_i' M x_j + w' x_i``.

    Returns
    -------
    arms, M
        The arms with a last coordinate of one, and the (d+1) x (d+1) matrix.
    """
    X = checks.array("arms", arms, ndim=2, meaning="one arm per row (K x d)")
    d = X.shape[1]
    M = checks.array("M", M, shape=(d, d), meaning="d x d")
    w = checks.array("w", w, shape=(d,), meaning="one weight per arm coordinate")
    bigger = np.zeros((d + 1, d + 1))
    bigger[:d, :d] = M
    bigger[:d, d] = w
    return np.hstack([X, np.ones((len(X), 1))]), bigger
