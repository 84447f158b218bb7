"""Radii of the confidence set ``C_t = {theta : ||theta - theta_hat||_A <= radius}``.

The paper writes the norm with ``A^-1``; its proof uses A, and so does everything here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.estimator import Counts, Record, Ridge, symmetric_edge_arms
from gbb.learning.typed import TypedRidge
from gbb.problem import Problem

Schedule = Callable[[Problem, FloatArray, float, float], FloatArray]
"""``schedule(problem, rounds, lam, delta)``: radii that depend on the number of rounds alone."""


def paper(problem: Problem, rounds: FloatArray, lam: float, delta: float) -> FloatArray:
    """``sigma sqrt(d^2 log((1 + t m L^2 / lam) / delta)) + sqrt(lam) S`` (the paper's Section 3).

    With several types d^2 is the number of parameters and S the norm of all matrices together; with
    weights or sums of edges m is :attr:`gbb.Problem.gram_growth_per_round`, which bounds what a round
    adds to A. With a single parameter (d = 1, one type) it is a little too small for its delta;
    ``complete`` is not.
    """
    grown = np.log((1.0 + rounds * (problem.gram_growth_per_round * problem.L**2 / lam)) / delta)
    radii: FloatArray = (
        problem.sigma * np.sqrt(problem.parameters * grown) + np.sqrt(lam) * problem.norm
    )
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


def complete(
    problem: Problem,
    log_det: float,
    delta: float,
    lam: float,
    *,
    share: float = 1.0,
    scale: float = 1.0,
) -> float:
    """``sigma sqrt(log det(A / lam) + 2 log(1 / delta)) + sqrt(lam) S`` with all of A.

    The self-normalised bound in d^2 dimensions, which needs neither both directions of a link nor
    all edges of a round, and weights of at most 1 on the observations leave it valid
    (``sum w^2 z z' <= sum w z z'``). ``share`` of the regulariser's bias is charged, and the noise
    of a round is taken to be ``scale sigma``-sub-Gaussian in every direction.
    """
    spread = max(log_det, 0.0) + 2.0 * np.log(1.0 / delta)
    return float(scale * problem.sigma * np.sqrt(spread) + share * np.sqrt(lam) * problem.norm)


RADII = (*SCHEDULES, "symmetric", "complete")


def check_radius(problem: Problem, name: str) -> str:
    """``name``, if it is a radius that is valid for this problem."""
    checks.choice("radius", name, RADII)
    if name == "symmetric" and not problem.symmetric:
        rule = "be 'paper' or 'complete' unless both directions of every link are alike and seen"
        raise checks.input_error("radius", rule, repr(name), "Pass radius='complete'.")
    if name == "released" and not problem.is_paper_problem:
        raise checks.input_error(
            "radius", "be 'paper' or 'complete' beyond the paper's problem", "'released'"
        )
    return name


def typed(
    name: str,
    ridge: TypedRidge,
    rounds: float,
    delta: float,
    *,
    shrinking: bool,
    scale: float = 1.0,
) -> float:
    """The radius called ``name`` for the estimate of any problem.

    ``symmetric`` and ``complete`` are the same formula, on symmetric parts or on all of A. With
    ``shrinking`` they charge ``lam S / sqrt(smallest eigenvalue of A)`` for the regulariser's bias;
    ``scale`` is theirs too, as :func:`complete` has it.
    """
    if name in SCHEDULES:
        return float(SCHEDULES[name](ridge.problem, np.array(float(rounds)), ridge.lam, delta))
    share = float(np.sqrt(ridge.lam / ridge.smallest)) if shrinking else 1.0
    return complete(ridge.problem, ridge.log_det, delta, ridge.lam, share=share, scale=scale)


def radius(
    name: str, problem: Problem, N: Counts, rounds: int, *, lam: float, delta: float
) -> float:
    """The radius called ``name`` (one of :data:`RADII`) after ``rounds`` rounds that played N."""
    if name == "symmetric":
        return symmetric(problem, N, lam, delta)
    if name == "complete":
        return complete(
            problem, Ridge(problem, Record(N, np.zeros(N.shape)), lam).log_det, delta, lam
        )
    return float(SCHEDULES[name](problem, np.array(float(rounds)), lam, delta))


def log_det_symmetric(problem: Problem, N: Counts, lam: float) -> float:
    """``log det(A_sym / lam)`` of the symmetric block, from the table N."""
    counts = N.ravel()
    played = np.flatnonzero(counts)
    rows = symmetric_edge_arms(problem.arms)[played] * np.sqrt(counts[played] / lam)[:, None]
    return float(np.log1p(np.linalg.svd(rows, compute_uv=False) ** 2).sum())
