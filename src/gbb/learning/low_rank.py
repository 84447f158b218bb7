"""Estimates of matrices of low rank: least squares of rank r, and ridge regression cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.record import Record
from gbb.problem import Problem, check_lam

TOLERANCE = 1e-10
"""Alternation ends when it lowers the objective by less than this share."""

STEPS = 1_000
"""Limit on the number of alternations."""


@dataclass(frozen=True, eq=False)
class LowPopArt:
    """LowPopArt for a design that is given: what is certain of M* in the operator norm.

    The ridge estimate is ``M_0 = M* + sum noise_e W_e - lam mat(A^-1 theta*)``, ``W_e = mat(A^-1 z_e)``.
    For any arms that were not chosen by the rewards, with probability 1 - delta,

        ``||M_0 - M*|| <= tau = sigma sqrt(2 v log(2 d / delta)) + lam S / (smallest eigenvalue of A)``,
        ``v = max(||sum W_e W_e'||, ||sum W_e' W_e||)``,

    in the operator norm. ``M_hat`` is M_0 without the singular values up to tau, or without all but the
    ``rank`` largest. Either way ``||M_hat - M*|| <= 2 tau``; and as the rank of M_hat is at most that of
    M*, or ``rank``, its Frobenius error is at most ``2 tau sqrt(2 rank)``.

    Notes
    -----
    The series of noise is bounded by the matrix Laplace transform: ``E exp(s noise H) <= exp(s^2 sigma^2
    H^2 / 2)`` for every symmetric H and sub-Gaussian noise, with H the dilation of W_e, of dimension 2 d
    (Tropp 2012). v is the B(Q) of the authors, over the number of rewards, for the arms as played.
    They draw arms independently, weigh by the design's mean and truncate by Catoni's function. The
    edges of one round share agents, so that their edge-arms are not independent; given the arms, their
    noise is, and nothing heavy-tailed is left to truncate. The error of a pilot estimate, which their
    bound has beside sigma, is not in this one.

    Parameters
    ----------
    problem, record, lam
        As for :class:`gbb.Ridge`; rewards per edge, and one matrix.
    rank
        The rank of M* at most, from 1 to d; left out, singular values up to tau are cut off.
    delta
        The probability of a miss, at most.

    References
    ----------
    Jang, Zhang and Jun (2024), "Efficient low-rank matrix estimation, experimental design, and
    arm-set-dependent low-rank bandits"; Tropp (2012), "User-friendly tail bounds for sums of random
    matrices".
    """

    problem: Problem
    record: Record
    rank: int | None = None
    lam: float = 1.0
    delta: float = 1e-3

    def __post_init__(self) -> None:
        check_one_matrix(self.problem, self.record)
        if self.rank is not None:
            checks.integer("rank", self.rank, low=1, high=self.problem.d)
        check_lam(self.lam)
        checks.real("delta", self.delta, low=0.0, low_open=True, high=1.0)

    @cached_property
    def _inverse(self) -> tuple[FloatArray, float]:
        """``A^-1``, and the smallest eigenvalue of A."""
        values, vectors = np.linalg.eigh(self.record.gram(self.problem))
        grown = np.maximum(values, 0.0) + self.lam  # rounding may leave eigenvalues below 0
        return (vectors / grown) @ vectors.T, float(grown[0])

    @cached_property
    def ridge(self) -> FloatArray:
        """``M_0``, the ridge estimate."""
        theta = self._inverse[0] @ self.record.moment(self.problem)
        return theta.reshape(self.problem.d, self.problem.d).T  # vec stacks columns

    @cached_property
    def variance(self) -> float:
        """v: no ``<u, (M_0 - M*) w>`` with unit u and w has a larger variance than ``sigma^2 v``."""
        d, N = self.problem.d, self.record.N.astype(np.float64).ravel()
        played = np.flatnonzero(N)
        # v of the matrix series: W_e = mat(A^-1 z_e), once for each time that its edge-arm was played.
        W = (self.problem.edge_arms[played] @ self._inverse[0]).reshape(-1, d, d)
        W *= np.sqrt(N[played])[:, None, None]
        rows, columns = W.reshape(-1, d), W.transpose(0, 2, 1).reshape(-1, d)
        return float(max(np.linalg.norm(stacked, 2) ** 2 for stacked in (rows, columns)))

    @cached_property
    def tau(self) -> float:
        """With probability 1 - delta, ``||ridge - M*|| <= tau`` in the operator norm."""
        problem = self.problem
        noise = problem.sigma * math.sqrt(
            2.0 * self.variance * math.log(2 * problem.d / self.delta)
        )
        return noise + self.lam * problem.S / self._inverse[1]

    @cached_property
    def M_hat(self) -> FloatArray:
        """The estimate of M*."""
        # Singular values up to tau may be of noise alone.
        U, values, V = np.linalg.svd(self.ridge)
        retained = values > self.tau if self.rank is None else np.arange(self.problem.d) < self.rank
        return checks.frozen((U * np.where(retained, values, 0.0)) @ V)

    @property
    def operator_norm_bound(self) -> float:
        """With probability 1 - delta, ``||M_hat - M*||`` is at most this in the operator norm."""
        return self.distance_bound(self.M_hat)

    def distance_bound(self, M: FloatArray) -> float:
        """Return a bound on ``||M - M*||`` with the same probability, for any M whatever its origin."""
        return self.tau + float(np.linalg.norm(M - self.ridge, 2))


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
        """Return the objective at M, up to a constant: without the sum of the squared rewards."""
        table = self.problem.arms @ M @ self.problem.arms.T
        loss = np.sum((self.record.N * table - 2.0 * self.record.Y) * table)
        return float(loss + self.lam * np.sum(M**2))

    @cached_property
    def _scaled(self) -> tuple[FloatArray, float, float]:
        """The arms with the longest of norm 1, by what M is then larger, and the regulariser."""
        norm = float(np.linalg.norm(self.problem.arms, axis=1).max())
        return self.problem.arms / norm, norm**2, self.lam / norm**4

    @cached_property
    def factors(self) -> tuple[FloatArray, FloatArray]:
        """U (d x r, orthonormal) and V (d x r) with ``M_hat = U V'``."""
        # M = U V': with V orthonormal the best U is least squares, and then in turn; QR keeps U and V
        # orthonormal, so that each step's regulariser lam ||M||^2 is lam times the norm of its unknowns.
        N, Y = self.record.N.astype(np.float64), self.record.Y
        scale = self._scaled[1]
        V: FloatArray = np.linalg.svd(self._start())[2][: self.rank].T
        value = np.inf
        for _ in range(STEPS):
            U: FloatArray = np.linalg.qr(self._half(N, Y, V))[0]
            factor = self._half(N.T, Y.T, U)
            before, value = value, self.objective(U @ factor.T / scale)
            if before - value <= TOLERANCE * abs(value):
                break
            V = np.linalg.qr(factor)[0]
        return U, factor / scale

    @cached_property
    def M_hat(self) -> FloatArray:
        """The estimate of M*, of rank at most r."""
        U, V = self.factors
        return checks.frozen(U @ V.T)

    def operator_norm_bound(self, delta: float = 1e-3) -> float:
        """Return a bound on ``||M_hat - M*||`` in the operator norm, with probability 1 - delta.

        For arms that were not chosen by the rewards (:class:`LowPopArt`).
        """
        certified = LowPopArt(self.problem, self.record, self.rank, self.lam, delta)
        return certified.distance_bound(self.M_hat)

    def _half(self, N: FloatArray, Y: FloatArray, V: FloatArray) -> FloatArray:
        """Return the best U (d x r) of ``M = U V'`` for orthonormal V."""
        X, _, lam = self._scaled
        B = X @ V
        d, r = V.shape
        # Each N_ab weighs (x_a (x) V'x_b)(x_a (x) V'x_b)', summed over b before a.
        inner = np.einsum("ab,bi,bj->aij", N, B, B, optimize=True)
        A = np.einsum("ap,aq,aij->piqj", X, X, inner, optimize=True).reshape(d * r, d * r)
        A[np.diag_indices(d * r)] += lam
        U: FloatArray = np.linalg.lstsq(A, (X.T @ (Y @ B)).ravel(), rcond=None)[0]
        return U.reshape(d, r)

    def _start(self) -> FloatArray:
        """Return about the ridge estimate, by conjugate gradients and without a d^2 x d^2 matrix."""
        from scipy.sparse.linalg import LinearOperator, cg  # noqa: PLC0415

        (X, _, lam), d = self._scaled, self.problem.d
        N, Y = self.record.N, self.record.Y

        def product(vector: FloatArray) -> FloatArray:
            M = vector.reshape(d, d)
            return np.ravel(X.T @ (N * (X @ M @ X.T)) @ X + lam * M)

        operator = LinearOperator((d * d, d * d), matvec=product, dtype=np.float64)
        solution, _ = cg(operator, (X.T @ Y @ X).ravel(), rtol=1e-6, maxiter=2 * d * d)
        return solution.reshape(d, d)


def check_one_matrix(problem: Problem, record: Record) -> None:
    """Raise unless rewards are per edge, of one matrix and without weights."""
    one_way = record.tables is not None and not problem.symmetric_only
    if not one_way or problem.types > 1 or problem.weighted:
        rule = "have one matrix, no weights and rewards per edge"
        raise checks.input_error("problem", rule, repr(problem))
