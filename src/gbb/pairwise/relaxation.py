"""The low-rank semidefinite relaxation of a pair problem, whose multipliers give upper bounds."""

from __future__ import annotations

import numpy as np

from gbb._kernels import pairwise as kernels
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb.pairwise.lbfgs import minimise
from gbb.pairwise.problem import PairProblem

RANK = 30
"""Length of the vectors."""

STEPS = 50
"""L-BFGS steps between two steps of the multipliers."""

PENALTY = 4.0
"""Weight of the penalty, in units of the largest table entry."""


class PairRelaxation:
    """Vectors ``V[i, a]`` in place of the indicators of "agent i plays arm a".

    The indicators of one agent are orthogonal and sum to 1, products of indicators are not negative;
    the same is asked of the vectors, with a fixed unit vector for 1 (Burer and Monteiro's form of
    the semidefinite relaxation). The sum is kept exactly, by projection; the rest by the method of
    multipliers. Any multipliers give a valid bound (:mod:`gbb.pairwise.certificate`), so it may be
    stopped at any time.

    Parameters
    ----------
    pairs
        The problem.
    rng
        For the first vectors.
    block
        Multipliers to start from, per unit of an agent's degree (K x K).
    """

    def __init__(
        self, pairs: PairProblem, rng: np.random.Generator, block: FloatArray | None = None
    ) -> None:
        n, K = pairs.n, pairs.K
        self.pairs = pairs
        self.E: FloatArray = np.zeros((n, K, K))
        self.N: FloatArray = np.zeros((pairs.graph.m, K, K))
        self._mask = pairs.allowed[:, :, None].astype(np.float64)
        self._share = self._mask / self._mask.sum(axis=1, keepdims=True)
        self._free: FloatArray = rng.standard_normal((n, K, RANK)) * (0.5 / RANK**0.5)
        if block is not None:
            self.E -= pairs.graph.degrees[:, None, None] * block
        self.sigma: float = PENALTY * float(np.abs(pairs.tables).max()) or 1.0
        self._gradient = np.empty_like(self._free)

    def vectors(self, free: FloatArray) -> FloatArray:
        """Vectors of the allowed arms that sum to the fixed one, nearest to ``free``."""
        V = self._tangent(free)
        V[:, :, 0] += self._share[:, :, 0]
        return V

    def _tangent(self, free: FloatArray) -> FloatArray:
        masked = free * self._mask
        projected: FloatArray = masked - self._share * masked.sum(axis=1, keepdims=True)
        return projected

    def step(self, budget: Budget) -> None:
        """Some L-BFGS steps on the vectors, then one step of the multipliers."""

        def lagrangian(flat: FloatArray, step: bool = False) -> tuple[float, FloatArray]:
            V = self.vectors(flat.reshape(self._free.shape))
            multipliers = (self.E, self.N, self.sigma)
            arrays = self.pairs.arrays
            value = kernels.lagrangian.augmented(arrays, V, *multipliers, self._gradient, step)
            return -value, -self._tangent(self._gradient).ravel()

        found = minimise(lagrangian, self._free.ravel(), budget, steps=STEPS)
        self._free = found.reshape(self._free.shape)
        lagrangian(found, step=True)
