"""A bound for graphs of any size from the two extreme eigenvalues of the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import helmert
from scipy.optimize import minimize

from gbb._support.budget import Budget
from gbb._support.checks import FloatArray
from gbb.graph import Graph
from gbb.pairwise.eigenvalues import largest_eigenvalue
from gbb.pairwise.problem import PairProblem

LBFGS_STEPS = 300
"""Most L-BFGS steps at each temperature."""

SMOOTHINGS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4)
"""Temperatures of the smoothed maximum of eigenvalues, in units of the largest entry of W."""


class Spectral(NamedTuple):
    """A bound, and the block of multipliers per unit of degree that gives it."""

    bound: float
    block: FloatArray


def spectral_bound(pairs: PairProblem, budget: Budget, rng: np.random.Generator) -> Spectral:
    """Return an upper bound on every allocation's value, for one edge type.

    With degrees D and ``D^-1/2 A D^-1/2 = sum_k nu_k w_k w_k'``, ``nu_1 = 1``, an allocation's value is
    ``m/2 (p' W p + sum_(k>1) nu_k q_k' W q_k)``: p holds the degree-weighted shares of the arms,
    every q_k is orthogonal to 1, and ``p p' + sum q_k q_k' = diag(p)``. So, over
    matrices with ``P + Q1 + Q2 = diag(p)``, all positive semidefinite, P not negative and of sum 1,
    Q1 and Q2 orthogonal to 1,

        ``value <= m/2 max <W, P> + nu_2 <W, Q1> + nu_n <W, Q2>``,

    a semidefinite program of size K whose dual is minimised here; any dual point is a bound.
    """
    low, high = spectrum(pairs.graph, rng, budget.part(0.5))
    dual = _Dual(pairs.tables[0], low, high)
    value, block = dual.minimum(budget)
    return Spectral(pairs.graph.m / 2.0 * value, block)


def spectrum(graph: Graph, rng: np.random.Generator, budget: Budget) -> tuple[float, float]:
    """Return bounds on the least and second largest eigenvalue of the normalised adjacency matrix."""
    degrees = graph.degrees.astype(np.float64)
    root = np.sqrt(np.where(degrees > 0, 1.0 / np.maximum(degrees, 1.0), 0.0))
    A = sparse.csr_array(sparse.diags_array(root) @ graph.to_sparse() @ sparse.diags_array(root))
    first = np.sqrt(degrees / degrees.sum())
    # From outside on both ends: a spectrum taken wider than it is only makes the bound larger.
    low = largest_eigenvalue(-A, rng, budget.part(0.5))
    high = largest_eigenvalue(_Deflated(A, first), rng, budget)
    return -min(low, 1.0), min(high, 1.0)


class _Deflated:
    """``A - w w'`` for a sparse A."""

    def __init__(self, A: sparse.csr_array[np.float64, tuple[int, int]], w: FloatArray) -> None:
        self.A, self.w, self.shape = A, w, A.shape

    def __matmul__(self, vector: FloatArray) -> FloatArray:
        image: FloatArray = self.A @ vector - self.w * (self.w @ vector)
        return image

    def toarray(self) -> FloatArray:
        dense: FloatArray = self.A.toarray() - np.outer(self.w, self.w)
        return dense


class _Dual:
    """``s + max`` over the eigenvalues of ``W + N + G - s J``, ``nu_2 W + G`` and ``nu_n W + G``.

    G is symmetric with a zero diagonal, N is not negative; the last two are taken orthogonally to 1.
    """

    def __init__(self, W: FloatArray, low: float, high: float) -> None:
        self.W, self.low, self.high = W, low, high
        self.K = len(W)
        self.upper = np.triu_indices(self.K, 1)
        self.basis = helmert(self.K).T  # orthonormal, and orthogonal to 1

    def minimum(self, budget: Budget) -> tuple[float, FloatArray]:
        """Return the smallest value reached, and G with the eigenvalue shift moved into it."""
        count = len(self.upper[0])
        point = np.zeros(2 * count + 1)
        point[-1] = self.W.mean()
        scale = max(float(np.abs(self.W).max()), 1e-300)
        best = point, self.value(point)
        bounds = [(None, None)] * count + [(0.0, None)] * count + [(None, None)]

        options: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
        options |= {"callback": budget.stop_when_over, "options": {"maxiter": LBFGS_STEPS}}
        for smoothing in SMOOTHINGS:
            if budget.over:
                break
            point = minimize(self.smooth, point, args=(smoothing * scale,), **options).x
            # The smoothed maximum only finds the point: its bound is the maximum itself.
            best = min(best, (point, self.value(point)), key=lambda pair: pair[1])
        point, value = best
        block = np.zeros((self.K, self.K))
        block[self.upper] = point[:count] + (value - point[-1])
        return value + 1e-12 * self.K * scale, block + block.T  # rounding of the eigenvalues

    def matrices(self, point: FloatArray) -> list[FloatArray]:
        """Return the three matrices at a dual point (G, N, s)."""
        count = len(self.upper[0])
        G, N = np.zeros((2, self.K, self.K))
        G[self.upper] = point[:count]
        N[self.upper] = np.maximum(point[count:-1], 0.0)
        G, N, B = G + G.T, N + N.T, self.basis
        inner = [B.T @ (nu * self.W + G) @ B for nu in (self.high, self.low)]
        return [self.W + N + G - point[-1], *(matrix for matrix in inner if matrix.size)]

    def value(self, point: FloatArray) -> float:
        """Return the bound that a dual point gives."""
        return float(point[-1] + max(np.linalg.eigvalsh(A)[-1] for A in self.matrices(point)))

    def smooth(self, point: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return the bound with a soft maximum, and its gradient."""
        spectra = [np.linalg.eigh(A) for A in self.matrices(point)]
        top = max(values[-1] for values, _ in spectra)
        # Softmax over all eigenvalues, shifted by the largest so that nothing overflows.
        weights = [np.exp((values - top) / temperature) for values, _ in spectra]
        total = sum(float(weight.sum()) for weight in weights)
        P, *Q = [
            (vectors * (weight / total)) @ vectors.T
            for weight, (_, vectors) in zip(weights, spectra, strict=True)
        ]
        links = P + sum(self.basis @ q @ self.basis.T for q in Q)
        gradient = np.concatenate((2 * links[self.upper], 2 * P[self.upper], [1.0 - P.sum()]))
        return float(point[-1] + top + temperature * np.log(total)), gradient
