"""The same allocation in every round."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from gbb._support.checks import FloatArray
from gbb.policies._base import Choice, Policy, playable
from gbb.problem import Problem


class FixedAllocation(Policy[int]):
    """Plays one given allocation for ever; its state is the number of rounds played.

    Parameters
    ----------
    problem
        What the learner knows.
    allocation
        An arm index per agent, or a mapping from agent to arm by name; everybody's first allowed arm
        when left out.
    name
        How results call this policy.
    """

    plays_any_problem = True
    learns_scales = True
    compiled = True

    def __init__(
        self,
        problem: Problem,
        *,
        allocation: ArrayLike | Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.allocation = playable(problem, "allocation", allocation)

    def init(self) -> int:
        return 0

    def select(self, state: int, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        return Choice(self.allocation)

    def update(self, state: int, choice: Choice, rewards: FloatArray) -> int:  # noqa: ARG002
        self.problem.rewards(rewards)
        return state + 1
