"""The regret bound of both theorems, and the critical covariance count of a finished run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.record import Record
from gbb.learning.ridge import Ridge
from gbb.problem import Problem, check_lam


def regret_bound(
    problem: Problem,
    T: int,
    *,
    lam: float = 1.0,
    delta: float = 1e-3,
    non_negative: bool = True,
) -> float:
    """The bound on the alpha-regret after T rounds, with every constant of the proof's last line.

    With probability 1 - delta, for alpha_1 and Algorithm 1 as for alpha_2 and the improved one,

        ``sqrt(32 T m d^2 max(2, (LS)^2) log(1 + T m L^2 / (lam d^2)))
        (sigma sqrt(d^2 log((1 + T m L^2 / lam) / delta)) + sqrt(lam) S)
        + L S m ceil(d^2 log2(T m L^2 / (lam delta)))``.

    With several matrices ``P d^2`` parameters take the place of ``d^2`` and a bound on the norm of all
    matrices together that of S; with weights, features or contexts the largest norm of an edge's
    regressors that of L. With contexts the regret is that against the sum of every round's own
    ``alpha_t OPT_t`` (docs/contexts.md has the proof).

    That needs expected rewards that are not negative, as the paper assumes: a round then loses at most
    ``L S m``. Without it (``non_negative=False``) a round may lose ``2 L S m``, which takes its place.
    It is about rewards per edge, and refused for others.
    """
    if not problem.reports_edges:
        raise checks.input_error("problem", "report rewards per edge", repr(problem.feedback))
    T = checks.integer("T", T, low=1)
    lam = check_lam(lam)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    d2, L, S, m = problem.parameters, _longest(problem), problem.norm, problem.m
    seen = T * m * L**2 / lam
    radius = problem.sigma * math.sqrt(d2 * math.log((1 + seen) / delta)) + math.sqrt(lam) * S
    learning = math.sqrt(32 * T * m * d2 * max(2.0, (L * S) ** 2) * math.log1p(seen / d2)) * radius
    lost = L * S * m if non_negative else 2.0 * L * S * m
    return learning + lost * critical_covariance_bound(problem, T, lam=lam, delta=delta)


def critical_covariance_bound(
    problem: Problem, T: int, *, lam: float = 1.0, delta: float = 1e-3
) -> int:
    """``ceil(d^2 log2(T m L^2 / (lam delta)))``: how many rounds may break the critical covariance."""
    T = checks.integer("T", T, low=1)
    lam = check_lam(lam)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    seen = T * problem.m * _longest(problem) ** 2 / lam
    return max(0, math.ceil(problem.parameters * math.log2(seen / delta)))


def _longest(problem: Problem) -> float:
    """A bound on the norm of what an edge's reward is linear in."""
    return problem.L * problem.edge_reach


def critical_covariance_count(problem: Problem, allocations: ArrayLike, *, lam: float = 1.0) -> int:
    """In how many rounds of a finished run the critical covariance inequality failed.

    Round t satisfies it when ``A_{t,p} <= 2 A_{t-1,m}`` for all p. ``A_{t,p}`` grows with p, so this
    asks whether all eigenvalues of ``A_{t-1}^-1 (A_t - A_{t-1})`` are at most 1.

    Parameters
    ----------
    problem
        The graph and the arms.
    allocations
        The allocations of all rounds in order (T x n).
    lam
        The ridge regulariser of the run.
    """
    from scipy.linalg import eigvalsh  # noqa: PLC0415

    played = np.asarray(allocations)
    if played.ndim != 2 or played.shape[1] != problem.n:
        raise checks.input_error(
            "allocations", f"have shape (T, {problem.n}), an allocation a round", played.shape
        )
    kinds, which = np.unique(played, axis=0, return_inverse=True)
    zeros = np.zeros(problem.m)
    steps: list[FloatArray] = []
    for kind in kinds:
        seen = Record.of(problem.graph, problem.allocation(kind), zeros, problem.K)
        steps.append(Ridge(problem, seen, lam).A - lam * np.eye(problem.d**2))
    A = lam * np.eye(problem.d**2)
    count = 0
    for kind_index in which.ravel():
        step = steps[kind_index]
        largest = eigvalsh(step, A, subset_by_index=(len(A) - 1, len(A) - 1))[0]
        count += bool(largest > 1.0 + 1e-12)
        A = A + step
    return count
