"""The environment: a problem, the hidden matrix M* and the noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gbb import _checks
from gbb._checks import FloatArray
from gbb.problem import Problem

Noise = Callable[[np.random.Generator, int], FloatArray]

NOISES: dict[str, Noise] = {
    "gaussian": lambda rng, size: rng.standard_normal(size),
    "uniform": lambda rng, size: rng.uniform(-(3.0**0.5), 3.0**0.5, size),
    "rademacher": lambda rng, size: rng.integers(0, 2, size) * np.float64(2.0) - 1.0,
    "none": lambda rng, size: np.zeros(size),  # noqa: ARG005
}
"""Unit noise by name. Each has variance 1 (0 for none) and is 1-sub-Gaussian: the uniform law on
[-sqrt 3, sqrt 3] is so because sinh(u)/u <= exp(u^2/6)."""


class Environment:
    """A problem and what the learner does not know of it.

    Edge (i, j) pays ``x_i' M* x_j + sigma * noise`` (equation 1 of the paper).

    Parameters
    ----------
    problem
        What the learner knows.
    M_star
        The hidden matrix (d x d).
    noise
        ``gaussian``, ``uniform``, ``rademacher`` or ``none``; all have standard deviation
        ``problem.sigma`` (but ``none``) and are ``sigma``-sub-Gaussian.
    """

    def __init__(self, problem: Problem, M_star: ArrayLike, *, noise: str = "gaussian") -> None:
        if not isinstance(problem, Problem):
            raise _checks.fail("problem", "be a gbb.Problem", type(problem).__name__)
        self.problem = problem
        shape = (problem.d, problem.d)
        self.M_star = _checks.array("M_star", M_star, shape=shape, meaning="d x d")
        self.noise = _checks.choice("noise", noise, NOISES)
        with np.errstate(over="ignore", invalid="ignore"):
            table = problem.arms @ self.M_star @ problem.arms.T
        _checks.finite("M_star", table)
        self.reward_table: FloatArray = _checks.frozen(table)
        """``R[a, b] = x_a' M* x_b``, the expected reward of an edge with arms a and b (K x K)."""

    def expected_edge_rewards(self, allocation: ArrayLike) -> FloatArray:
        """Expected reward of every directed edge, in the graph's edge order."""
        arms = self.problem.allocation(allocation)
        graph = self.problem.graph
        return self.reward_table[arms[graph.sources], arms[graph.indices]]

    def expected_reward(self, allocation: ArrayLike) -> float:
        """The expected global reward: the sum over all directed edges."""
        return float(self.expected_edge_rewards(allocation).sum())

    def draw(self, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Noisy edge rewards of one round, in the graph's edge order."""
        noise = NOISES[self.noise](rng, self.problem.m)
        return self.expected_edge_rewards(allocation) + self.problem.sigma * noise

    def __repr__(self) -> str:
        return f"Environment({self.problem!r}, noise={self.noise!r})"
