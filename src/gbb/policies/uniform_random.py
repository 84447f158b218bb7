"""Every agent plays an arm drawn uniformly at random."""

from __future__ import annotations

import numpy as np

from gbb._checks import FloatArray
from gbb.policies._base import Choice, Policy, draw_arms


class UniformRandom(Policy[int]):
    """The baseline that never learns; its state is the number of rounds played."""

    def init(self) -> int:
        return 0

    def select(self, state: int, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        return Choice(draw_arms(np.ones(self.problem.K), self.problem.n, rng))

    def update(self, state: int, choice: Choice, rewards: FloatArray) -> int:  # noqa: ARG002
        self.problem.rewards(rewards)
        return state + 1
