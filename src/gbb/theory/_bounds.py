"""Regret bounds of Theorems 3.2 and 4.1, a sharper one, and the critical covariance of a run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb.learning.radius import RADII_BY_ROUND, check_radius, self_normalised
from gbb.learning.record import regressors
from gbb.problem import Problem, check_lam


def regret_bound(
    problem: Problem,
    T: int,
    *,
    lam: float = 1.0,
    delta: float = 1e-3,
    non_negative: bool = True,
) -> float:
    """Return the paper's bound on the alpha-regret after T rounds, with every constant.

    It is the last line of the proof of Theorem 3.2, which holds with probability 1 - delta for alpha_1
    and Algorithm 1 as for alpha_2 and Algorithm 3:

        ``sqrt(32 T m d^2 max(2, (LS)^2) log(1 + T m L^2 / (lam d^2)))
        (sigma sqrt(d^2 log((1 + T m L^2 / lam) / delta)) + sqrt(lam) S)
        + L S m ceil(d^2 log2(T m L^2 / (lam delta)))``.

    Parameters
    ----------
    problem
        A problem with rewards per edge.
    T
        Number of rounds.
    lam, delta
        Settings of the policy.
    non_negative
        Whether all expected rewards are >= 0, as the paper assumes. A round then loses at most
        ``L S m``, otherwise ``2 L S m``.

    Notes
    -----
    With P matrices, ``P d^2`` parameters take the place of ``d^2`` and a bound on the norm of all
    matrices together that of S; with weights, features or contexts the largest norm of an edge's
    regressor that of L. With contexts the regret is relative to the sum over rounds of
    ``alpha_t OPT_t`` (docs/contexts.md has the proof).
    """
    if problem.feedback != "edge":
        raise checks.input_error("problem", "report rewards per edge", repr(problem.feedback))
    T, lam, delta = _check_settings(T, lam, delta)
    d2, L, S, m = problem.parameters, _largest_norm(problem), problem.norm, problem.m
    total = T * m * L**2 / lam
    # sqrt(beta_T(delta)), the paper's radius after T rounds, and the terms (a) and (b) of its proof.
    radius = problem.sigma * math.sqrt(d2 * math.log((1 + total) / delta)) + math.sqrt(lam) * S
    learning = math.sqrt(32 * T * m * d2 * max(2.0, (L * S) ** 2) * math.log1p(total / d2)) * radius
    round_loss = L * S * m if non_negative else 2.0 * L * S * m
    return learning + round_loss * critical_covariance_bound(problem, T, lam=lam, delta=delta)


def regret_bound_sharp(
    problem: Problem,
    T: int,
    *,
    lam: float = 1.0,
    delta: float = 1e-3,
    radius: str = "paper",
    non_negative: bool = True,
) -> float:
    """Return a bound on the same alpha-regret with smaller constants and a proof without gaps.

    With probability 1 - delta, for a policy with this radius,

        ``sqrt((4 / ln 2) T m I_T) sqrt(beta_T) + L S m floor(I_T / ln 2)``,
        ``I_T = D log(1 + T m L^2 / (lam D))``,

    where ``sqrt(beta_T)`` is its radius after T rounds and D the number of parameters that the radius
    is about: ``d^2`` for "paper" and "complete", ``d (d + 1) / 2`` for "symmetric". docs/theory.md has
    the proof, and docs/paper-map.md the gaps of the printed one.

    Parameters
    ----------
    problem, T, lam, delta, non_negative
        As for :func:`regret_bound`. Rewards may also come as sums over edges: then m under the root is
        the number of sums, and ``m L^2`` in I_T the most that a round adds to the trace of A.
    radius
        The policy's radius: "paper", "complete", "symmetric", or "default" for the smallest valid one.
    """
    T, lam, delta = _check_settings(T, lam, delta)
    checks.choice("radius", radius, ("paper", "complete", "symmetric", "default"))
    name = str(check_radius(problem, radius))
    symmetric = name == "symmetric" or problem.symmetric_only
    D = problem.types * problem.d * (problem.d + 1) // 2 if symmetric else problem.parameters
    # I_T, which bounds log det(A_T / lam)
    information = D * math.log1p(T * problem.gram_growth_per_round * problem.L**2 / (lam * D))
    if name == "paper":
        largest = float(RADII_BY_ROUND[name](problem, np.array(float(T)), lam, delta))
    else:
        largest = self_normalised(problem.sigma, information, delta) + math.sqrt(lam) * problem.norm
    # The rewards of a round: m of them per edge, those of all shards in a merged network.
    sums = problem.link_count if problem.feedback == "edge" else problem.observations
    learning = math.sqrt(4.0 / math.log(2.0) * T * sums * information) * largest
    round_loss = _largest_norm(problem) * problem.norm * problem.link_count
    if not non_negative:
        round_loss *= 2.0
    return learning + round_loss * math.floor(information / math.log(2.0))


def critical_covariance_bound(
    problem: Problem, T: int, *, lam: float = 1.0, delta: float = 1e-3
) -> int:
    """Return ``ceil(d^2 log2(T m L^2 / (lam delta)))``, the term (b) of the paper's proof.

    It bounds the number of rounds that break the critical covariance inequality.
    """
    T, lam, delta = _check_settings(T, lam, delta)
    total = T * problem.m * _largest_norm(problem) ** 2 / lam
    return max(0, math.ceil(problem.parameters * math.log2(total / delta)))


def critical_covariance_count(problem: Problem, allocations: ArrayLike, *, lam: float = 1.0) -> int:
    """Return the number of rounds of a finished run that broke the critical covariance inequality.

    Round t satisfies it if ``A_{t,p} <= 2 A_{t-1,m}`` after each of its edges p = 1, ..., m.

    Parameters
    ----------
    problem
        The graph, the arms and what is reported.
    allocations
        The allocations of all rounds in order (T x n).
    lam
        The ridge regulariser of the run.
    """
    from scipy.linalg import eigvalsh  # noqa: PLC0415  (slow to import)

    played = np.asarray(allocations)
    if played.ndim != 2 or played.shape[1] != problem.n:
        rule = f"have shape (T, {problem.n}), an allocation a round"
        raise checks.input_error("allocations", rule, played.shape)
    distinct, which = np.unique(played, axis=0, return_inverse=True)
    rows = [regressors(problem, problem.allocation(allocation)) for allocation in distinct]
    steps = [q.T @ q for q in rows]
    A, count = check_lam(lam) * np.eye(problem.parameters), 0
    for step in (steps[index] for index in which.ravel()):
        # A_{t,p} grows with p, so the inequality holds iff A_{t-1}^-1 (A_t - A_{t-1}) <= 1.
        largest = eigvalsh(step, A, subset_by_index=(len(A) - 1, len(A) - 1))[0]
        count += bool(largest > 1.0 + 1e-12)
        A = A + step
    return count


def _check_settings(T: int, lam: float, delta: float) -> tuple[int, float, float]:
    T = checks.integer("T", T, low=1)
    return T, check_lam(lam), checks.real("delta", delta, low=0.0, low_open=True, high=1.0)


def _largest_norm(problem: Problem) -> float:
    """Return a bound on the norm of an edge's regressor: L, times the weight or size of its features."""
    return problem.L * problem.edge_reach
