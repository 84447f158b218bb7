"""Thompson sampling that trusts the best of several draws."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbb import Problem
from gbb.policies import Choice, Index, Objective, Posterior, Search, ThompsonSampling


@dataclass(frozen=True)
class BestOfDraws:
    """What is best for the draw that promises most."""

    draws: int
    proven = False  # no theorem is known for it

    def check(self, problem: Problem) -> None:
        """It suits every problem."""

    def choose(self, posterior: Posterior, search: Search, rng: np.random.Generator) -> Choice:
        ridge = posterior.ridge
        drawn = [Objective(ridge, posterior.sample(rng), 0.0) for _ in range(self.draws)]
        return max((search.maximise(each, rng) for each in drawn), key=lambda found: found.value)


class BoldThompson(ThompsonSampling):
    """The best allocation for the most promising of several posterior draws.

    Parameters
    ----------
    problem, cut, v, starts, lam
        As for :class:`gbb.policies.ThompsonSampling`.
    draws
        How many draws a round compares.
    """

    draws: int = 3

    @cached_property
    def index(self) -> Index:
        return BestOfDraws(self.draws)
