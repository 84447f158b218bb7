"""Every agent plays an arm drawn uniformly at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray
from gbb.policies._base import Choice, Policy, draw_allowed


class UniformRandom(Policy[int]):
    """The baseline that never learns; its state is the number of rounds played."""

    plays_any_problem = True
    learns_scales = True
    compiled = True

    def init(self) -> int:
        return 0

    def select(self, state: int, rng: np.random.Generator) -> Choice:
        return self.select_within(state, rng, self.problem.allowed)

    def select_within(
        self,
        state: int,  # noqa: ARG002
        rng: np.random.Generator,
        allowed: NDArray[np.bool_],
    ) -> Choice:
        return Choice(draw_allowed(allowed & self.problem.allowed, rng))

    def update(self, state: int, choice: Choice, rewards: FloatArray) -> int:  # noqa: ARG002
        self.problem.rewards(rewards)
        return state + 1
