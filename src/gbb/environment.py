"""The environment: a problem, the hidden matrix M* and the noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray
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

    Edge (i, j) pays ``x_i' M* x_j + sigma * noise`` (equation 1 of the paper); with edge types the
    matrix of its own type, with weights that many times as much. With feedback per agent or in all,
    the noise is on the sum that is reported.

    Parameters
    ----------
    problem
        What the learner knows.
    M_star
        The hidden matrix (d x d), or one for each edge type (types x d x d).
    noise
        ``gaussian``, ``uniform``, ``rademacher`` or ``none``; all have standard deviation
        ``problem.sigma`` (but ``none``) and are ``sigma``-sub-Gaussian.
    """

    def __init__(self, problem: Problem, M_star: ArrayLike, *, noise: str = "gaussian") -> None:
        if not isinstance(problem, Problem):
            raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
        self.problem = problem
        shape: tuple[int, ...] = (problem.d, problem.d)
        meaning = "d x d"
        if problem.types > 1 or np.ndim(M_star) == 3:
            shape, meaning = (problem.types, *shape), "types x d x d"
        self.M_star = checks.array("M_star", M_star, shape=shape, meaning=meaning)
        self.noise = checks.choice("noise", noise, NOISES)
        with np.errstate(over="ignore", invalid="ignore"):
            table = problem.arms @ self.M_star @ problem.arms.T
        checks.finite("M_star", table)
        self.reward_tables: FloatArray = checks.frozen(table.reshape(-1, problem.K, problem.K))
        """``R[g, a, b] = x_a' M_g x_b``: what an edge of type g and weight 1 pays (types x K x K)."""

    @property
    def reward_table(self) -> FloatArray:
        """``R[a, b] = x_a' M* x_b``, the expected reward of an edge with arms a and b (K x K)."""
        if len(self.reward_tables) > 1:
            cure = "Use reward_tables."
            raise checks.input_error("env", "have one edge type", len(self.reward_tables), cure)
        table: FloatArray = self.reward_tables[0]
        return table

    def expected_edge_rewards(self, allocation: ArrayLike) -> FloatArray:
        """Expected reward of every directed edge, in the graph's edge order."""
        problem, graph = self.problem, self.problem.graph
        arms = problem.allocation(allocation)
        first, second = arms[graph.sources], arms[graph.indices]
        if problem.is_paper_problem:
            return self.reward_table[first, second]
        paid: FloatArray = self.reward_tables[problem.edge_types, first, second]
        return problem.edge_weights * paid

    def expected_reward(self, allocation: ArrayLike) -> float:
        """The expected global reward: the sum over all directed edges."""
        return float(self.expected_edge_rewards(allocation).sum())

    def draw(self, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Noisy rewards of one round: per edge in edge order, per agent, or in all.

        An edge of weight 0 pays nothing, without noise.
        """
        problem = self.problem
        noise = NOISES[self.noise](rng, problem.observations)
        paid = self.expected_edge_rewards(allocation)
        if problem.feedback == "agent":
            sums = np.bincount(problem.graph.sources, weights=paid, minlength=problem.n)
            paid = sums.astype(np.float64, copy=False)
        elif problem.feedback == "global":
            paid = paid.sum(keepdims=True)
        elif not problem.is_paper_problem:
            noise = np.where(problem.edge_weights != 0.0, noise, 0.0)
        return paid + problem.sigma * noise

    def __repr__(self) -> str:
        return f"Environment({self.problem!r}, noise={self.noise!r})"
