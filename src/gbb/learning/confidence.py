"""Estimates of sums of edge rewards from a record, and bounds on their errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.learning.radius import self_normalised
from gbb.learning.record import AnyRecord
from gbb.learning.ridge import Ridge
from gbb.problem import Problem, check_lam

Combine = Callable[[FloatArray], FloatArray]
"""A family of sums of edge-arms: a table (types x K x K x ...) becomes one with a row per member."""

LABELS, LABEL = 3, 1 << 26
"""So many whole numbers below this label an edge-arm. Sums of them are exact, and differ where the
numbers of edge-arms do but for a chance of ``LABEL ** -LABELS``, 10^-23. They are drawn from a fixed
seed, so that every answer is repeatable; the numbers themselves, K^2 for each sum, would take K^4."""


class Errors(NamedTuple):
    """Bounds on the error of an estimate along a vector u; the smaller of the two is taken.

    Attributes
    ----------
    noise, bias
        ``|<u, theta_hat - theta*>| <= noise ||u||_{A^-1} + bias ||A^-1 u||``.
    radius
        ``||theta_hat - theta*||_A <= radius``, so that it is at most ``radius ||u||_{A^-1}`` as well.
    """

    noise: float
    bias: float
    radius: float

    def along(self, width: Any, inverse_norm: Any) -> Any:
        """Return the smaller bound along u, with ``||u||_{A^-1}`` and ``||A^-1 u||`` as given."""
        return np.minimum(self.noise * width + self.bias * inverse_norm, self.radius * width)


def errors(ridge: Ridge, delta: float) -> Errors:
    """Return both bounds on the error of an estimate: all hold at all times with probability 1 - delta.

    With ``s = sum z noise`` and ``xi^2 = sigma^2 (log det(A / lam) + 2 log(1 / delta))`` the bounds
    along a vector u are

    - ``xi ||u||_{A^-1} + lam S ||A^-1 u||``. The error is ``A^-1 s - lam A^-1 theta*``; its first
      part is at most ``xi ||u||_{A^-1}`` where ``||s||_{A^-1} <= xi``, its second ``lam S ||A^-1
      u||`` always, which is never more than the ``sqrt(lam) S ||u||_{A^-1}`` of
      :func:`gbb.learning.radius.confidence_radius`;
    - ``sqrt(xi^2 + lam S^2) ||u||_{A^-1}`` (Flynn, Reeb, Kandemir and Peters 2023, "Improved algorithms
      for stochastic linear bandits using tail bounds for martingale mixtures").

    Notes
    -----
    For every theta, ``exp((<s, theta - theta*> - ||theta - theta*||_G^2 / 2) /
    sigma^2)`` with ``G = A - lam I`` is a supermartingale that starts at 1, and so is its mean over
    any law of theta. Over ``N(theta*, sigma^2 / lam I)`` and over ``N(0, sigma^2 / lam I)`` the
    logarithms of the means are

        ``(||s||_{A^-1}^2 / sigma^2 - log det(A / lam)) / 2`` and
        ``((||theta_hat - theta*||_A^2 - lam ||theta*||^2) / sigma^2 - log det(A / lam)) / 2``,

    which stay below ``log(1 / delta)`` with probability 1 - delta each (Ville's inequality): the first
    is what the first bound needs, the second is the second bound. These are two events, and neither
    implies the other. So each has delta / 2; where both hold, so does the smaller bound, for every u. In
    return for ``2 log 2`` more in ``xi^2 / sigma^2``, it is below ``xi + sqrt(lam) S`` unless
    ``sqrt(lam) S`` is less than ``0.7 sigma^2 / xi``. Weights of at most 1 that stay what they are leave
    both valid, as they do :func:`gbb.learning.radius.self_normalised`.

    The second bound is about all matrices; the first about those in play. What rounding can do is added.
    """
    problem = ridge.problem
    noise = self_normalised(problem.sigma, ridge.log_det, delta / 2.0)  # xi, for one of two events
    everything = math.sqrt(ridge.lam * problem.types) * problem.S
    return Errors(
        noise=noise + ridge.rounding,
        bias=ridge.lam * problem.norm,
        radius=math.hypot(noise, everything) + ridge.rounding,
    )


@dataclass(frozen=True, eq=False)
class Confidence:
    """Estimates of sums of edge rewards, ``<u, theta*>`` with ``u = sum c_ab z_ab``, and their errors.

    With ``s = sum z noise`` the error of the ridge estimate along u has two parts,

        ``<u, theta_hat - theta*> = <u, A^-1 s> - lam <u, A^-1 theta*>``.

    The second is at most ``lam S ||A^-1 u||``, whatever happens. The first is at most ``xi
    ||u||_{A^-1}``, with probability 1 - delta, for either of two radii xi:

    - :meth:`ellipsoid`, for all u and all numbers of rounds at once, however the arms were chosen
      (the self-normalised bound of Abbasi-Yadkori, Pal and Szepesvari 2011);
    - :meth:`union`, for a fixed number of vectors u after a fixed number of rounds whose arms were
      chosen without looking at any reward: the first part is then sub-Gaussian.

    When each direction of a pair of arms was played equally often (``N = N'``), as complete rounds do,
    everything is in the symmetric block, of dimension d (d + 1) / 2, which decides for sums u with both
    directions of every edge; and always where a number per link is seen (``problem.symmetric_only``);
    otherwise in all d^2 dimensions. Each of the two ellipsoids holds for all
    numbers of rounds with probability 1 - delta, so that a policy that may meet records of
    both kinds, as when rewards are missing at times, must give each delta / 2.

    Parameters
    ----------
    problem, record, lam
        As for :class:`gbb.Ridge`.
    """

    problem: Problem
    record: AnyRecord
    lam: float = 1.0

    def __post_init__(self) -> None:
        check_lam(self.lam)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the record has the two directions of every pair of arms equally often, or as one."""
        even = self.record.tables is not None and self.problem.symmetric and self.record.two_way
        return even or self.problem.symmetric_only

    @cached_property
    def ridge(self) -> Ridge:
        """The estimate."""
        return Ridge(self.problem, self.record, self.lam, symmetric=self.symmetric)

    @cached_property
    def whitened(self) -> FloatArray:
        """Vectors whose dot products are those of edge-arms in ``A^-1`` (types x K x K x size)."""
        return _spread(self.ridge.whitened, self.ridge.block_of)

    @cached_property
    def solved(self) -> FloatArray:
        """``A^-1 z`` by type and edge-arm (types x K x K x size)."""
        return _spread(self.ridge.solved, self.ridge.block_of)

    def ellipsoid(self, delta: float) -> float:
        """Return ``sigma sqrt(log det(A / lam) + 2 log(1 / delta))``, and what rounding can add."""
        return self_normalised(self.problem.sigma, self.ridge.log_det, delta) + self.ridge.rounding

    def union(self, count: int, delta: float) -> float:
        """Return ``sigma sqrt(2 log(count / delta))`` for ``count`` vectors, one-sided, and rounding."""
        return self.problem.sigma * math.sqrt(2.0 * math.log(count / delta)) + self.ridge.rounding

    def excess(self, combine: Combine, chosen: int, radius: float) -> FloatArray:
        """Return upper bounds on how much more each member of a family earns than member ``chosen``.

        With u the difference of the two sums of edge-arms: ``<u, theta_hat> + radius ||u||_{A^-1} +
        lam S ||A^-1 u||`` and what rounding can do to it, or ``S ||u||`` where that is less; 0 for
        the chosen one itself and all that play the same edge-arms as often. A small u is no reason
        for 0: S may be large.
        """
        means = combine(self.ridge.means)
        noise, bias, size = (
            np.linalg.norm(sums - sums[chosen], axis=1)
            for sums in map(combine, (self.whitened, self.solved, self._edge_arms))
        )
        norm, labels = self.problem.norm, combine(self._labels)
        longest = self.problem.L * np.abs(self.problem.edge_weights).sum()  # of either sum
        rounding = 2.0 * self.ridge.rounding_per_unit * longest
        upper = means - means[chosen] + radius * noise + self.lam * norm * bias
        # Cauchy and Schwarz: <u, theta*> is at most S ||u||, whatever was seen.
        bound: FloatArray = np.minimum(upper, norm * size) + rounding
        # The same edge-arms have the same labels. A small difference is no proof that two sums are
        # equal, and S may be large.
        bound[(labels == labels[chosen]).all(axis=1)] = 0.0
        return bound

    @cached_property
    def _edge_arms(self) -> FloatArray:
        """Edge-arms, or their symmetric parts, by type in dimensions of its own."""
        types, table = self.problem.types, self.ridge.coordinates.table
        return _spread(np.broadcast_to(table, (types, *table.shape)), np.arange(types))

    @cached_property
    def _labels(self) -> FloatArray:
        """Labels of edge-arms, the same in both directions where these count alike."""
        shape = (self.problem.types, self.problem.K, self.problem.K, LABELS)
        labels = np.random.default_rng(0).integers(LABEL, size=shape).astype(np.float64)
        # z_ab and z_ba have one symmetric part, and so must have one label.
        return labels + labels.transpose(0, 2, 1, 3) if self.symmetric else labels


def _spread(table: FloatArray, block_of: IntArray) -> FloatArray:
    """Return vectors in the blocks of their types as vectors in all blocks together."""
    types, K, _, size = table.shape
    wide = np.zeros((types, K, K, int(block_of[-1]) + 1, size))
    wide[np.arange(types), :, :, block_of] = table
    return wide.reshape(types, K, K, -1)
