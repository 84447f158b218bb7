"""The estimator for matrices of low rank: ridge regression over matrices of rank r."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.low_pop_art import LowPopArt, check_one_matrix
from gbb.learning.record import Record
from gbb.problem import Problem, check_lam

TOLERANCE = 1e-10
"""Alternation ends when it lowers the objective by less than this share."""

STEPS = 1_000
"""The most alternations."""


@dataclass(frozen=True, eq=False)
class LowRank:
    """The ridge estimate under a bound on the rank.

    Minimises, over matrices M of rank at most r, what :class:`gbb.Ridge` minimises over all,

        ``sum over edges played of (y - x_a' M x_b)^2 + lam ||M||_F^2``.

    With rank d it is the ridge estimate. With ``M = U V'``, V orthonormal, the best U is a least-squares
    problem in d r unknowns, and so in turn for V: the objective falls with every step. It is not
    convex, so that the end may be a local minimum; the start is the row space of the ridge estimate, the
    first stage of Jun et al. (2019).

    Notes
    -----
    Allocations depend on ``(M + M') / 2`` alone, whose rank is up to 2 r, and ridge regression estimates
    it from the sums of both directions of each edge alone. A bound on the rank joins the halves: the
    differences of the two directions narrow down U and V, and with them the symmetric half. So the fit
    is to the directed rewards with rank r and not to their sums with rank 2 r, which has about as many
    unknowns for half as many rewards.

    Its error is bounded at a stated probability by its distance from the ridge estimate, whose own error
    in the operator norm is known (:meth:`operator_norm_bound`).

    Parameters
    ----------
    problem, record, lam
        As for :class:`gbb.Ridge`; rewards per edge, and one matrix.
    rank
        The rank r of M*, from 1 to d.

    References
    ----------
    Jun, Willett, Wright and Nowak (2019), "Bilinear bandits with low-rank structure", for estimating
    the subspaces first; Jain, Netrapalli and Sanghavi (2013), "Low-rank matrix completion using
    alternating minimization".
    """

    problem: Problem
    record: Record
    rank: int
    lam: float = 1.0

    def __post_init__(self) -> None:
        check_one_matrix(self.problem, self.record)
        checks.integer("rank", self.rank, low=1, high=self.problem.d)
        check_lam(self.lam)

    def objective(self, M: FloatArray) -> float:
        """The objective at M, up to a constant: without the sum of the squared rewards."""
        return _objective(self.problem.arms, self.record, M, self.lam)

    @cached_property
    def _scaled(self) -> tuple[FloatArray, float, float]:
        """The arms with the longest of norm 1, by what M is then larger, and the regulariser."""
        norm = float(np.linalg.norm(self.problem.arms, axis=1).max())
        return self.problem.arms / norm, norm**2, self.lam / norm**4

    @cached_property
    def factors(self) -> tuple[FloatArray, FloatArray]:
        """U (d x r, orthonormal) and V (d x r) with ``M_hat = U V'``."""
        N, Y = self.record.N.astype(np.float64), self.record.Y
        X, scale, lam = self._scaled
        V: FloatArray = np.linalg.svd(self._start())[2][: self.rank].T
        now = np.inf
        for _ in range(STEPS):
            U: FloatArray = np.linalg.qr(self._half(N, Y, V))[0]
            factor = self._half(N.T, Y.T, U)
            before, now = now, _objective(X, self.record, U @ factor.T, lam)
            if before - now <= TOLERANCE * abs(now):
                break
            V = np.linalg.qr(factor)[0]
        return U, factor / scale

    @cached_property
    def M_hat(self) -> FloatArray:
        """The estimate of M*, of rank at most r."""
        U, V = self.factors
        return checks.frozen(U @ V.T)

    def operator_norm_bound(self, delta: float = 1e-3) -> float:
        """With probability 1 - delta, ``||M_hat - M*||`` is at most this in the operator norm.

        For arms that were not chosen by the rewards (:class:`gbb.learning.low_pop_art.LowPopArt`).
        """
        certified = LowPopArt(self.problem, self.record, self.rank, self.lam, delta)
        return certified.distance_bound(self.M_hat)

    @property
    def theta_hat(self) -> FloatArray:
        """``M_hat`` with its columns stacked."""
        return self.M_hat.ravel(order="F")

    def _half(self, N: FloatArray, Y: FloatArray, V: FloatArray) -> FloatArray:
        """The best U (d x r) of ``M = U V'`` for orthonormal V."""
        X, _, lam = self._scaled
        B = X @ V
        d, r = V.shape
        inner = np.einsum("ab,bi,bj->aij", N, B, B, optimize=True)
        A = np.einsum("ap,aq,aij->piqj", X, X, inner, optimize=True).reshape(d * r, d * r)
        A[np.diag_indices(d * r)] += lam
        U: FloatArray = np.linalg.lstsq(A, (X.T @ (Y @ B)).ravel(), rcond=None)[0]
        return U.reshape(d, r)

    def _start(self) -> FloatArray:
        """About the ridge estimate, by conjugate gradients and without a d^2 x d^2 matrix."""
        from scipy.sparse.linalg import LinearOperator, cg  # noqa: PLC0415

        (X, _, lam), d = self._scaled, self.problem.d
        N, Y = self.record.N, self.record.Y

        def product(vector: FloatArray) -> FloatArray:
            M = vector.reshape(d, d)
            gram: FloatArray = X.T @ (N * (X @ M @ X.T)) @ X + lam * M
            return gram.ravel()

        operator = LinearOperator((d * d, d * d), matvec=product, dtype=np.float64)
        solution, _ = cg(operator, (X.T @ Y @ X).ravel(), rtol=1e-6, maxiter=2 * d * d)
        start: FloatArray = solution.reshape(d, d)
        return start


def _objective(X: FloatArray, record: Record, M: FloatArray, lam: float) -> float:
    table = X @ M @ X.T
    return float(np.sum((record.N * table - 2.0 * record.Y) * table) + lam * np.sum(M**2))
