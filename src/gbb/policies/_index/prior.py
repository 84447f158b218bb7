"""The prior of posterior draws: how wide it is, and with which noise."""

from __future__ import annotations

from gbb.problem import Problem

LEAST_NOISE = 1e-6
"""The least noise that a posterior is drawn for, as a share of the rewards that the prior expects."""


def follow_scales(
    problem: Problem, v: float | None, lam: float | None, widening: float = 1.0
) -> tuple[float, float]:
    """``v`` and ``lam``, or what follows from the problem's sigma and S where they are left out.

    v is sigma, but at least ``1e-6 L S / d``; lam ``(v d / S)^2``, but at most 1 and at least ``(1e-6
    L)^2``; over ``widening`` squared, where the prior is to be so many times as wide.
    """
    if v is None or lam is None:
        d, S, least = problem.d, problem.S, LEAST_NOISE * problem.L
        v = max(problem.sigma, least * S / d) if v is None else v
        lam = (min(1.0, max(v * d / S, least)) / widening) ** 2 if lam is None else lam
    return v, lam
