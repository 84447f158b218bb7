"""Policies that learn nothing, and draws of allocations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.learning.record import AnyRecord
from gbb.policies._policy import DERIVED, Choice, RecordPolicy
from gbb.problem import Problem


class _Unlearning(RecordPolicy[int]):
    """A policy whose state is the number of rounds played."""

    requires = ""
    estimates_scales = True

    def init(self) -> int:
        return 0

    def absorb(
        self, state: int, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> int:
        return state + rounds


class UniformRandom(_Unlearning):
    """Every agent plays an arm drawn uniformly at random."""

    def select(self, state: int, rng: Generator) -> Choice:
        return Choice(draw_arms(self.problem.allowed, self.problem.n, rng))


class FixedAllocation(_Unlearning):
    """Plays one given allocation for ever.

    Parameters
    ----------
    problem
        What the learner knows.
    allocation
        An arm index per agent, or a mapping from agent to arm by name; everybody's first allowed arm by
        default.
    """

    allocation: IntArray = DERIVED

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("allocation", allowed_allocation(self.problem, "allocation", self.allocation))

    def select(self, state: int, rng: Generator) -> Choice:
        return Choice(self.allocation)


def draw_arms(weights: FloatArray | NDArray[np.bool_], n: int, rng: Generator) -> IntArray:
    """Draw one arm per agent, independently from ``weights`` (K, or n x K for each its own)."""
    # One uniform number an agent, by the inverse of the distribution, as the compiled loops draw.
    steps = np.cumsum(weights, axis=-1, dtype=np.float64)
    drawn = rng.random(n) * steps[..., -1]
    arms: IntArray = np.argmax(steps > drawn[:, None], axis=1)
    return arms


def allowed_allocation(
    problem: Problem, name: str, value: ArrayLike | Mapping[str, str] | None
) -> IntArray:
    """Return an allocation of allowed arms; everybody's first allowed arm for None."""
    arms = problem.allocation(problem.allowed.argmax(axis=1) if value is None else value)
    allowed = problem.allowed[np.arange(problem.n), arms]
    if not allowed.all():
        agent = int(np.argmin(allowed))
        got = f"arm {arms[agent]} at agent {problem.graph.label(agent)!r}"
        raise checks.input_error(name, "play allowed arms", got)
    return arms
