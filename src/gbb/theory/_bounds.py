"""The regret bound of both theorems, a sharper one, and the critical covariance of a finished run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.learning.radius import SCHEDULES, check_radius, self_normalised
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


def regret_bound_sharp(
    problem: Problem,
    T: int,
    *,
    lam: float = 1.0,
    delta: float = 1e-3,
    radius: str = "paper",
    non_negative: bool = True,
) -> float:
    """A bound on the same alpha-regret with smaller constants, and a proof without gaps.

    With probability 1 - delta, for a policy with this radius,

        ``sqrt((4 / ln 2) T m I_T) sqrt(beta_T) + L S m floor(I_T / ln 2)``,
        ``I_T = D log(1 + T m L^2 / (lam D))``,

    ``sqrt(beta_T)`` its radius after T rounds and D the number of parameters that the radius is
    about: ``d^2`` for "paper" and "complete", and ``d (d + 1) / 2`` for "symmetric". docs/theory.md
    has the proof, and what is wrong with the printed one. Types, weights, features and contexts
    count as in :func:`regret_bound`. Rewards may also come in sums: then m under the root is the
    number of sums, and ``m L^2`` in I_T the most that a round adds to the trace of A.

    Parameters
    ----------
    problem, T, lam, delta, non_negative
        As for :func:`regret_bound`.
    radius
        The policy's radius: "paper", "complete", "symmetric", or "default" for the smallest valid one.
    """
    T = checks.integer("T", T, low=1)
    lam = check_lam(lam)
    delta = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
    checks.choice("radius", radius, ("paper", "complete", "symmetric", "default"))
    name = str(check_radius(problem, radius))
    halves = name == "symmetric" or problem.halves_only
    D = problem.types * problem.d * (problem.d + 1) // 2 if halves else problem.parameters
    grown = D * math.log1p(T * problem.gram_growth_per_round * problem.L**2 / (lam * D))
    if name == "paper":
        largest = float(SCHEDULES[name](problem, np.array(float(T)), lam, delta))
    else:
        largest = self_normalised(problem.sigma, grown, delta) + math.sqrt(lam) * problem.norm
    numbers = problem.links_seen if problem.reports_edges else problem.observations
    learning = math.sqrt(4.0 / math.log(2.0) * T * numbers * grown) * largest
    lost = _longest(problem) * problem.norm * problem.links_seen * (1.0 if non_negative else 2.0)
    return learning + lost * math.floor(grown / math.log(2.0))


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
