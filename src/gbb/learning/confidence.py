"""What a record says of sums of edge rewards, and how far off it can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.learning.estimator import Record, symmetric_edge_arms
from gbb.problem import Problem

Combine = Callable[[FloatArray], FloatArray]
"""A family of sums of edge-arms: a table with a row per edge-arm becomes one with a row per member."""

ROUNDING = 1e-9
"""Sums of edge-arms that differ by less than this share are the same."""


@dataclass(frozen=True, eq=False)
class Confidence:
    """Estimates of sums of edge rewards, ``<v, theta*>`` with ``v = sum c_ab z_ab``, and their errors.

    The error of the ridge estimate along v has two parts,

        ``<v, theta_hat - theta*> = <v, A^-1 sum z noise> - lam <v, A^-1 theta*>``.

    The second is at most ``lam S ||A^-1 v||``, whatever happens. The first is at most ``radius
    ||v||_{A^-1}``, with probability 1 - delta, for either of two radii:

    - :meth:`ellipsoid`, for all v and all numbers of rounds at once, however the arms were chosen
      (the self-normalised bound of Abbasi-Yadkori, Pal and Szepesvari 2011);
    - :meth:`union`, for a fixed number of vectors v after a fixed number of rounds whose arms were
      chosen without looking at any reward: the first part is then sub-Gaussian.

    When each direction of a pair of arms was played equally often (``N = N'``), as complete rounds do,
    everything is in the symmetric block, of dimension d (d + 1) / 2, which decides for sums v with both
    directions of every edge; otherwise in all d^2 dimensions. Each of the two ellipsoids holds for all
    numbers of rounds with probability 1 - delta, so that whoever may meet records of both kinds, as when
    rewards arrive in part, must give each delta / 2.

    Parameters
    ----------
    problem
        What the learner knows.
    record
        What it has seen.
    lam
        The ridge regulariser lambda, > 0.
    """

    problem: Problem
    record: Record
    lam: float = 1.0

    def __post_init__(self) -> None:
        check_plain(self.problem)
        checks.real("lam", self.lam, low=0.0, low_open=True)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the record has the two directions of every pair of arms equally often."""
        return bool(np.array_equal(self.record.N, self.record.N.T))

    @cached_property
    def features(self) -> FloatArray:
        """The edge-arms, or their symmetric parts in orthonormal coordinates; row ``a * K + b``."""
        arms = self.problem.arms
        return symmetric_edge_arms(arms) if self.symmetric else self.problem.edge_arms

    @cached_property
    def _factor(self) -> FloatArray:
        """R with ``A = R'R``, by QR so that the condition number is not squared."""
        counts = self.record.N.ravel()
        played = np.flatnonzero(counts)
        rows = self.features[played] * np.sqrt(counts[played])[:, None]
        stacked = np.vstack([rows, np.sqrt(self.lam) * np.eye(rows.shape[1])])
        factor: FloatArray = qr(stacked, mode="r")[0][: rows.shape[1]]
        return factor

    @cached_property
    def whitened(self) -> FloatArray:
        """``R'^-1 z`` in row ``a * K + b``: dot products of rows are those of edge-arms in ``A^-1``."""
        white: FloatArray = solve_triangular(self._factor, self.features.T, trans="T").T
        return white

    @cached_property
    def shrunk(self) -> FloatArray:
        """``A^-1 z`` in row ``a * K + b``."""
        rows: FloatArray = solve_triangular(self._factor, self.whitened.T).T
        return rows

    @cached_property
    def means(self) -> FloatArray:
        """``<z_ab, theta_hat>`` at position ``a * K + b``."""
        b = self.record.Y.ravel() @ self.whitened
        means: FloatArray = self.whitened @ b
        return means

    def ellipsoid(self, delta: float) -> float:
        """``sigma sqrt(log det(A / lam) + 2 log(1 / delta))``."""
        diagonal = np.abs(np.diag(self._factor))
        log_det = float(2.0 * np.log(diagonal).sum() - diagonal.size * np.log(self.lam))
        return float(self.problem.sigma * np.sqrt(max(log_det, 0.0) + 2.0 * np.log(1.0 / delta)))

    def union(self, count: int, delta: float) -> float:
        """``sigma sqrt(2 log(count / delta))``, one-sided, for ``count`` vectors."""
        return float(self.problem.sigma * np.sqrt(2.0 * np.log(count / delta)))

    def excess(self, combine: Combine, chosen: int, radius: float) -> FloatArray:
        """Upper bounds on how much more than member ``chosen`` each member of a family pays.

        With ``u = v - v_chosen``: ``<u, theta_hat> + radius ||u||_{A^-1} + lam S ||A^-1 u||``; 0 for the
        chosen one itself and all that play the same edge-arms.
        """
        white = combine(self.whitened)
        noise = np.linalg.norm(white - white[chosen], axis=1)
        means, shrunk = combine(self.means), combine(self.shrunk)
        bias = np.linalg.norm(shrunk - shrunk[chosen], axis=1)
        bound: FloatArray = (
            means - means[chosen] + radius * noise + self.lam * self.problem.S * bias
        )
        bound[noise <= ROUNDING * np.linalg.norm(white[chosen])] = 0.0
        return bound


def over_cut(cut: Cut) -> Combine:
    """All K^2 couples over a cut: ``m12 z_ab + m21 z_ba + m1 z_aa + m2 z_bb`` at ``a * K + b``."""
    m12, m21, m1, m2 = cut.weights

    def combine(table: FloatArray) -> FloatArray:
        K = math.isqrt(len(table))
        square = table.reshape(K, K, *table.shape[1:])
        own = square[np.arange(K), np.arange(K)]
        turned = square.swapaxes(0, 1)
        total: FloatArray = m12 * square + m21 * turned + m1 * own[:, None] + m2 * own[None, :]
        return total.reshape(table.shape)

    return combine


def check_plain(problem: Problem) -> None:
    """Refuse what is not the paper's problem: the tables (N, Y) say nothing of types or weights."""
    if not problem.is_paper_problem:
        rule = "have one matrix, no weights, rewards per edge and every arm allowed"
        raise checks.input_error("problem", rule, repr(problem))
