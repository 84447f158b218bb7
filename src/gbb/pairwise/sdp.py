"""The semidefinite relaxation of a pair problem in low rank, and upper bounds that hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve, helmert
from scipy.optimize import OptimizeResult, minimize

from gbb import _kernels
from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb.pairwise.eigenvalues import FLOPS, STEPS, lanczos, shifted_factors
from gbb.pairwise.problem import PairProblem

MAX_SIZE = 4_000
"""The largest sum of arms over agents for which bounds are formed."""

RANK = 30
"""Length of the vectors."""

LBFGS_STEPS = 50
"""L-BFGS steps between two steps of the multipliers."""

PENALTY, PENALTY_DECAY = 4.0, 0.9
"""Weight of the penalty in units of the largest table entry, and its factor after some certificates in
a row that bring nothing."""

PATIENCE = 12
"""Certificates in a row that bring nothing after which the search for a better bound ends."""

CERTIFICATE_SHARE = 0.25
"""Fraction of the time spent on certificates."""


class PairRelaxation:
    """Vectors ``V[i, a]`` in place of the indicators of "agent i plays arm a".

    The indicators of one agent are orthogonal and sum to 1, products of indicators are not negative;
    the same is asked of the vectors, with a fixed unit vector for 1 (Burer and Monteiro's form of
    the semidefinite relaxation). The sum is kept exactly, by projection; the rest by the method of
    multipliers. Any multipliers give a valid bound (:func:`certified_bound`), so it may be stopped at
    any time.

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
        """Return vectors of the allowed arms that sum to the fixed one, nearest to ``free``."""
        V = self._tangent(free)
        V[:, :, 0] += self._share[:, :, 0]
        return V

    def _tangent(self, free: FloatArray) -> FloatArray:
        masked = free * self._mask
        projected: FloatArray = masked - self._share * masked.sum(axis=1, keepdims=True)
        return projected

    def step(self, budget: Budget) -> None:
        """Make some L-BFGS steps on the vectors, then one step of the multipliers."""

        def lagrangian(flat: FloatArray, step: bool = False) -> tuple[float, FloatArray]:
            V = self.vectors(flat.reshape(self._free.shape))
            multipliers = (self.E, self.N, self.sigma)
            arrays = self.pairs.arrays
            value = _kernels.pairwise.augmented_lagrangian(
                arrays, V, *multipliers, self._gradient, step
            )
            return -value, -self._tangent(self._gradient).ravel()

        def stop(intermediate_result: OptimizeResult) -> None:  # noqa: ARG001  (scipy asks the name)
            if budget.over:
                raise StopIteration

        settings: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "callback": stop}
        settings["options"] = {"maxiter": LBFGS_STEPS}
        point = minimize(lagrangian, self._free.ravel(), **settings).x
        self._free = point.reshape(self._free.shape)
        lagrangian(point, step=True)


def low_rank_bounds(
    pairs: PairProblem, block: FloatArray | None, budget: Budget, rng: np.random.Generator
) -> Iterator[float]:
    """Yield upper bounds until time is over or no better ones come; none for more than MAX_SIZE arms."""
    size = int(pairs.allowed.sum())
    if size > MAX_SIZE:
        return
    relaxation = PairRelaxation(pairs, rng, block)
    failures, best = 0, np.inf
    price, since_last = 4.0 * size**3 / 3.0 / FLOPS, Budget()  # seconds for a certificate, roughly
    while failures < PATIENCE and budget.left > price and not budget.over:
        relaxation.step(budget.less(price))
        # A certificate costs as much as many steps, and one more must fit before the time is over.
        if since_last.elapsed < price / CERTIFICATE_SHARE and budget.left > 2 * price:
            continue
        clock = Budget()
        bound = certified_bound(pairs, relaxation.E, relaxation.N, rng)
        price, since_last = clock.elapsed, Budget()
        failures = 0 if bound < best - 1e-5 * abs(bound) else failures + 1
        relaxation.sigma *= PENALTY_DECAY if failures >= 3 else 1.0
        best = min(best, bound)
        yield bound


def certified_bound(
    pairs: PairProblem, E: FloatArray, N: FloatArray, rng: np.random.Generator
) -> float:
    """Return an upper bound on every allocation's value, for any E with zero diagonals and any N >= 0.

    The indicators u of an allocation have ``u_i' E_i u_i = 0`` and ``u' N u >= 0``, so its value is at
    most ``u' C u`` with ``C = (A x (W + N) - E) / 2``. With ``u = c + B t``, c the uniform shares, B an
    orthonormal basis of what keeps each agent's sum, ``|t|^2 = tau`` is the same for all allocations.
    So whenever ``shift I - B'CB`` is positive definite, which a Cholesky factor proves, the value
    is at most ``c'Cc + shift tau + l' (shift I - B'CB)^-1 l`` with ``l = B'Cc``.
    """
    C = _objective(pairs, E, np.maximum(N, 0.0))
    sizes = pairs.allowed.sum(axis=1)
    several = np.repeat(sizes > 1, sizes)
    c = np.repeat(1.0 / sizes, sizes)
    constant = float(c @ C @ c)
    if not several.any():
        return constant
    basis = sparse.csr_array(sparse.block_diag([helmert(k).T for k in sizes if k > 1]))
    linear = basis.T @ (C @ c)[several]
    inner = basis.T @ C[np.ix_(several, several)]
    inner = basis.T @ inner.T
    inner = (inner + inner.T) / 2.0
    low, high, _ = lanczos(inner, rng, Budget(), STEPS)
    scale = max(abs(low), abs(high), 1e-300)
    tau = float((1.0 - 1.0 / sizes).sum())
    bound = np.inf
    for shift, factor in shifted_factors(inner, high, scale):
        rounding = 1e-15 * len(inner) * (scale + abs(shift)) * tau
        raised = constant + shift * tau + float(linear @ cho_solve(factor, linear)) + rounding
        if raised > bound:  # a larger shift adds more than the smaller inverse takes away
            break
        bound = raised
    return bound


def _objective(pairs: PairProblem, E: FloatArray, N: FloatArray) -> FloatArray:
    """Return ``C`` on the allowed arms, as a dense matrix."""
    n, K, graph = pairs.n, pairs.K, pairs.graph
    sources, targets = graph.sources[pairs.once], graph.indices[pairs.once]
    blocks = pairs.tables[pairs.types[pairs.once]] + N[pairs.once]
    C = np.zeros((n, K, n, K))
    C[sources, :, targets, :] = blocks
    C[targets, :, sources, :] = blocks.transpose(0, 2, 1)
    agents = np.arange(n)
    C[agents, :, agents, :] = -(E + E.transpose(0, 2, 1)) / 2.0
    # u_i' E_i u_i = 0 needs a zero diagonal, whatever E holds there.
    C[agents[:, None], np.arange(K), agents[:, None], np.arange(K)] = 0.0
    allowed = pairs.allowed.ravel()
    flat: FloatArray = C.reshape(n * K, n * K)[np.ix_(allowed, allowed)] / 2.0
    return flat
