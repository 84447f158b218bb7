"""Ridge regression in one block, by a row-sorted, column-pivoted QR factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support.checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Block:
    """A block ``P R'R P'`` of A, with R triangular and P the permutation ``pivots``.

    ``theta`` is the whitened estimate ``R P' theta_hat`` and ``whitened`` holds ``R^-T P' z`` of each
    regressor, a row each.
    """

    R: FloatArray
    theta: FloatArray
    pivots: IntArray
    whitened: FloatArray

    def whiten(self, vectors: FloatArray) -> FloatArray:
        """Return ``R^-T P' v`` for vectors v, a row each."""
        return solve_triangular(self.R, vectors[:, self.pivots].T, transposed=True).T

    def solve(self, whitened: FloatArray) -> FloatArray:
        """Return ``A^-1 v`` for vectors v that are whitened, a row each."""
        found = np.empty(whitened.shape)
        found[:, self.pivots] = solve_triangular(self.R, whitened.T, transposed=False).T
        return found

    @cached_property
    def unique(self) -> tuple[FloatArray, FloatArray]:
        """The orthogonal Q and the triangular U with a positive diagonal of ``R P' = Q U``."""
        Q, U = np.linalg.qr(self.R[:, np.argsort(self.pivots)])
        # The engine's factor has a positive diagonal too: another sign would change every draw.
        signs = np.where(np.diag(U) < 0.0, -1.0, 1.0)
        return Q * signs, U * signs[:, None]

    @cached_property
    def smallest(self) -> float:
        """The smallest eigenvalue of the block."""
        # From R: the eigenvalues of R'R would lose half of their digits.
        return float(np.linalg.svd(self.R, compute_uv=False)[-1] ** 2)


def solve_triangular(R: FloatArray, right: FloatArray, *, transposed: bool) -> FloatArray:
    """Return ``R^-1 right`` or ``R^-T right`` of an upper triangular R."""
    from scipy.linalg import lapack  # noqa: PLC0415  (slow to load)

    found: FloatArray = lapack.dtrtrs(R, right, trans=int(transposed))[0]
    return found


def factor(features: FloatArray, weight: FloatArray, total: FloatArray, lam: float) -> Block:
    """Factorise ``A = lam I + sum_s weight_s q_s q_s'``, with responses summing to ``total_s``.

    ``features`` holds the q_s as rows. With the whitened ``f_s``, ``q_s'A^-1 q_t = <f_s, f_t>`` and
    ``q_s'theta_hat = <f_s, theta>``.
    """
    from scipy.linalg import lapack  # noqa: PLC0415  (slow to load)

    size, played = features.shape[1], np.flatnonzero(weight > 0.0)
    root = np.sqrt(weight[played])
    rows = np.concatenate([root[:, None] * features[played], np.sqrt(lam) * np.eye(size)])
    responses = np.concatenate([total[played] / root, np.zeros(size)])
    # With rows sorted by decreasing size, QR with column pivoting is stable row by row: each keeps its
    # own relative accuracy (Powell and Reid 1969, Cox and Higham 1998).
    order = np.argsort(-np.abs(rows).max(axis=1), kind="stable")
    qr, pivots, tau, _, _ = lapack.dgeqp3(rows[order])
    Q, R, pivots = lapack.dorgqr(qr, tau)[0], np.triu(qr[:size]), pivots - 1
    whitened = solve_triangular(R, features[:, pivots].T, transposed=True).T
    # Of what was played it is read off Q: solving with R loses the digits that cancel where q_s is much
    # larger than sqrt(lam).
    seen = order < len(played)
    whitened[played[order[seen]]] = Q[seen] / root[order[seen], None]
    return Block(R, responses[order] @ Q, pivots, whitened)
