"""Radii of the confidence set ``C_t = {theta : ||theta - theta_hat||_A <= radius}``.

The paper writes the norm with ``A^-1``; its proof uses A, and so does everything here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbb._checks import FloatArray
from gbb.estimator import Counts
from gbb.problem import Problem

Schedule = Callable[[Problem, FloatArray, float, float], FloatArray]
"""``schedule(problem, rounds, lam, delta)``: radii that depend on the number of rounds alone."""


def paper(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """``sigma sqrt(d^2 log((1 + t m L^2 / lam) / delta)) + sqrt(lam) S`` (the paper's Section 3)."""
    grown = np.log((1.0 + rounds * (problem.m * problem.L**2 / lam)) / delta)
    radii: FloatArray = problem.sigma * np.sqrt(problem.d**2 * grown) + np.sqrt(lam) * problem.S
    return radii


def released(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """The released code's: ``d^2`` squared again, no m, S doubled. For parity only."""
    grown = np.log((1.0 + rounds * (problem.L**2 / lam)) / delta)
    radii: FloatArray = (
        problem.sigma * np.sqrt(problem.d**4 * grown) + np.sqrt(lam) * 2.0 * problem.S
    )
    return radii


SCHEDULES: dict[str, Schedule] = {"paper": paper, "released": released}


def symmetric(problem: Problem, N: Counts, lam: float, delta: float) -> float:
    """``sigma sqrt(log det(A_sym / lam) + 2 log(1 / delta)) + sqrt(lam) S``.

    The self-normalised bound of Abbasi-Yadkori, Pal and Szepesvari (2011, Theorem 1) applied to the
    responses ``(y_ij + y_ji) / sqrt 2``, one per undirected edge, whose features
    ``(z_ij + z_ji) / sqrt 2`` live in the symmetric block of dimension d (d + 1) / 2.
    """
    spread = log_det_symmetric(problem, N, lam) + 2.0 * np.log(1.0 / delta)
    return float(problem.sigma * np.sqrt(spread) + np.sqrt(lam) * problem.S)


def complete(problem: Problem, log_det: float, delta: float, lam: float) -> float:
    """``sigma sqrt(log det(A / lam) + 2 log(1 / delta)) + sqrt(lam) S`` with all of A.

    The self-normalised bound in d^2 dimensions, which needs neither both directions of a link nor
    all edges of a round, and weights of at most 1 on the observations leave it valid
    (``sum w^2 z z' <= sum w z z'``).
    """
    spread = max(log_det, 0.0) + 2.0 * np.log(1.0 / delta)
    return float(problem.sigma * np.sqrt(spread) + np.sqrt(lam) * problem.S)


RADII = (*SCHEDULES, "symmetric")


def radius(
    name: str, problem: Problem, N: Counts, rounds: int, *, lam: float, delta: float
) -> float:
    """The radius called ``name`` (one of :data:`RADII`) after ``rounds`` rounds that played N."""
    if name == "symmetric":
        return symmetric(problem, N, lam, delta)
    return float(SCHEDULES[name](problem, np.array(float(rounds)), lam, delta))


def symmetric_edge_arms(arms: FloatArray) -> FloatArray:
    """Symmetric parts of the edge-arms in orthonormal coordinates (K^2 x d(d+1)/2).

    Row ``a * K + b`` is ``(x_a x_b' + x_b x_a') / 2`` with off-diagonal entries times sqrt 2, so that
    dot products are those of the matrices.
    """
    K, d = arms.shape
    i, j = np.triu_indices(d)
    scale = np.where(i == j, 0.5, np.sqrt(0.5))
    half = arms[:, None, i] * arms[None, :, j] + arms[:, None, j] * arms[None, :, i]
    rows: FloatArray = (half * scale).reshape(K * K, -1)
    return rows


def log_det_symmetric(problem: Problem, N: Counts, lam: float) -> float:
    """``log det(A_sym / lam)`` of the symmetric block, from the table N."""
    counts = N.ravel()
    played = np.flatnonzero(counts)
    rows = symmetric_edge_arms(problem.arms)[played] * np.sqrt(counts[played] / lam)[:, None]
    return float(np.log1p(np.linalg.svd(rows, compute_uv=False) ** 2).sum())
