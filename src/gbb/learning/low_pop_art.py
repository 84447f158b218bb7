"""An estimate of low rank with a certificate: ridge regression, its singular values cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.record import Record
from gbb.problem import Problem, check_lam


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
    (Tropp 2012). v is what the authors call B(Q), over the number of rewards, with the design as it was.
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
        values, ways = np.linalg.eigh(self.record.gram(self.problem))
        grown = np.maximum(values, 0.0) + self.lam
        return (ways / grown) @ ways.T, float(grown[0])

    @cached_property
    def ridge(self) -> FloatArray:
        """``M_0``, the ridge estimate."""
        theta = self._inverse[0] @ self.record.moment(self.problem)
        return theta.reshape(self.problem.d, self.problem.d).T  # vec stacks columns

    @cached_property
    def spread(self) -> float:
        """v: no ``<u, (M_0 - M*) w>`` with unit u and w has a larger variance than ``sigma^2 v``."""
        d, N = self.problem.d, self.record.N.astype(np.float64).ravel()
        played = np.flatnonzero(N)
        W = (self.problem.edge_arms[played] @ self._inverse[0]).reshape(-1, d, d)
        W *= np.sqrt(N[played])[:, None, None]
        rows, columns = W.reshape(-1, d), W.transpose(0, 2, 1).reshape(-1, d)
        return float(max(np.linalg.norm(each, 2) ** 2 for each in (rows, columns)))

    @cached_property
    def tau(self) -> float:
        """With probability 1 - delta, ``||ridge - M*|| <= tau`` in the operator norm."""
        problem = self.problem
        noise = problem.sigma * math.sqrt(2.0 * self.spread * math.log(2 * problem.d / self.delta))
        return noise + self.lam * problem.S / self._inverse[1]

    @cached_property
    def M_hat(self) -> FloatArray:
        """The estimate of M*."""
        U, values, V = np.linalg.svd(self.ridge)
        kept = values > self.tau if self.rank is None else np.arange(self.problem.d) < self.rank
        return checks.frozen((U * np.where(kept, values, 0.0)) @ V)

    @property
    def operator_norm_bound(self) -> float:
        """With probability 1 - delta, ``||M_hat - M*||`` is at most this in the operator norm."""
        return self.distance_bound(self.M_hat)

    def distance_bound(self, M: FloatArray) -> float:
        """With the same probability ``||M - M*||`` is at most this, for any M however it came about."""
        return self.tau + float(np.linalg.norm(M - self.ridge, 2))


def check_one_matrix(problem: Problem, record: Record) -> None:
    """Refuse what estimates of low rank are not about."""
    one_way = record.tables is not None and not problem.halves_only
    if not one_way or problem.types > 1 or problem.weighted:
        rule = "have one matrix, no weights and rewards per edge"
        raise checks.input_error("problem", rule, repr(problem))
